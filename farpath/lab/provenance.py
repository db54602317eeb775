"""Provenance: kernel, images, code and machine of a record, and the name of its directory."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from typing import Any

from farpath import __version__
from farpath.base.path_variants import CHANGED
from farpath.base.project import IS_CLONE, PROJECT
from farpath.lab.artifacts.images import Images
from farpath.lab.artifacts.sources import source_identity, used_devices
from farpath.lab.machine import cpu_mhz, cpu_model
from farpath.planning.path_options import CUSTOM
from farpath.record.identity import RESULTS_VERSION, code_identity
from farpath.spec.hosts import SENDER, SIDES
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import SEVEN_REGIONS
from farpath.spec.settings import VIRTUAL

#: Environment variable of a machine with a clock that counts instructions (farpath.lab.qemu):
#: ns for each instruction of any core. A cycle is an instruction there.
INSTRUCTION_NS = "FARPATH_INSTRUCTION_NS"
#: File with the project's commit in an installed farpath (images/wheel/make).
COMMIT_FILE = "farpath/commit.txt"
#: Most stacks that a record's directory name lists; for more it has their number.
NAMED_STACKS = 4


def images_identity(plan: Plan, images: Images) -> str:
    """Return the SHA-256 over everything in the images that a run of the plan uses."""
    return images.identity(plan.stacks, plan.images, used_devices(plan))


def record_name(plan: Plan, images: Images, code: str | None = None) -> str:
    """Return a record's directory name; equal plans, images and code give equal names.

    ``code``: ``code_identity``, for callers that name many records and read the code once.
    """
    code = code_identity() if code is None else code
    text = json.dumps([plan.as_dict(), images_identity(plan, images), code], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    names = "+".join(dict.fromkeys(stack.name for stack in plan.stacks))
    if len(plan.stacks) > NAMED_STACKS:
        names = f"{len(plan.stacks)}stacks"
    region = f"{plan.schedule.region_s:g}s"
    if plan.schedule.name != SEVEN_REGIONS:
        region = f"{plan.schedule.name}-{region}"
    # The host lab has one clock only.
    clock = plan.settings.clock if plan.settings.lab == VIRTUAL else plan.settings.lab
    path = _path_text(plan.path)
    return f"{path}-{names}-{region}-{plan.era.name}-seed{plan.seed}-{clock}-{digest}"


def _path_text(path: Path) -> str:
    """Return the name of a named path; for others RTT, rate, loss and variants."""
    base, *suffixes = path.name.split("-")
    is_custom = base == CUSTOM
    if not is_custom and CHANGED.word not in suffixes:
        return path.name
    loss = [f"loss{path.loss:g}"] if path.loss else []
    up = [f"up{path.up_rate_bps / 1e6:g}Mbit"] if path.up_rate_bps else []
    changing = ["changing"] if path.is_changing else []
    values = [f"{path.rtt_ms:g}ms", f"{path.rate_bps / 1e6:g}Mbit", *up, *loss, *changing]
    return "-".join([*values, *suffixes] if is_custom else [path.name, *values])


def git_commit() -> str | None:
    """Return the project's commit, marked if files differ from it; None if unknown.

    A container has no git and gets it by FARPATH_GIT_COMMIT; an installed farpath has a file.
    """
    if commit := os.environ.get("FARPATH_GIT_COMMIT"):
        return commit
    if not IS_CLONE:
        file = PROJECT / COMMIT_FILE
        return file.read_text(encoding="utf-8").strip() if file.is_file() else None
    command = ["git", "-C", str(PROJECT), "describe", "--always", "--abbrev=40", "--dirty"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()


def instruction_ns() -> int | None:
    """Return the ns per instruction if the machine's clock counts instructions; else None."""
    value = os.environ.get(INSTRUCTION_NS)
    return int(value) if value else None


def cycles_mhz() -> float | None:
    """Return the clock rate of this machine's cores in MHz; None if unknown.

    It is the rate of instructions if the machine's clock counts these.
    """
    ns = instruction_ns()
    return 1e3 / ns if ns else cpu_mhz()


def provenance(images: Images, plan: Plan) -> dict[str, Any]:
    """Return everything except the plan that can change a result, for the record."""
    counted = {"instruction_ns": ns} if (ns := instruction_ns()) else {}
    kernels = {side: images.at_side(side).manifests["kernel"] for side in SIDES}
    return {
        "farpath": __version__,
        "git_commit": git_commit(),
        "code_sha256": code_identity(),
        "results_version": RESULTS_VERSION,
        "cpu_model": cpu_model(),
        "runtime": os.environ.get("FARPATH_RUNTIME", "process" if IS_CLONE else "wheel"),
        "images_sha256": images_identity(plan, images),
        "source_sha256": source_identity(plan, images),
        **counted,
        "kernel": kernels[SENDER],
        **({"kernels": kernels} if images.sides else {}),
        "lab": images.manifests["lab"],
        "sender": images.manifests["sender"],
        "stacks": images.at_side(SENDER).stack_manifests(plan.stacks),
        "images": images.host_manifests(plan.images),
    }
