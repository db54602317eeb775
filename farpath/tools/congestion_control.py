"""Congestion controls: loads their kernel modules with parameters and reads these back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from farpath.spec.stack import Stack
from farpath.tools import modules
from farpath.tools.commands import CommandError, run
from farpath.tools.sysctl import read_setting, write_setting

AVAILABLE = "net.ipv4.tcp_available_congestion_control"
ALLOWED = "net.ipv4.tcp_allowed_congestion_control"
MODULES = FilePath("/sys/module")
#: Text in the place of the value of a parameter that the kernel does not show.
UNSEEN = "nowhere in sysfs (its mode must be 0444)"


class StackError(RuntimeError):
    """The kernel lacks a stack's congestion control or refuses its module."""


def load(stacks: Sequence[Stack], directory: FilePath) -> None:
    """Load the modules of the stacks from a directory, and allow every user every stack.

    Raises StackError for a module that the kernel refuses, and for a congestion control that
    the kernel lacks; the message lists those that it has.
    """
    for stack in {stack.module: stack for stack in stacks if stack.module}.values():
        insert(stack, directory)
    write_setting(ALLOWED, " ".join(check_available(stacks)))


def check_available(stacks: Sequence[Stack]) -> list[str]:
    """Return the kernel's congestion controls; raises StackError if a stack's is missing."""
    available = read_setting(AVAILABLE).split()
    for stack in stacks:
        if stack.congestion and stack.congestion not in available:
            hint = f": {stack.module} registers another name" if stack.module else ""
            raise StackError(
                f"the kernel has no congestion control '{stack.congestion}' for {stack.label}"
                f"{hint}; it has {', '.join(available)}"
            )
    return available


#: What the kernel refuses in silence: kfuncs without the flag that BTF_KFUNCS_START sets, since 6.9
#: (__register_btf_kfunc_id_set in kernel/bpf/btf.c).
NO_WORDS = (
    "nothing; since Linux 6.9 a module that registers kfuncs, by register_btf_kfunc_id_set(), has "
    "BTF_KFUNCS_START and BTF_KFUNCS_END in the place of BTF_SET8_START and BTF_SET8_END"
)


def insert(stack: Stack, directory: FilePath) -> None:
    """Load a stack's module from a directory; raises StackError with the kernel's messages."""
    before = len(_kernel_messages())
    try:
        modules.insert(directory, stack.module, stack.parameters)
    except CommandError as error:
        reason = str(error).rpartition(": ")[2]
        log = "; ".join(_kernel_messages()[before:]) or NO_WORDS
        raise StackError(
            f"the kernel does not take {stack.module} of {stack.label} ({reason}); it says: {log}"
        ) from error


def _kernel_messages() -> list[str]:
    """Return the kernel's log without the message that an out-of-tree module taints it."""
    lines = run("dmesg", "--notime").splitlines()
    return [line for line in lines if "taints kernel" not in line]


def parameters(stacks: Sequence[Stack]) -> dict[str, dict[str, str]]:
    """Return all module parameters of each stack's congestion control, read from sysfs."""
    values = {}
    for stack in stacks:
        if stack.kernel_parameters is None:
            continue
        folder = MODULES / stack.kernel_parameters / "parameters"
        if folder.is_dir():
            values[stack.label] = {
                file.name: _parameter_value(file.read_text()) for file in sorted(folder.iterdir())
            }
    return values


def _parameter_value(text: str) -> str:
    """Return a parameter's value as users write it; sysfs shows booleans as Y and N."""
    value = text.strip()
    return {"Y": "1", "N": "0"}.get(value, value)


def differences(stacks: Sequence[Stack], actual: dict[str, dict[str, str]]) -> list[str]:
    """Describe how the kernel's parameters differ from the given ones, one sentence each.

    ``actual``: what ``parameters`` returned.
    """
    return [
        f"{name} of {stack.label} is {actual.get(stack.label, {}).get(name, UNSEEN)}, not {value}"
        for stack in stacks
        if stack.congestion
        for name, value in stack.parameters.items()
        if actual.get(stack.label, {}).get(name) != value
    ]
