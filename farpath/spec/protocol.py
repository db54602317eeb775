"""Protocol between host and guest: file names in the shared directory, and console events.

The host writes the plan as JSON. The guest sends events, which are lines on its console that
contain ``EVENT_MARK`` followed by one JSON object.
"""

from __future__ import annotations

import json
from typing import Any

EVENT_MARK = "@farpath "
#: Path of the shared directory for hostfs: the working directory of the guest's kernel.
SHARED_DIRECTORY = "/proc/self/cwd"
#: Names of files and directories inside the shared directory.
PLAN_FILE = "plan.json"
READBACK_FILE = "readback-{site}.json"
RAW_DIR = "raw"
FAR_LINK_FILE = "farlink"
#: Kernel modules of farpath's devices: links to other sites, sources of background traffic,
#: processors of slow hosts, disks, counters of the packets that qdiscs drop, and links that follow
#: a trace.
FAR_LINK_MODULE, BACKGROUND_MODULE, PROCESSOR_MODULE = "farlink", "background", "processor"
DISK_MODULE, DROPS_MODULE, DELIVERIES_MODULE = "disk", "drops", "deliveries"
#: Name of the number of a guest's site in the environment of its first process.
SITE_VARIABLE = "LAB_SITE"
#: The guest's farpath: a package that finds its modules in an archive beside it.
CODE_DIR, GUEST_CODE = "code", "guest.zip"
IMAGES_DIR = "images"
#: Users' congestion controls for UDT, each library in the directory of its build.
CONGESTIONS_DIR = "congestions"
PACKETDRILL_DIR = "packetdrill"
#: The programs of ``farpath exec`` (``farpath.spec.programs``), their output as it appears, the
#: machine's root and the directory that they may read, and the files that come back.
PROGRAMS_FILE = "programs.json"
OUTPUT_DIR = "output"
MACHINE_ROOT = "machine"
READABLE_DIR = "readable"
COLLECTED_DIR = "collected"
#: Of ``farpath shell``: the file that asks for it, its output in OUTPUT_DIR, the numbered lines of
#: the user as JSON, and the file that interrupts a command.
SHELL_FILE, SHELL_OUTPUT = "shell", "shell.out"
LINE_FILE, INTERRUPT_FILE = "line-{number}.json", "interrupt"
#: Raw file with the TCP connections of a host of ``farpath exec`` (``farpath.tools.tcp_info``).
#: What receivers' kernels say of the ECN of their connections (``farpath.mechanisms.ecn.device``).
ECN_FILE = "{host}-ecn.json"
CONNECTIONS_FILE = "{host}.connections"
#: What the kernel of a sender says of the subflows of its MPTCP connections, a line of JSON each
#: time (``farpath.mechanisms.mptcp.device``).
SUBFLOWS_FILE = "{host}-subflows.jsonl"


def site_modules(site: int) -> str:
    """Return the name of the directory with the kernel modules of a site."""
    return f"modules-{site}"


def event_line(event: str, **values: Any) -> str:
    """Return the console line of an event with its values."""
    return EVENT_MARK + json.dumps({"event": event, **values})


def parse_event(line: str) -> dict[str, Any] | None:
    """Parse the event in a console line; None if there is none or the line was cut short."""
    _, mark, text = line.partition(EVENT_MARK)
    if not mark:
        return None
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "event" in event else None


#: Raw file of a flow: the schedule's start in ns, by the monotonic clock of the flow's receiver.
SCHEDULE_START_FILE = "{flow}-schedule-start.txt"
#: Raw file with the qlog of a flow of QUIC, as its sender wrote it.
QLOG_FILE = "{flow}-sender.sqlog"
#: Raw file of a flow of datagrams: what its receiver's listener noted, as JSON.
ARRIVALS_FILE = "{flow}-arrivals.json"
#: Raw file with the lines of a program of short flows (``farpath.tools.short_flows``).
SHORT_FLOWS_FILE = "short-flows-{host}.txt"
#: File of what tc answered at each change of a port: a line with the time in s, a blank, its JSON.
CHANGES_FILE = "changes-{port}.txt"
#: Directory of captured packets, in the raw output and in the record.
CAPTURES_DIR = "captures"
#: Raw files: samples of the machine's counters, and output of ping over the side path.
MACHINE_FILE = "machine.txt"
LAG_FILE = "lag.out"
#: RTT of the side path in ms, and the interval of its pings in s. Pings that are ten RTTs apart
#: never queue behind each other, and five per second take hardly any CPU time.
SIDE_RTT_MS = 20.0
SIDE_INTERVAL_S = 0.2
#: File below PACKETDRILL_DIR that lists the scripts and their directory.
ORDERS = "orders.json"
#: The kernel's runner of a script (tools/testing/selftests/net/packetdrill).
RUNNER = "ksft_runner.sh"
#: Library with a replacement of times(2) that works on the virtual clock.
TIMES = "times.so"
