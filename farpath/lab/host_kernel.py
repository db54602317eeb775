"""Host kernel: kernel-wide settings and modules that a host lab changes and restores.

Some sysctls and all congestion controls exist once per kernel, not per network namespace.
Their former state is saved on disk before the first change, so that a later run or
``farpath clean`` can restore it after a killed run.
"""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from farpath.base.documents import read_json
from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.files import write_text
from farpath.programs.catalog import catalogue
from farpath.spec.plan import Plan
from farpath.spec.stack import Stack
from farpath.tools import congestion_control, sysctl
from farpath.tools.commands import CommandError, run

#: Name of the file with the former state, in the directory of records.
STATE_FILE = ".host-lab.json"
#: Modules that every topology needs: veth pairs, switches and qdiscs.
LAB_MODULES = ("veth", "openvswitch", "sch_netem", "sch_tbf")
#: Modules that only some runs need: for droppers (all that ``nftables.script`` uses), for traces
#: and for background traffic.
DROPPER_MODULES = ("nf_tables", "nft_numgen")
TRACE_MODULES = ("inet_diag", "tcp_diag")
BACKGROUND_MODULES = ("sch_fq",)
#: Kernel-wide sysctls that a run may change and restores. The other sysctls that are not per
#: network namespace concern permissions, and are never changed.
CHANGED_SETTINGS = frozenset(
    {
        congestion_control.ALLOWED,
        sysctl.BACKLOG,
        "net.core.default_qdisc",
        "net.core.netdev_budget",
        "net.core.netdev_budget_usecs",
        "net.core.optmem_max",
        "net.core.rmem_default",
        "net.core.rmem_max",
        "net.core.wmem_default",
        "net.core.wmem_max",
        "net.ipv4.tcp_mem",
        "net.ipv4.udp_mem",
    }
)
_SETTINGS_VALUE = re.compile(r"[0-9A-Za-z_ -]{0,4096}")
#: Names of congestion control modules, farpath's and users'
#: (``farpath.lab.artifacts.user_stacks.NAME``).
_CONTROL_MODULE = re.compile(r"tcp_(?!diag)[a-z0-9_]{1,15}")
#: Longest wait in s for a module to become unused: the kernel closes the connections of a
#: removed network namespace in the background.
UNLOAD_LIMIT_S = 5.0


@contextmanager
def only_host_lab() -> Iterator[None]:
    """Reserve this machine for one host lab; raises MachineLacksError if another one runs.

    The reservation is the name of an abstract socket (unix(7)) in the initial network namespace.
    Only one process can hold it, in whichever container, and it is free when that ends.
    """
    with socket.socket(socket.AF_UNIX) as reservation:
        try:
            reservation.bind("\0farpath-host-lab")
        except OSError as error:
            raise MachineLacksError(
                "another run of the host lab is under way on this machine: two would disturb "
                "each other's times; wait for it to end"
            ) from error
        yield


@dataclass
class KernelState:
    """Former sysctls and loaded modules of a run, saved in a file.

    ``settings``: former values by sysctl. ``modules``: those that the run has loaded.
    """

    file: FilePath
    settings: dict[str, str] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)

    def save(self) -> None:
        """Write the file atomically, and sync it to disk."""
        write_text(self.file, json.dumps({"settings": self.settings, "modules": self.modules}))
        with self.file.open("rb") as stream:
            os.fsync(stream.fileno())

    def set(self, settings: Mapping[str, str]) -> None:
        """Change sysctls, after their former values are saved.

        Raises BadInputError for one that the host lab must not change, and MachineLacksError for
        one that the kernel does not have.
        """
        for name in settings:
            if name not in CHANGED_SETTINGS and sysctl.has_setting(name):
                raise BadInputError(
                    option="sysctl",
                    problem=f"{name} is kernel-wide, and of these the host lab changes only "
                    f"{', '.join(sorted(CHANGED_SETTINGS))}",
                    remedy="leave it out, or take `lab=virtual`",
                )
            if not sysctl.has_setting(name):
                raise MachineLacksError(
                    f"this kernel has no setting {name}, which the path needs: use a newer one"
                )
            self.settings.setdefault(name, sysctl.read_setting(name))
        self.save()
        for name, value in settings.items():
            try:
                sysctl.write_setting(name, value)
            except sysctl.SettingError as error:
                raise BadInputError(option="sysctl", problem=str(error)) from error

    def restore(self) -> list[str]:
        """Restore settings and unload modules; return one sentence for each."""
        actions = []
        for name, value in self.settings.items():
            if name == congestion_control.ALLOWED or not sysctl.has_setting(name):
                continue
            if sysctl.read_setting(name) != value:
                _restore_setting(name, value)
                actions.append(f"{name} is {value} again")
        for module in self.modules:
            if _unload(module):
                actions.append(f"{module} is unloaded")
        actions += self._restore_allowed()
        self.file.unlink(missing_ok=True)
        return actions

    def _restore_allowed(self) -> list[str]:
        """Allow the congestion controls that were allowed before and are still available."""
        former = self.settings.get(congestion_control.ALLOWED, "").split()
        available = sysctl.read_setting(congestion_control.AVAILABLE).split()
        value = " ".join(name for name in former if name in available)
        if not value or set(sysctl.read_setting(congestion_control.ALLOWED).split()) == set(
            value.split()
        ):
            return []
        _restore_setting(congestion_control.ALLOWED, value)
        return [f"{congestion_control.ALLOWED} is {value} again"]


def _restore_setting(name: str, value: str) -> None:
    try:
        sysctl.write_setting(name, value)
    except sysctl.SettingError as error:
        raise BadInputError(problem=str(error), remedy="restore it by hand with sysctl") from error


def restore_leftover(out: FilePath) -> list[str]:
    """Restore the settings that a killed run has left changed; return one sentence for each.

    Call it only inside ``only_host_lab``. Raises BadInputError, and changes nothing, for a state
    file that is damaged, belongs to another user, or names a setting that no run changes. So
    write access to ``out`` does not give the right to change the host kernel.
    """
    file = out / STATE_FILE
    if not os.path.lexists(file):
        return []
    remedy = "it holds the kernel's settings from before a run; read it, restore them by hand "
    remedy += "with sysctl, and remove it"
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        raise BadInputError(problem=f"{file} is not a file that this user owns", remedy=remedy)
    data = read_json(file, remedy)
    if problem := _state_problem(data):
        raise BadInputError(problem=f"{file} is damaged ({problem})", remedy=remedy)
    return KernelState(file, data["settings"], data["modules"]).restore()


def _state_problem(data: Any) -> str:
    """Describe why data is not a state that a host lab has saved; empty if it is."""
    if not isinstance(data, dict) or set(data) != {"settings", "modules"}:
        return "it does not hold settings and modules alone"
    settings, modules = data["settings"], data["modules"]
    if not isinstance(settings, dict) or not isinstance(modules, list):
        return "settings are not an object, or modules not a list"
    for name, value in settings.items():
        if name not in CHANGED_SETTINGS:
            return f"no run changes a setting '{name}'"
        if not isinstance(value, str) or not _SETTINGS_VALUE.fullmatch(value):
            return f"{name} was never {value!r}"
    for module in modules:
        if not isinstance(module, str) or not _CONTROL_MODULE.fullmatch(module):
            return f"no run loads a module {module!r} for a stack"
    return ""


def _unload(module: str) -> bool:
    """Unload a module as soon as it is unused; False if it is not loaded or stays in use."""
    limit_s = time.monotonic() + UNLOAD_LIMIT_S
    while (congestion_control.MODULES / module).is_dir():
        with suppress(CommandError):
            run("rmmod", module)
            return True
        if time.monotonic() > limit_s:
            return False
        time.sleep(0.1)
    return False


def kernel_wide(names: Iterable[str]) -> list[str]:
    """Return the sysctls among these that a new network namespace lacks or cannot set."""
    files = {f"/proc/sys/{name.replace('.', '/')}": name for name in names}
    script = 'for file; do [ -w "$file" ] || echo "$file"; done'
    output = run("unshare", "--net", "--", "sh", "-c", script, "sh", *files)
    return [files[file] for file in output.splitlines()]


def wanted_settings(plan: Plan) -> dict[str, str]:
    """Return the kernel-wide sysctls of a plan, except those of congestion controls."""
    plan_sysctls = dict(plan.path.sysctl) | dict(plan.era.sysctl)
    for stack in plan.stacks:
        plan_sysctls |= stack.sysctl
    settings = {name: plan_sysctls[name] for name in kernel_wide(plan_sysctls)}
    return settings | {sysctl.BACKLOG: str(sysctl.BACKLOG_PACKETS)}


def conflicting_modules(stacks: Sequence[Stack]) -> list[str]:
    """Describe loaded modules that differ from those the stacks need, one sentence each."""
    parameters = congestion_control.parameters(stacks)
    sentences = [
        f"{stack.module} is loaded already, from an unknown build: unload it (rmmod {stack.module})"
        for stack in stacks
        if stack.module and (congestion_control.MODULES / stack.module).is_dir()
    ]
    mainline = [stack for stack in stacks if not stack.module and stack.label in parameters]
    return sentences + [
        f"{sentence}: it is loaded already; unload tcp_{stack.congestion} (rmmod) or give its "
        "parameters"
        for stack in mainline
        for sentence in congestion_control.differences([stack], parameters)
    ]


def unusual_parameters(stacks: Sequence[Stack]) -> list[str]:
    """Return a warning for each parameter of a mainline module at another than its default.

    Parameters that the plan gives are left out.
    """
    parameters = congestion_control.parameters(stacks)
    return [
        f"{name} of {stack.label} is {value} on this machine, its default is {known.default}"
        for stack in stacks
        if stack.name in catalogue() and not stack.module
        for name, value in parameters.get(stack.label, {}).items()
        if (known := catalogue()[stack.name].parameters.get(name))
        and name not in stack.parameters
        and value != known.default
    ]


def lab_modules(plan: Plan) -> tuple[str, ...]:
    """Return the kernel modules that a plan's lab needs, its stacks' modules excepted."""
    return (
        *LAB_MODULES,
        *(DROPPER_MODULES if plan.droppers else ()),
        *(TRACE_MODULES if plan.settings.trace_interval_s else ()),
        *(BACKGROUND_MODULES if plan.path.background else ()),
    )


def load_modules(plan: Plan, modules: FilePath, state: KernelState) -> None:
    """Load the modules of a plan's lab and stacks; those of stacks are saved in ``state`` first.

    ``modules``: directory with the built modules of stacks. Raises MachineLacksError if a module
    of the kernel does not load, and BadInputError if one of a stack does not.
    """
    for name in lab_modules(plan):
        _modprobe(name, [])
    for stack in plan.stacks:
        module = stack.kernel_parameters
        if module is None or (congestion_control.MODULES / module).is_dir():
            continue
        if (
            not stack.module
            and stack.congestion in sysctl.read_setting(congestion_control.AVAILABLE).split()
        ):
            continue
        state.modules.append(module)
        state.save()
        if stack.module:
            _insert(stack, modules)
        else:
            values = [f"{name}={value}" for name, value in stack.parameters.items()]
            _modprobe(module, values)


def _insert(stack: Stack, modules: FilePath) -> None:
    try:
        congestion_control.insert(stack, modules)
    except congestion_control.StackError as error:
        raise BadInputError(option="stack", problem=str(error)) from error


def _modprobe(module: str, values: Sequence[str]) -> None:
    if (congestion_control.MODULES / module).is_dir():
        return
    try:
        run("modprobe", module, *values)
    except (CommandError, subprocess.SubprocessError, OSError) as error:
        raise MachineLacksError(
            f"the kernel {os.uname().release} does not load {module}: {error}"
        ) from error
