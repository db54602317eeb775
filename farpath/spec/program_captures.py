"""Program captures: how much room the captured packets of a user's programs get.

What programs send is unknown, and most of them end long before their time limit. So all captures
have room for what the path can carry in both directions until then, or for a part of that which
fits in ``ROOM_BYTES``; packets beyond it are only counted.
"""

from __future__ import annotations

from farpath.spec import capture_sizes
from farpath.spec.plan import Plan
from farpath.spec.program_schedule import lasting
from farpath.spec.schedule import LONGEST_S

#: Most bytes of all captures of a lab of programs: some two million packets by their headers.
ROOM_BYTES = 256 << 20
DIRECTIONS = 2
SHORTEST_S = 1.0


def with_room(plan: Plan) -> Plan:
    """Return a plan whose schedule is so long that its captures have their room.

    ``farpath.spec.capture_sizes`` tells sizes by the schedule's length, for one direction.
    """
    duration_s = min(LONGEST_S, DIRECTIONS * plan.schedule.duration_s)
    while duration_s > SHORTEST_S and _size_bytes(lasting(plan, duration_s)) > ROOM_BYTES:
        duration_s = max(SHORTEST_S, duration_s / 2)
    return lasting(plan, duration_s)


def _size_bytes(plan: Plan) -> int:
    return sum(capture_sizes.most_bytes(plan, one) for one in plan.captures)
