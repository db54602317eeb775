"""Events: the lines that kernels write, in one order for all sites."""

from __future__ import annotations

import pytest

from farpath.base.errors import LabFailedError
from farpath.uses.trace_kernel.tracepoints import as_text, in_time, parse

SENDER = [
    "has\ttcp\ttcp_probe\n",
    "has\tqdisc\tqdisc_dequeue\n",
    "event\t5000000100\t41\tiperf3\tsoftirq\ttcp\ttcp_probe: src=10.0.0.1:5001 snd_cwnd=10 "
    "srtt=0x1f\n",
    "event\t5000000900\t0\tswapper\thardirq\tqdisc\tqdisc_dequeue: dequeue ifindex=4 packets=1\n",
    "lost\t7\n",
]
RECEIVER = [
    "event\t5000000500\t39\tiperf3 -s\ttask\tsock\tsock_rcvqueue_full: rmem_alloc=1 a\tb\n",
    "lost\t0\n",
]


def test_a_line_is_an_event_with_its_fields() -> None:
    trace = parse(SENDER, 0)
    probe, dequeue = trace.events
    assert (probe.at_ns, probe.process, probe.command) == (5_000_000_100, 41, "iperf3")
    assert (probe.context, probe.system, probe.name) == ("softirq", "tcp", "tcp_probe")
    assert probe.fields == {"src": "10.0.0.1:5001", "snd_cwnd": 10, "srtt": "0x1f"}
    assert dequeue.fields == {"ifindex": 4, "packets": 1}
    assert trace.known == {"tcp": frozenset({"tcp_probe"}), "qdisc": frozenset({"qdisc_dequeue"})}
    assert trace.lost == 7


def test_a_name_of_two_words_and_a_tab_in_the_fields_stay() -> None:
    [event] = parse(RECEIVER, 1).events
    assert (event.command, event.text) == ("iperf3 -s", "rmem_alloc=1 a\tb")


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [(SENDER[:-1], "has no end"), (["event\t12\n"], "is broken"), (["\n"], "is broken")],
)
def test_a_file_that_is_cut_short_is_no_trace(lines: list[str], wrong: str) -> None:
    with pytest.raises(LabFailedError, match=wrong):
        parse(lines, 0)


def test_events_of_all_sites_are_in_the_order_of_their_times() -> None:
    events = in_time([parse(SENDER, 0), parse(RECEIVER, 1)])
    assert [event.site for event in events] == [0, 1, 0]
    lines = as_text(events, ["sender", "receiver"], 5_000_000_000).splitlines()
    assert lines[0].split() == [
        *("0.000000100", "sender", "softirq", "iperf3-41", "tcp:tcp_probe:"),
        *("src=10.0.0.1:5001", "snd_cwnd=10", "srtt=0x1f"),
    ]
    assert [line.split()[1] for line in lines] == ["sender", "receiver", "sender"]
