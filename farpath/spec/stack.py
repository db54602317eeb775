"""Stack: what a flow runs, as a plan holds it. Plain data, shared by host and guest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

IPERF3 = "iperf3"
UDTPERF = "udtperf"
#: The sending program is the entry point of a user's own image.
IMAGE = "image"


@dataclass(frozen=True)
class Stack:
    """One stack of a run: a congestion control under iperf3, or a program of its own.

    ``label``: how flows name it, the name and the parameters given. ``program``: what
    sends. ``congestion``: the kernel's name of the congestion control, empty for a
    program that brings its own. ``module``: the kernel module to load, empty for what
    is built in. ``parameters``: those given; others keep the defaults that the
    read-back shows. ``build``: which build of a user's own source or image, empty for
    what farpath has. ``command``, ``environment``, ``directory``: how an image's program
    is started, what its environment is (NAME=value) and where.
    ``sysctl``: settings of end hosts without which the stack is another.
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
    def kernel_parameters(self) -> str | None:
        """The module, loaded or built in, that has the parameters; None if no module."""
        return f"tcp_{self.congestion}" if self.congestion else None
