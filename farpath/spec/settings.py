"""Settings: how the lab treats a run, apart from path and schedule; labs and clocks."""

from __future__ import annotations

from dataclasses import dataclass

from farpath.base.errors import BadInputError

#: The labs: a User Mode Linux guest, and the machine's own kernel.
VIRTUAL = "virtual"
HOST = "host"
#: The clock on which CPU takes no time.
VIRTUAL_CLOCK = "virtual"
#: The clocks of each lab; its first is the one that is meant without another word.
CLOCKS = {VIRTUAL: (VIRTUAL_CLOCK, "cpu", "wall"), HOST: ("wall",)}
#: A lab of one flow starts in this much. In 8 MiB less it runs out of memory, and in half
#: of it its kernel may look for free pages for ever.
LEAST_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True)
class Settings:
    """How the lab treats a run, apart from path and schedule.

    ``lab``: ``virtual`` (a User Mode Linux guest) or ``host`` (the machine's own kernel).
    ``receiver_discards``: the receiving kernel drops a flow's payload instead of
    copying it to iperf3, which wakes once per ``wake_bytes`` (virtual clock only:
    it saves real time and no virtual time). ``delayed_ack``: receivers acknowledge
    every second packet at once, else each (the route's quickack). ``ping_interval_s``
    and ``sample_interval_s``: between two pings, two samples of flows and queue.
    ``memory_bytes``: of the guest. ``trace_interval_s``: between two looks at the senders'
    TCP connections, 0 for none (:mod:`farpath.spec.trace`).

    Raises :class:`~farpath.base.errors.BadInputError` for less memory than any lab needs.
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

    def __post_init__(self) -> None:
        if self.memory_bytes < LEAST_MEMORY_BYTES:
            raise BadInputError(
                f"memory_bytes is {self.memory_bytes}: a lab needs at least {LEAST_MEMORY_BYTES}"
            )

    @property
    def cpu_is_free(self) -> bool:
        """Whether computing takes no time: then how much there was of it is not known."""
        return self.clock == VIRTUAL_CLOCK
