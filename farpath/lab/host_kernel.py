"""What a host lab changes of the machine's kernel as a whole, and gives back.

Some settings and all congestion controls exist once per kernel, not per network
namespace. Their former state is on disk before the first change, so that a later run
or ``farpath clean`` can restore what a killed run could not.
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
from farpath.planning.stack_catalog import catalogue
from farpath.spec.plan import Plan
from farpath.spec.stack import Stack
from farpath.tools import congestion_control, sysctl
from farpath.tools.commands import CommandError, run

#: Where the former state stands in the place for records.
STATE_FILE = ".host-lab.json"
#: Queueing disciplines, switches and cables of every topology here.
LAB_MODULES = ("veth", "openvswitch", "sch_netem", "sch_tbf")
#: Those that only some runs need: for droppers (with all that nft.script uses), for traces
#: and for other traffic.
DROPPER_MODULES = ("nf_tables", "nft_numgen")
TRACE_MODULES = ("inet_diag", "tcp_diag")
BACKGROUND_MODULES = ("sch_fq",)
#: What of the kernel as a whole a run changes and gives back; the others that a network
#: namespace has not of its own say who may do what, and are left alone.
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
#: A congestion control's module is called so, farpath's own and users'
#: (farpath.lab.artifacts.user_stacks.NAME).
_CONTROL_MODULE = re.compile(r"tcp_(?!diag)[a-z0-9_]{1,15}")
#: A module stays in use until the kernel has let go of the last connection of a
#: network namespace that is gone, which it does in the background.
UNLOAD_LIMIT_S = 5.0


@contextmanager
def only_host_lab() -> Iterator[None]:
    """Be the one host lab of this machine; MachineLacksError if there is another.

    An abstract socket's name (unix(7)) in the machine's first network namespace: taken
    by one process at a time, whichever container it is in, and free when that ends.
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
    """Former settings and the modules that a run has loaded, kept in a file."""

    file: FilePath
    settings: dict[str, str] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)

    def save(self) -> None:
        """Write it, whole or not at all, and see it on the disk."""
        write_text(self.file, json.dumps({"settings": self.settings, "modules": self.modules}))
        with self.file.open("rb") as written:
            os.fsync(written.fileno())

    def set(self, settings: Mapping[str, str]) -> None:
        """Change settings, their former values saved first.

        Raises BadInputError for one that no run of the host lab may change, and
        MachineLacksError for one that the kernel has not.
        """
        for name in settings:
            if name not in CHANGED_SETTINGS and sysctl.has_setting(name):
                raise BadInputError(
                    f"SYSCTL: {name} is of the whole machine, and the host lab changes of these "
                    f"{', '.join(sorted(CHANGED_SETTINGS))} alone: leave it out, or take "
                    "LAB=virtual"
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
                raise BadInputError(f"SYSCTL: {error}") from error

    def restore(self) -> list[str]:
        """Give everything back; returns what was done, one sentence each."""
        done = []
        for name, value in self.settings.items():
            if name == congestion_control.ALLOWED or not sysctl.has_setting(name):
                continue
            if sysctl.read_setting(name) != value:
                _give_back(name, value)
                done.append(f"{name} is {value} again")
        for module in self.modules:
            if _unload(module):
                done.append(f"{module} is unloaded")
        done += self._restore_allowed()
        self.file.unlink(missing_ok=True)
        return done

    def _restore_allowed(self) -> list[str]:
        """Those congestion controls that were allowed, as far as they are still there."""
        former = self.settings.get(congestion_control.ALLOWED, "").split()
        available = sysctl.read_setting(congestion_control.AVAILABLE).split()
        value = " ".join(name for name in former if name in available)
        if not value or set(sysctl.read_setting(congestion_control.ALLOWED).split()) == set(
            value.split()
        ):
            return []
        _give_back(congestion_control.ALLOWED, value)
        return [f"{congestion_control.ALLOWED} is {value} again"]


def _give_back(name: str, value: str) -> None:
    try:
        sysctl.write_setting(name, value)
    except sysctl.SettingError as error:
        raise BadInputError(f"{error}: restore it by hand with sysctl") from error


def restore_leftover(out: FilePath) -> list[str]:
    """Give back what a killed run has left changed; nothing if there is none.

    Only for who is :func:`only_host_lab`. Raises BadInputError, and changes nothing, for a
    file that is damaged, is another user's, or names what no run of the host lab changes:
    who may write into ``out`` is not thereby allowed to change this machine's kernel.
    """
    file = out / STATE_FILE
    if not os.path.lexists(file):
        return []
    remedy = "it holds the kernel's settings from before a run; read it, restore them by hand "
    remedy += "with sysctl, and remove it"
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        raise BadInputError(f"{file} is no file of this user's own: {remedy}")
    data = read_json(file, remedy)
    if problem := _problem_of_state(data):
        raise BadInputError(f"{file} is damaged ({problem}): {remedy}")
    return KernelState(file, data["settings"], data["modules"]).restore()


def _problem_of_state(data: Any) -> str:
    """Why a file's content is no state that a run of the host lab has left; else nothing."""
    if not isinstance(data, dict) or set(data) != {"settings", "modules"}:
        return "it holds not settings and modules alone"
    settings, modules = data["settings"], data["modules"]
    if not isinstance(settings, dict) or not isinstance(modules, list):
        return "settings are no object, or modules no list"
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
    """Unload a module once nothing uses it; False if it is gone or stays in use."""
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
    """Those of some sysctls that a fresh network namespace lacks or cannot set."""
    files = {f"/proc/sys/{name.replace('.', '/')}": name for name in names}
    script = 'for file; do [ -w "$file" ] || echo "$file"; done'
    said = run("unshare", "--net", "--", "sh", "-c", script, "sh", *files)
    return [files[file] for file in said.splitlines()]


def wanted_settings(plan: Plan) -> dict[str, str]:
    """What a plan asks of the kernel as a whole, but congestion controls."""
    asked = dict(plan.path.sysctl) | dict(plan.era.sysctl)
    for stack in plan.stacks:
        asked |= stack.sysctl
    settings = {name: asked[name] for name in kernel_wide(asked)}
    return settings | {sysctl.BACKLOG: str(sysctl.BACKLOG_PACKETS)}


def loaded_differently(stacks: Sequence[Stack]) -> list[str]:
    """How modules that are there already differ from what stacks need, one sentence each."""
    found = congestion_control.parameters(stacks)
    sentences = [
        f"{stack.module} is loaded already, and whose it is cannot be told: unload it "
        f"(rmmod {stack.module})"
        for stack in stacks
        if stack.module and (congestion_control.MODULES / stack.module).is_dir()
    ]
    mainline = [stack for stack in stacks if not stack.module and stack.label in found]
    return sentences + [
        f"{sentence}: it is loaded already; unload tcp_{stack.congestion} (rmmod) or give its "
        "parameters"
        for stack in mainline
        for sentence in congestion_control.differences([stack], found)
    ]


def not_as_usual(stacks: Sequence[Stack]) -> list[str]:
    """Parameters of mainline's controls that were not given and are not the defaults."""
    found = congestion_control.parameters(stacks)
    return [
        f"{name} of {stack.label} is {value} on this machine, its default is {known.default}"
        for stack in stacks
        if stack.name in catalogue() and not stack.module
        for name, value in found.get(stack.label, {}).items()
        if (known := catalogue()[stack.name].parameters.get(name))
        and name not in stack.parameters
        and value != known.default
    ]


def lab_modules(plan: Plan) -> tuple[str, ...]:
    """The kernel's modules that a plan's lab needs, stacks apart."""
    return (
        *LAB_MODULES,
        *(DROPPER_MODULES if plan.droppers else ()),
        *(TRACE_MODULES if plan.settings.trace_interval_s else ()),
        *(BACKGROUND_MODULES if plan.path.background else ()),
    )


def load_modules(plan: Plan, modules: FilePath, state: KernelState) -> None:
    """Load what a plan's lab and stacks need; what is loaded for stacks is in ``state`` before.

    ``modules`` holds those that stacks bring. Raises MachineLacksError for a module of
    the kernel's that does not load, BadInputError for one of a stack.
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
        raise BadInputError(f"STACK: {error}") from error


def _modprobe(module: str, values: Sequence[str]) -> None:
    if (congestion_control.MODULES / module).is_dir():
        return
    try:
        run("modprobe", module, *values)
    except (CommandError, subprocess.SubprocessError, OSError) as error:
        raise MachineLacksError(
            f"the kernel {os.uname().release} does not load {module}: {error}"
        ) from error
