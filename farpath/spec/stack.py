"""Stack: the transport implementation of a flow, as plain data of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

IPERF3 = "iperf3"
UDTPERF = "udtperf"
#: Datagrams at a constant rate, sent and counted by iperf3.
UDP = "iperf3-udp"
#: MPTCP of the kernel, by a program of the guest's own.
MPTCP = "mptcp"
#: Value of ``Stack.program`` for the entry point of a user's image.
IMAGE = "image"
#: Value of ``Stack.program`` for a program of images/quic, which is called like its stack.
QUIC = "quic"
#: Where the root of such a program has it.
QUIC_DIRECTORY = "/usr/bin"


@dataclass(frozen=True)
class Stack:
    """One stack of a run: iperf3 with a congestion control or over UDP, or another program.

    ``label``: its name with the given parameters; flows refer to it. ``program``: the program
    that sends. ``congestion``: the kernel's name of the congestion control, empty for a program
    with its own. ``module``: the kernel module to load, empty if it is built in.
    ``parameters``: the given ones; others keep the defaults, which the read-back shows.
    ``build``: name of the build of a user's source or image, empty for farpath's stacks.
    ``command``, ``environment`` (NAME=value), ``directory``: command, environment and working
    directory of an image's program. ``sysctl``: kernel settings of the end hosts that are part
    of the stack's definition.
    """

    label: str
    name: str
    program: str = IPERF3
    congestion: str = ""
    module: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    build: str = ""
    command: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    directory: str = "/"
    sysctl: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_congestion_control(self) -> bool:
        """Whether it is a congestion control of the kernel's TCP, which a host can have."""
        return bool(self.congestion) and self.program != MPTCP

    @property
    def own_congestion(self) -> str:
        """The library of a user's congestion control for UDT, below the directory of all."""
        return f"{self.build}/{self.name}.so" if self.program == UDTPERF and self.build else ""

    @property
    def root(self) -> str:
        """The name of the root file system that its program brings; empty for farpath's own."""
        return {IMAGE: self.build, QUIC: self.name}.get(self.program, "")

    @property
    def root_command(self) -> tuple[str, ...]:
        """The command of a program that brings a root file system."""
        return (f"{QUIC_DIRECTORY}/{self.name}",) if self.program == QUIC else self.command

    @property
    def executable(self) -> str:
        """The name of the program's file."""
        return IPERF3 if self.program == UDP else self.program

    @property
    def kernel_parameters(self) -> str | None:
        """The module, loaded or built in, that has the parameters; None for a program."""
        return f"tcp_{self.congestion}" if self.congestion else None
