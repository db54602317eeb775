"""The host lab: one run on the host kernel, in new namespaces and in real time."""

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
from farpath.lab.artifacts import lab_wheel
from farpath.lab.artifacts.images import Images, manifest
from farpath.lab.process import Guest, RawRun, Watch
from farpath.spec.plan import Plan
from farpath.spec.protocol import CODE_DIR, site_modules
from farpath.spec.stack import Stack
from farpath.tools import congestion_control

#: Directory in ``build`` with the modules of farpath's stacks for other kernels than the virtual
#: lab's, by kernel release.
STACKS_DIR = "host-stacks"
ROOT = FilePath("/")
#: Environment of the guest, which uses the system's tools whatever this process's environment is.
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}


@dataclass(frozen=True)
class HostImages(Images):
    """Images of the host lab: the running kernel and root, and the built root of end hosts."""

    def _stack_manifest(self, stack: Stack) -> Any:
        file = self.module(stack)
        if file is None:
            return super()._stack_manifest(stack)
        try:
            return {"module_hash": hashlib.sha256(file.read_bytes()).hexdigest()}
        except OSError as error:
            raise MachineLacksError(f"there is no module {file} for {stack.label}") from error


def _image_paths(build: FilePath) -> HostImages:
    return HostImages(
        kernel=ROOT,
        lab=ROOT,
        sender=lab_wheel.part(build, "sender"),
        stacks=build / STACKS_DIR / os.uname().release,
        own=build / "own",
        manifests={},
    )


def find_images(plan: Plan, build: FilePath = BUILD) -> HostImages:
    """Return the images of a plan's lab; MachineLacksError lists all that the machine lacks."""
    images = _image_paths(build)
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
    """Check this machine for everything that a plan needs."""
    checks = preflight.host_checks(
        plan.stacks, images.module_file, images.sender, plan.settings.memory_bytes
    )
    return [
        *checks,
        *(check for option in _further_options(plan) for check in preflight.word_checks(option)),
    ]


def _further_options(plan: Plan) -> list[str]:
    """Return the options of a plan that need kernel features beyond the basic set."""
    used_options = {
        "DROP": bool(plan.droppers),
        "TRACE": bool(plan.settings.trace_interval_s),
        "BACKGROUND": plan.path.background is not None,
        "IP=6": plan.ip_version == 6,
        "TOPOLOGY=routed": bool(plan.path.hops),
    }
    return [option for option, used in used_options.items() if used]


def checks_of_stacks(stacks: Sequence[Stack], build: FilePath = BUILD) -> list[preflight.Check]:
    """Check this machine for everything that runs of some stacks need."""
    images = _image_paths(build)
    return preflight.host_checks(stacks, images.module_file, images.sender)


def kernel_to_build_for(build: FilePath = BUILD) -> FilePath:
    """Create the directory by which images/kernel/modules builds for the running kernel.

    It holds a link to the kernel's tree, and a manifest. Raises MachineLacksError if the tree
    with the kernel's headers is missing.
    """
    release = os.uname().release
    tree = FilePath("/lib/modules", release, "build")
    if not (tree / "Makefile").is_file():
        raise MachineLacksError(
            f"there is no {tree} to build a module for this machine's kernel with: install "
            f"linux-headers-{release}, and where farpath runs in a container give it /lib/modules "
            "and /usr/src"
        )
    directory = build / "host-kernel" / release
    directory.mkdir(parents=True, exist_ok=True)
    link = directory / "tree"
    link.unlink(missing_ok=True)
    link.symlink_to(tree)
    (directory / "manifest.json").write_text(json.dumps(_kernel_manifest(), indent=1) + "\n")
    return directory


def _kernel_manifest() -> dict[str, Any]:
    """Describe the running kernel, and the machine's settings that decide timer accuracy."""
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
    r"""Return the versions of the installed packages in dpkg's status file.

    >>> installed_packages("Package: crun\nStatus: install ok installed\nVersion: 1.21-1\n")
    {'crun': '1.21-1'}
    """
    versions = {}
    for paragraph in status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line)
        if fields.get("Status", "").endswith("ok installed"):
            versions[fields["Package"]] = fields.get("Version", "")
    return dict(sorted(versions.items()))


def _root_manifest() -> dict[str, Any]:
    """Describe this process's root file system by its packages, if it uses dpkg."""
    try:
        status = (ROOT / "var/lib/dpkg/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        status = ""
    packages = installed_packages(status)
    text = json.dumps(packages)
    return {"packages": packages, "packages_hash": hashlib.sha256(text.encode()).hexdigest()}


def guest_command(share: FilePath) -> list[str]:
    """Return the command that starts the guest; it and its namespaces end with this process.

    ``unshare`` ends with this process, and its child with ``unshare``. The child is the first
    process of its PID namespace, so the kernel kills all others there with it. With the last
    of these the network namespaces and mounts are removed.
    """
    return [
        *("setpriv", "--pdeathsig", "KILL", "--"),
        *("unshare", "--mount", "--pid", "--mount-proc", "--ipc", "--uts"),
        *("--fork", "--kill-child", "--"),
        *(preflight.PYTHON, "-m", "farpath.guest", str(share)),
    ]


@contextmanager
def play(plan: Plan, images: Images, log: FilePath, watch: Watch) -> Iterator[RawRun]:
    """Run a plan on the host kernel; its raw output exists as long as the context.

    Kernel-wide settings that are changed are saved in the directory of ``log`` and restored at
    the end. Raises as ``farpath.lab.uml.play``; MachineLacksError lists everything that the
    machine lacks.
    """
    with host_kernel.only_host_lab():
        for action in host_kernel.restore_leftover(log.parent):
            watch({"event": "restored", "what": action})
        warnings = preflight.require(checks_of(plan, images))
        conflicts = host_kernel.conflicting_modules(plan.stacks)
        if conflicts:
            raise MachineLacksError("; ".join(conflicts))
        state = host_kernel.KernelState(log.parent / host_kernel.STATE_FILE)
        with process.shared_directory(images, plan) as share:
            try:
                host_kernel.load_modules(plan, share / site_modules(0), state)
                state.set(host_kernel.wanted_settings(plan))
                controls = " ".join(congestion_control.check_available(plan.stacks))
                state.set({congestion_control.ALLOWED: controls})
                warnings += host_kernel.unusual_parameters(plan.stacks)
                environment = {**ENVIRONMENT, "PYTHONPATH": str(share / CODE_DIR)}
                guest = Guest(guest_command(share), environment)
                run = process.run_guests([guest], share, log, watch)
            finally:
                state.restore()
            yield replace(run, warnings=tuple(warnings))
