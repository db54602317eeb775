"""Congestion controls of the guest: loaded, with the parameters asked for, read back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from farpath.spec.stack import Stack
from farpath.tools.commands import CommandError, run
from farpath.tools.sysctl import read_setting, write_setting

AVAILABLE = "net.ipv4.tcp_available_congestion_control"
ALLOWED = "net.ipv4.tcp_allowed_congestion_control"
MODULES = FilePath("/sys/module")
#: What stands for the value of a parameter that the kernel does not show.
UNSEEN = "nowhere in sysfs (its mode must be 0444)"


class StackError(RuntimeError):
    """A stack that this kernel lacks or does not take."""


def load(stacks: Sequence[Stack], directory: FilePath) -> None:
    """Load the modules of the stacks, and let every user choose any stack.

    Raises StackError for a module that the kernel refuses, and for a congestion
    control that is not there, with what is.
    """
    for stack in {stack.module: stack for stack in stacks if stack.module}.values():
        insert(stack, directory)
    write_setting(ALLOWED, " ".join(check_available(stacks)))


def check_available(stacks: Sequence[Stack]) -> list[str]:
    """All congestion controls there are; StackError if a stack's is none of them."""
    available = read_setting(AVAILABLE).split()
    for stack in stacks:
        if stack.congestion and stack.congestion not in available:
            hint = f": {stack.module} registers another name" if stack.module else ""
            raise StackError(
                f"the kernel has no congestion control '{stack.congestion}' for {stack.label}"
                f"{hint}; it has {', '.join(available)}"
            )
    return available


def insert(stack: Stack, directory: FilePath) -> None:
    """Load a stack's module from a directory; StackError with the kernel's words."""
    values = [f"{name}={value}" for name, value in stack.parameters.items()]
    before = len(_kernel_messages())
    try:
        run("insmod", str(directory / f"{stack.module}.ko"), *values)
    except CommandError as error:
        reason = str(error).rpartition(": ")[2]
        said = "; ".join(_kernel_messages()[before:]) or "nothing"
        raise StackError(
            f"the kernel does not take {stack.module} of {stack.label} ({reason}); it says: {said}"
        ) from error


def _kernel_messages() -> list[str]:
    """What the kernel said so far, except that a module is none of its own."""
    lines = run("dmesg", "--notime").splitlines()
    return [line for line in lines if "taints kernel" not in line]


def parameters(stacks: Sequence[Stack]) -> dict[str, dict[str, str]]:
    """All parameters of each stack's congestion control as the kernel has them."""
    found = {}
    for stack in stacks:
        if stack.kernel_parameters is None:
            continue
        folder = MODULES / stack.kernel_parameters / "parameters"
        if folder.is_dir():
            found[stack.label] = {
                file.name: _shown(file.read_text()) for file in sorted(folder.iterdir())
            }
    return found


def _shown(text: str) -> str:
    """A parameter's value as it is given: the kernel shows truth as Y and N."""
    value = text.strip()
    return {"Y": "1", "N": "0"}.get(value, value)


def differences(stacks: Sequence[Stack], found: dict[str, dict[str, str]]) -> list[str]:
    """How parameters differ from those given, one sentence each."""
    return [
        f"{name} of {stack.label} is {found.get(stack.label, {}).get(name, UNSEEN)}, not {value}"
        for stack in stacks
        if stack.congestion
        for name, value in stack.parameters.items()
        if found.get(stack.label, {}).get(name) != value
    ]
