"""Program: what a flow runs, with all that farpath asks of it.

A program is a folder of ``farpath/programs``. Its ``program.py`` holds ``PROGRAM``, an object of a
class of its own below ``Program``, and its ``stacks.toml`` the stacks that it runs. Mechanisms ask
for its abilities, and never for its name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.errors import BadInputError, LabFailedError
from farpath.programs.entry import CatalogEntry, Parameter, read_entries
from farpath.spec.era import Era
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.settings import HOST, VIRTUAL
from farpath.spec.stack import Stack
from farpath.tools import iperf3

if TYPE_CHECKING:
    import pandas as pd

#: Kind of stacks that are programs with a transport of their own.
USER_SPACE = "user space"
#: Transports of a program: the kernel's TCP, one of its own, none but UDP, and unknown ones.
TCP, OWN, NONE, UNKNOWN = "tcp", "own", "none", "unknown"
#: Options that farpath itself gives to programs (``farpath.tools.iperf3_like``).
TAKEN = ("server", "one_off", "client", "port", "time", "interval", "json")


@dataclasses.dataclass(frozen=True)
class FlowOutput:
    """The raw output of one flow's programs. ``directory``: of the lab's raw files."""

    directory: FilePath
    flow: Flow

    def read(self, name: str) -> str:
        """Return the text of a raw file; raises LabFailedError if the lab left none."""
        try:
            return (self.directory / name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise LabFailedError(f"the lab left no {name} in {self.directory}") from error

    @property
    def sender(self) -> str:
        """Output of the sending program."""
        return self.read(f"{self.flow.name}-sender.out")

    @property
    def receiver(self) -> str:
        """Output of the receiving program."""
        return self.read(f"{self.flow.name}-receiver.out")


class Program:
    """What a flow runs; the class of each folder overrides the values here.

    Its report is iperf3's (``farpath.tools.iperf3``). ``name``: as ``Stack.program``. ``rank``:
    its place in lists. ``kinds``: kinds of its stacks with their headings; stacks that name none
    have the first.
    """

    name: str
    rank: int = 100
    kinds: Mapping[str, str] = {USER_SPACE: "user space: programs over UDP"}

    #: One of TCP, OWN, NONE and UNKNOWN.
    transport: str = OWN
    #: Versions of IP that it speaks.
    ip_versions: tuple[int, ...] = (4, 6)
    #: Labs in which it runs.
    labs: tuple[str, ...] = (VIRTUAL, HOST)
    #: Whether it gives each packet a time, which jitter of its host would undo.
    paces_itself: bool = False
    #: Whether it finds out that a packet was damaged whose checksum fits, and drops it.
    finds_damage: bool = False
    #: Whether its payload comes from a disk of the sending host, or goes to one of the receiver.
    reads_files: bool = False
    #: Whether it ends after a number of bytes.
    takes_bytes: bool = False
    #: Its parameter that decides the size of its packets; empty if it fills the MTU by itself.
    packet_size_parameter: str = ""
    #: The read-back's entry in which each of its flows is counted; empty for none.
    counted_as: str = ""
    #: Names in the manifest of the end hosts' root that are hashes of its own sources.
    source_hashes: tuple[str, ...] = ()
    #: Script that builds it for a run, below the project; empty if it is in the end hosts' root.
    build_script: str = ""
    #: Names of its own options, which no parameter of a user's stack may have.
    taken: tuple[str, ...] = TAKEN

    @cached_property
    def stacks(self) -> Mapping[str, CatalogEntry]:
        """The stacks of the catalogue that it runs, by name."""
        return read_entries(
            type(self).__module__.rpartition(".")[0], self.name, next(iter(self.kinds))
        )

    @property
    def is_tcp(self) -> bool:
        """Whether its flows are connections of the kernel's TCP."""
        return self.transport == TCP

    @property
    def counts_resent(self) -> bool:
        """Whether retransmissions in its report are its own, and none of the kernel's."""
        return self.transport in (OWN, NONE)

    def parameters_of(self, stack: Stack) -> Mapping[str, Parameter]:
        """Return the parameters that a stack has, by name."""
        return self.stacks[stack.name].parameters

    def stack(self, entry: CatalogEntry, label: str, given: Mapping[str, str]) -> Stack:
        """Return a stack of the catalogue with parameters that are checked."""
        return Stack(label, entry.name, self.name, parameters=given)

    def fitted(self, stack: Stack, path: Path, ip_version: int) -> Stack:
        """Set the parameters that were left out and that a path decides.

        Raises BadInputError for values that the path does not allow.
        """
        return stack

    def recovering(self, stack: Stack, era: Era) -> Stack:
        """Give a stack the parameter with which it recovers from losses as an era says.

        Recovery of the kernel has no part in a transport of a program's own.
        """
        return stack

    def check(self, stack: Stack, plan: Plan) -> None:
        """Raise BadInputError for a plan in which a stack of this program cannot run."""
        if plan.settings.lab not in self.labs:
            raise BadInputError(
                option="stack",
                given=stack.label,
                problem=(
                    f"`lab` is '{plan.settings.lab}', and its programs are built for the "
                    f"{self.labs[0]} lab"
                ),
                remedy=f"use `lab={self.labs[0]}`",
            )
        if plan.ip_version not in self.ip_versions:
            versions = " and ".join(f"IPv{version}" for version in self.ip_versions)
            raise BadInputError(
                option="stack",
                given=stack.label,
                problem=f"{stack.name} runs over {versions} only",
                remedy=f"leave `ip={plan.ip_version}` out, or use a TCP stack",
            )
        for flow in plan.schedule.all_flows:
            packet_bytes = self.packet_bytes(stack, plan.ip_version)
            mtu_bytes = plan.flow_mtu_bytes(flow)
            if flow.stack == stack.label and packet_bytes and packet_bytes > mtu_bytes:
                raise BadInputError(
                    option="stack",
                    given=stack.label,
                    problem=(
                        f"it sends packets of {packet_bytes} bytes, but the MTU of "
                        f"{flow.sender} is {mtu_bytes}"
                    ),
                    remedy=f"give {stack.name}:{self.size_text(mtu_bytes, plan.ip_version)}",
                )

    def headers_bytes(self, ip_version: int) -> int:
        """Return the bytes of a packet besides ``packet_size_parameter``."""
        return 0

    def packet_bytes(self, stack: Stack, ip_version: int) -> int | None:
        """Return the size of the packets that a stack sends; None if it fills the MTU."""
        if not self.packet_size_parameter:
            return None
        size_bytes = int(stack.parameters.get(self.packet_size_parameter, 0))
        return size_bytes + self.headers_bytes(ip_version)

    def size_text(self, mtu_bytes: int, ip_version: int) -> str:
        """Return the parameter by which packets fill an MTU, as in ``mss=1500``."""
        return f"{self.packet_size_parameter}={mtu_bytes - self.headers_bytes(ip_version)}"

    def build_argument(self, stack: Stack) -> str:
        """Return the argument with which ``build_script`` builds a stack."""
        return stack.name

    def window_bytes(self, stack: Stack) -> int | None:
        """Return the most bytes that a flow has in flight; None for the path's largest window."""
        return None

    def slows_down(self, stack: Stack) -> bool:
        """Whether losses are known to reduce what it has in flight, so that the path bounds it."""
        return False

    def kept_bytes(self, stack: Stack) -> int:
        """Return the most that a flow's files take in the memory of its guest."""
        return 0

    def unbound_bps(self, stack: Stack, ip_version: int) -> int:
        """Return the rate at which a flow sends whatever is in flight; 0 if a window bounds it."""
        return 0

    def parse_sender(self, text: str) -> list[iperf3.SenderInterval]:
        """Parse the intervals of a sender; raises LabFailedError for a broken report."""
        return iperf3.parse_sender(text, tcp=self.is_tcp)

    def parse_receiver(self, text: str) -> list[iperf3.ReceiverInterval]:
        """Parse the intervals of a receiver; raises LabFailedError for a broken report."""
        return iperf3.parse_receiver(text)

    def parse_begin_ns(self, text: str) -> int | None:
        """Return when a receiver began its first interval, in ns of its host's monotonic clock.

        None if its report does not say so. Raises LabFailedError if it is no time.
        """
        return iperf3.parse_begin_ns(text)

    def parse_cpu_share(self, text: str) -> float | None:
        """Return the fraction of its test for which a sender used a core; None if not reported."""
        return iperf3.parse_cpu_share(text)

    def check_flow(self, stack: Stack, rows: pd.DataFrame, output: FlowOutput, plan: Plan) -> None:
        """Raise CheckFailedError for a flow that ran otherwise than planned.

        ``rows``: the flow's samples.
        """

    def failure_cause(self, message: str, flow: Flow, plan: Plan) -> str:
        """Return why a flow's program failed, if that follows from the plan; empty otherwise.

        ``message``: of the guest, with what the program said.
        """
        return ""

    def counted(self, stack: Stack, output: FlowOutput) -> dict[str, Any]:
        """Return the flow's counts for the read-back's entry ``counted_as``."""
        return {}
