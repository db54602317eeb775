"""What host and guest say to each other: file names in the shared directory, and events.

The host writes the plan as JSON. The guest answers with events: lines on its console that
begin with :data:`EVENT_MARK` and hold one JSON object each.
"""

from __future__ import annotations

import json
from typing import Any

EVENT_MARK = "@farpath "
#: The shared directory as hostfs finds it: the one the guest's kernel runs in.
SHARED_DIRECTORY = "/proc/self/cwd"
#: Names inside the directory that host and guest share during a run.
PLAN_FILE = "plan.json"
READBACK_FILE = "readback.json"
RAW_DIR = "raw"
CODE_DIR = "code"
MODULES_DIR = "modules"
IMAGES_DIR = "images"
PACKETDRILL_DIR = "packetdrill"


def event_line(kind: str, **values: Any) -> str:
    """One event as the guest prints it."""
    return EVENT_MARK + json.dumps({"event": kind, **values})


def parse_event(line: str) -> dict[str, Any] | None:
    """The event in a console line, or None if it holds none.

    A line cut short by a dying guest is no event.
    """
    _, mark, text = line.partition(EVENT_MARK)
    if not mark:
        return None
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "event" in event else None


#: Raw files: samples of the machine's counters, and pings of the side path.
MACHINE_FILE = "machine.txt"
LAG_FILE = "lag.out"
#: The side path's RTT, and the time between its pings: ten round trips apart are each
#: alone on it, and five a second cost nothing.
SIDE_RTT_MS = 20.0
SIDE_INTERVAL_S = 0.2
#: What is run and how, below PACKETDRILL_DIR.
ORDERS = "orders.json"
#: The kernel's way to run a script (tools/testing/selftests/net/packetdrill).
RUNNER = "ksft_runner.sh"
#: A library with a times(2) that the virtual clock can do.
TIMES = "times.so"
