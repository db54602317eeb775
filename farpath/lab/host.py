"""The host lab: one run on the machine's own kernel, in namespaces of its own, in real time."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import MachineLacksError
from farpath.base.project import BUILD
from farpath.lab import host_kernel, machine, preflight, process
from farpath.lab.artifacts.images import Images, manifest
from farpath.lab.process import RawRun, Watch
from farpath.spec.plan import Plan
from farpath.spec.protocol import CODE_DIR, MODULES_DIR
from farpath.spec.stack import Stack
from farpath.tools import congestion_control

#: Modules of farpath's own stacks for other kernels than the lab's, by release.
STACKS_DIR = "host-stacks"
ROOT = FilePath("/")
#: The guest's environment: the system's own tools, whatever this process was started with.
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}


@dataclass(frozen=True)
class HostImages(Images):
    """The running kernel and root in the place of built ones; the sender's root is built."""

    def _stack_manifest(self, stack: Stack) -> Any:
        file = self.module(stack)
        if file is None:
            return super()._stack_manifest(stack)
        try:
            return {"module_hash": hashlib.sha256(file.read_bytes()).hexdigest()}
        except OSError as error:
            raise MachineLacksError(f"there is no module {file} for {stack.label}") from error


def _places(build: FilePath) -> HostImages:
    return HostImages(
        kernel=ROOT,
        lab=ROOT,
        sender=(build / "sender").resolve(),
        stacks=build / STACKS_DIR / os.uname().release,
        own=build / "own",
        manifests={},
    )


def find_images(plan: Plan, build: FilePath = BUILD) -> HostImages:
    """What a plan's lab is made of; MachineLacksError naming all that the machine lacks."""
    images = _places(build)
    try:
        manifests = {
            "kernel": _kernel_manifest(),
            "lab": _root_manifest(),
            "sender": manifest(images.sender, "sender"),
        }
        images = replace(images, manifests=manifests)
        images.identity(plan.stacks, plan.images)
    except MachineLacksError:
        preflight.require(checks_of(plan, images))
        raise
    return images


def checks_of(plan: Plan, images: Images) -> list[preflight.Check]:
    """What a plan needs of this machine."""
    checks = preflight.host_checks(
        plan.stacks, images.module_file, images.sender, plan.settings.memory_bytes
    )
    return [*checks, *(check for word in _words(plan) for check in preflight.word_checks(word))]


def _words(plan: Plan) -> list[str]:
    """The words of a plan that need more of a machine than every run does."""
    there = {
        "DROP": bool(plan.droppers),
        "TRACE": bool(plan.settings.trace_interval_s),
        "BACKGROUND": plan.path.background is not None,
        "IP=6": plan.ip_version == 6,
    }
    return [word for word, asked in there.items() if asked]


def checks_of_stacks(stacks: Sequence[Stack], build: FilePath = BUILD) -> list[preflight.Check]:
    """What runs of some stacks need of this machine."""
    images = _places(build)
    return preflight.host_checks(stacks, images.module_file, images.sender)


def kernel_to_build_for(build: FilePath = BUILD) -> FilePath:
    """The running kernel as images/kernel/modules takes one: its tree and its name.

    Raises MachineLacksError without what is needed to build modules for it.
    """
    release = os.uname().release
    tree = FilePath("/lib/modules", release, "build")
    if not (tree / "Makefile").is_file():
        raise MachineLacksError(
            f"there is no {tree} to build a module for this machine's kernel with: install "
            f"linux-headers-{release}, and where farpath runs in a container give it /lib/modules "
            "and /usr/src"
        )
    place = build / "host-kernel" / release
    place.mkdir(parents=True, exist_ok=True)
    link = place / "tree"
    link.unlink(missing_ok=True)
    link.symlink_to(tree)
    (place / "manifest.json").write_text(json.dumps(_kernel_manifest(), indent=1) + "\n")
    return place


def _kernel_manifest() -> dict[str, Any]:
    """The running kernel, and what of the machine decides how well it keeps time."""
    system = os.uname()
    config = preflight.kernel_config(ROOT, system.release)
    config_hash = hashlib.sha256(config.encode()).hexdigest() if config else None
    identity = json.dumps([system.release, system.version, config_hash])
    return {
        "release": system.release,
        "version": system.version,
        "config_hash": config_hash,
        "linux_hash": hashlib.sha256(identity.encode()).hexdigest(),
        "seedrandom_hash": None,
        "hz": preflight.hz_here(),
        "clock_source": preflight.clock_source_here(ROOT),
        "cpu_governors": sorted(set(preflight.governors_here(ROOT))),
        "cores": machine.available_cores(),
    }


def installed_packages(status: str) -> dict[str, str]:
    r"""Versions of the packages that dpkg's status file calls installed.

    >>> installed_packages("Package: crun\nStatus: install ok installed\nVersion: 1.21-1\n")
    {'crun': '1.21-1'}
    """
    found = {}
    for paragraph in status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line)
        if fields.get("Status", "").endswith("ok installed"):
            found[fields["Package"]] = fields.get("Version", "")
    return dict(sorted(found.items()))


def _root_manifest() -> dict[str, Any]:
    """The root this process has: its packages, where it is Debian's or the like."""
    try:
        status = (ROOT / "var/lib/dpkg/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        status = ""
    packages = installed_packages(status)
    text = json.dumps(packages)
    return {"packages": packages, "packages_hash": hashlib.sha256(text.encode()).hexdigest()}


def guest_command(share: FilePath) -> list[str]:
    """The command that starts the guest: it dies with its parent, and its namespaces with it.

    ``unshare`` dies with this process, what it forked with ``unshare``; that is the first
    process of its namespace, with which the kernel ends all others, and with the last of
    these go network namespaces and mounts.
    """
    return [
        *("setpriv", "--pdeathsig", "KILL", "--"),
        *("unshare", "--mount", "--pid", "--mount-proc", "--ipc", "--uts"),
        *("--fork", "--kill-child", "--"),
        *(preflight.PYTHON, "-m", "farpath.guest", str(share)),
    ]


@contextmanager
def play(plan: Plan, images: Images, log: FilePath, watch: Watch) -> Iterator[RawRun]:
    """Run a plan on this machine's kernel; what it brings back lives as long as the context.

    What is changed of the kernel as a whole is kept beside ``log`` and given back.
    Raises what :func:`farpath.lab.uml.play` raises; MachineLacksError names
    everything that the machine lacks at once.
    """
    with host_kernel.only_host_lab():
        for done in host_kernel.restore_leftover(log.parent):
            watch({"event": "restored", "what": done})
        warnings = preflight.require(checks_of(plan, images))
        different = host_kernel.loaded_differently(plan.stacks)
        if different:
            raise MachineLacksError("; ".join(different))
        state = host_kernel.KernelState(log.parent / host_kernel.STATE_FILE)
        with process.shared_directory(images, plan) as share:
            try:
                host_kernel.load_modules(plan, share / MODULES_DIR, state)
                state.set(host_kernel.wanted_settings(plan))
                controls = " ".join(congestion_control.check_available(plan.stacks))
                state.set({congestion_control.ALLOWED: controls})
                warnings += host_kernel.not_as_usual(plan.stacks)
                environment = {**ENVIRONMENT, "PYTHONPATH": str(share / CODE_DIR)}
                run = process.run_guest(guest_command(share), environment, share, log, watch)
            finally:
                state.restore()
            yield replace(run, warnings=tuple(warnings))
