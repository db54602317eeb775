"""The guest's virtual clock and its timers, as arch/um/kernel/time.c has them, and its pings."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

STEP_NS, LEAST_TIMER_NS = 256, 500
TICK_NS = 1_000_000
#: Time between two pings, which is that of ``farpath.guest``.
INTERVAL_NS = 200_000_000
_TICK, _PING = -2, -1


def simulated_rtts_ms(delays_ns: Sequence[int], place: int, count: int) -> list[float]:
    """Return what ping prints of a way with these delay lines, there and back.

    ``place``: where in a step of the clock the first timer is set, in ns. The kernel's tick sets
    timers too, and moves the place.
    """
    now_ns = 1_000_000_000 + place
    tick_ns = now_ns // TICK_NS * TICK_NS + TICK_NS
    # When each timer is due, which delay line's it is, and when its ping was sent
    timers = [(tick_ns, _TICK, 0), (tick_ns + TICK_NS // 2, _PING, 0)]
    rtts_ms: list[float] = []
    while len(rtts_ms) < count:
        left_ns = timers[0][0] - _shown(now_ns)
        now_ns += left_ns + 1 if left_ns > LEAST_TIMER_NS else LEAST_TIMER_NS + 1
        while timers and timers[0][0] <= _shown(now_ns):
            due_ns, line, sent_ns = heapq.heappop(timers)
            if line == _TICK:
                heapq.heappush(timers, (due_ns + TICK_NS, _TICK, 0))
                continue
            if line == _PING:
                heapq.heappush(timers, (due_ns + INTERVAL_NS, _PING, 0))
                sent_ns = _shown(now_ns)
            if line + 1 < len(delays_ns):
                heapq.heappush(timers, (_shown(now_ns) + delays_ns[line + 1], line + 1, sent_ns))
            else:
                rtts_ms.append((_shown(now_ns) // 1000 - sent_ns // 1000) / 1e3)
    return rtts_ms


def _shown(now_ns: int) -> int:
    """Return what the clock shows."""
    return now_ns // STEP_NS * STEP_NS
