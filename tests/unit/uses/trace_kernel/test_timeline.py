"""The timeline: JSON of the Trace Event Format, in which each site is a process."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from farpath.uses.trace_kernel.timeline import as_json
from farpath.uses.trace_kernel.tracepoints import Event
from tests.support.networks import short_plan

PROBE = Event(
    *(2_000_000_500, 0, 41, "iperf3", "softirq", "tcp", "tcp_probe"),
    "family=AF_INET src=10.0.0.1:40000 dest=10.0.0.2:{port} snd_cwnd=10 ssthresh=2147483647 srtt=9",
)


def timeline(*events: Event) -> dict[str, Any]:
    """The parsed timeline of events at two sites of a run with one flow."""
    flows = short_plan().schedule.all_flows
    port = flows[0].port
    named = [replace(event, text=event.text.format(port=port)) for event in events]
    text = as_json(named, ["sender", "receiver"], 2_000_000_000, flows, {"lost": 0})
    found: dict[str, Any] = json.loads(text)
    return found


def rows(found: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The rows of one kind (``ph``)."""
    return [row for row in found["traceEvents"] if row["ph"] == kind]


def test_sites_are_processes_and_kinds_of_events_threads() -> None:
    dropped = replace(PROBE, system="skb", name="kfree_skb", site=1)
    names = rows(timeline(dropped, PROBE, replace(PROBE, site=1)), "M")
    sites = [row for row in names if row["name"] == "process_name"]
    assert [(row["pid"], row["args"]["name"]) for row in sites] == [(1, "sender"), (2, "receiver")]
    threads = [row for row in names if "thread" in row["name"]]
    assert [(row["pid"], row["tid"], row["args"]["name"]) for row in threads] == [
        (1, 1002, "tcp:tcp_probe"),
        (2, 1001, "skb:kfree_skb"),
        (2, 1002, "tcp:tcp_probe"),
    ]


def test_an_event_stands_at_its_time_from_the_schedules_start_in_us() -> None:
    [row] = rows(timeline(PROBE), "i")
    assert (row["ts"], row["name"], row["cat"], row["args"]["snd_cwnd"]) == (
        *(0.5, "tcp_probe", "tcp"),
        10,
    )


def test_windows_are_curves_of_flows_without_a_threshold_that_is_not_set() -> None:
    curves = [(row["name"], row["args"]) for row in rows(timeline(PROBE), "C")]
    assert curves == [
        ("flow1 port 40000", {"snd_cwnd": 10}),
        ("flow1 port 40000", {"srtt": 9}),
    ]


def test_a_trace_without_events_is_a_timeline_too() -> None:
    found = timeline()
    assert found["otherData"] == {"lost": 0}
    assert not rows(found, "i")
