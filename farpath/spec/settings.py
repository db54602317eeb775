"""Settings: the lab, clock, sampling and memory of a run, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from farpath.base.errors import BadInputError

#: The labs: a User Mode Linux guest, and namespaces of the host kernel.
VIRTUAL = "virtual"
HOST = "host"
#: The clock on which computation takes no time.
VIRTUAL_CLOCK = "virtual"
#: The clocks of each lab; the first is the default.
CLOCKS = {VIRTUAL: (VIRTUAL_CLOCK, "cpu", "wall"), HOST: ("wall",)}
#: Time between two samples of the queue in s; throughput second by second takes no longer one.
SAMPLE_S_RANGE = (0.01, 1.0)
#: Least time between two samples of a flow in s: iperf3 takes no shorter one (MIN_INTERVAL in
#: src/iperf.h). A trace has the state of a flow's connection at any millisecond.
LEAST_FLOW_SAMPLE_S = 0.1
#: Least memory of a lab, enough for one flow. With 8 MiB less it runs out of memory, and with
#: half of it the guest's kernel may search for free pages forever.
LEAST_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True)
class Settings:
    """Settings of a run that belong neither to its path nor to its schedule.

    ``clock``: one of the lab's ``CLOCKS``. ``lab``: ``virtual`` (a User Mode Linux guest) or
    ``host`` (the host kernel). ``receiver_discards``: the receiving kernel discards a flow's
    payload instead of copying it to iperf3, which wakes up once per ``wake_bytes`` (virtual
    clock only: this saves real time and no virtual time). ``delayed_ack``: receivers acknowledge
    every second packet; if False, every packet (the route's quickack). ``ping_interval_s``:
    time between two pings. ``sample_interval_s``: time between two samples of the queue, and of
    flows where it is at least ``LEAST_FLOW_SAMPLE_S``.
    ``memory_bytes``: memory of the guest. ``trace_interval_s``: time between two samples of
    the senders' TCP connections, 0 for no trace (``farpath.spec.trace``). ``one_guest``: one
    guest for all sites, as where the path is too short for several (``farpath.spec.sites``).

    Raises BadInputError if ``memory_bytes`` is less than any lab needs.
    """

    clock: str = "virtual"
    receiver_discards: bool = True
    wake_bytes: int = 131_072
    delayed_ack: bool = True
    ping_interval_s: float = 1.0
    sample_interval_s: float = 1.0
    memory_bytes: int = 805_306_368
    lab: str = VIRTUAL
    trace_interval_s: float = 0.0
    one_guest: bool = False

    def __post_init__(self) -> None:
        if self.memory_bytes < LEAST_MEMORY_BYTES:
            raise BadInputError(
                option="memory",
                given=f"{self.memory_bytes} bytes",
                remedy=f"a lab needs at least {LEAST_MEMORY_BYTES}",
            )

    @property
    def flow_interval_s(self) -> float:
        """Time between two samples of a flow in s."""
        return max(self.sample_interval_s, LEAST_FLOW_SAMPLE_S)

    @property
    def cpu_is_free(self) -> bool:
        """Whether computation takes no virtual time; CPU time is then not measured either."""
        return self.clock == VIRTUAL_CLOCK
