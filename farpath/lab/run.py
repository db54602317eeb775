"""One run from plan to record: reuses a cached record, or runs the lab, checks and writes it.

A record is made in a partial directory and renamed when it is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path as FilePath
from typing import Any

from farpath import __version__
from farpath.base.errors import StoppedError
from farpath.base.files import replace_directory, require_unicode, user_errors
from farpath.base.locks import exclusive_lock, fresh_partial, remove_stale_partials
from farpath.base.project import PROJECT
from farpath.lab import host, uml
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.artifacts.sources import source_identity
from farpath.lab.machine import cpu_mhz, cpu_model
from farpath.lab.process import Watch
from farpath.planning.plan_warnings import plan_warnings
from farpath.record.identity import RESULTS_VERSION, code_identity
from farpath.record.record import RECORD_FILE, Record
from farpath.spec.hosts import PINGER
from farpath.spec.plan import Plan
from farpath.spec.schedule import SEVEN_REGIONS
from farpath.spec.settings import HOST, VIRTUAL

#: Environment variable of a machine with a clock that counts instructions (farpath.lab.qemu):
#: ns for each instruction of any core. A cycle is an instruction there.
INSTRUCTION_NS = "FARPATH_INSTRUCTION_NS"
#: Most stacks that a record's directory name lists; for more it has their number.
NAMED_STACKS = 4


#: Function that adds files to a complete record before it is renamed to its directory.
Finish = Callable[[Record], None]


@dataclass(frozen=True)
class Outcome:
    """Directory of a record, whether it existed already, and the real seconds that it took."""

    directory: FilePath
    cached: bool
    wall_s: float


def record_name(plan: Plan, images: Images) -> str:
    """Return a record's directory name; equal plans, images and code give equal names."""
    text = json.dumps(
        [plan.as_dict(), images.identity(plan.stacks, plan.images), code_identity()],
        sort_keys=True,
    )
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    names = "+".join(dict.fromkeys(stack.name for stack in plan.stacks))
    if len(plan.stacks) > NAMED_STACKS:
        names = f"{len(plan.stacks)}stacks"
    region = f"{plan.schedule.region_s:g}s"
    if plan.schedule.name != SEVEN_REGIONS:
        region = f"{plan.schedule.name}-{region}"
    # The host lab has one clock only.
    clock = plan.settings.clock if plan.settings.lab == VIRTUAL else plan.settings.lab
    return f"{plan.path.name}-{names}-{region}-{plan.era.name}-seed{plan.seed}-{clock}-{digest}"


def git_commit() -> str | None:
    """Return the project's commit, marked if files differ from it; None if unknown.

    A container has no git and gets it by FARPATH_GIT_COMMIT.
    """
    if commit := os.environ.get("FARPATH_GIT_COMMIT"):
        return commit
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
    return {
        "farpath": __version__,
        "git_commit": git_commit(),
        "code_sha256": code_identity(),
        "results_version": RESULTS_VERSION,
        "cpu_model": cpu_model(),
        "runtime": os.environ.get("FARPATH_RUNTIME", "process"),
        "images_sha256": images.identity(plan.stacks, plan.images),
        "source_sha256": source_identity(plan, images),
        **counted,
        "kernel": images.manifests["kernel"],
        "lab": images.manifests["lab"],
        "sender": images.manifests["sender"],
        "stacks": images.stack_manifests(plan.stacks),
        "images": images.host_manifests(plan.images),
    }


def _now() -> str:
    """Return the date and time of the real clock in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def run(
    plan: Plan,
    out: FilePath,
    force: bool,
    watch: Watch,
    images: Images | None = None,
    finish: Finish | None = None,
) -> Outcome:
    """Make a plan's record under ``out``, or find it there.

    ``force``: make it even if it exists. ``watch``: called with every event of the guest.
    ``images``: by default those built for the project. ``finish``: adds files, such as figures,
    to the record before it is renamed to its directory. Raises what the lab and the checks
    raise; only the console's log is left then, and after an interruption not even that.
    """
    if images is None:
        images = host.find_images(plan) if plan.settings.lab == HOST else find_images()
    require_unicode(str(out))
    name = record_name(plan, images)
    record_dir = out / name
    with user_errors(out):
        # The directory alone proves nothing: Snakemake makes those that it waits for.
        if (record_dir / RECORD_FILE).exists() and not force:
            return Outcome(record_dir, cached=True, wall_s=0.0)
        out.mkdir(parents=True, exist_ok=True)
        lock = out / f".{name}.lock"
        with exclusive_lock(lock, f"is making this record in {out}"):
            remove_stale_partials(out)
            log = out / f"{name}.console.log"
            with fresh_partial(out) as partial, _log_kept_for_failures(log):
                wall_s = _fill(partial, plan, images, log, watch, finish)
                partial.chmod(0o755)
                replace_directory(partial, record_dir)
    return Outcome(record_dir, cached=False, wall_s=wall_s)


@contextmanager
def _log_kept_for_failures(log: FilePath) -> Iterator[None]:
    """Remove the console's log if the run was stopped or interrupted, but not if it failed."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, StoppedError):
        log.unlink(missing_ok=True)
        raise


def _fill(
    partial: FilePath,
    plan: Plan,
    images: Images,
    log: FilePath,
    watch: Watch,
    finish: Finish | None,
) -> float:
    """Run the lab, check the run and write its record; return the real seconds it took."""
    from farpath.record import checks, record, trace_table

    idle_rtt_ms: dict[str, float] = {}

    def check_and_watch(event: dict[str, Any]) -> None:
        if event["event"] == "idle-pings":
            host = event.get("host", PINGER)
            idle_rtt_ms[host] = checks.check_base_rtt(event["output"], plan, host)
        watch(event)

    play = host.play if plan.settings.lab == HOST else uml.play
    with play(plan, images, log, check_and_watch) as raw:
        # Effects of a slow machine on the flows are reported as the machine's fault.
        health, doubts = checks.check_machine(raw.raw, plan)
        with checks.slow_machine_errors(doubts):
            samples = record.samples_from_raw(raw.raw, plan)
            checks.check_flows(samples, plan)
            checks.check_congestion(raw.raw, plan)
            checks.check_windows(samples, plan)
            checks.check_segments(raw.raw, plan)
            checks.check_background(raw.readback, plan)
            idle = checks.check_droppers(raw.readback, plan)
            trace = trace_table.from_raw(raw.raw, plan)
            missing = checks.check_trace(trace, samples, plan)
        cpu = checks.sender_cpu(raw.raw, plan, cycles_mhz())
        cost = {
            "wall_s": raw.wall_s,
            "cpu_s": raw.cpu_s,
            "peak_memory_bytes": raw.peak_memory_bytes,
        }
        written = record.write_record(
            partial,
            plan,
            samples,
            provenance={**provenance(images, plan), "cost": cost, "recorded_at": _now()},
            readback={**raw.readback, **checks.idle_rtts(idle_rtt_ms), **health, **cpu},
            warnings=[*plan_warnings(plan), *raw.warnings, *doubts, *idle, *missing],
            raw_dir=raw.raw,
            trace=trace,
        )
        if finish:
            finish(written)
        shutil.move(log, partial / "console.log")
        return raw.wall_s
