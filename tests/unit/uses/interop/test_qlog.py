"""qlog: both forms are read alike, and each rule finds a log that breaks it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import BadInputError
from farpath.uses.interop.qlog import QlogEvent, read_qlog
from farpath.uses.interop.qlog_rules import RULES, findings, together

RTT_MS = 30.0
WINDOW = "congestion_window"


def metrics(time_ms: float, **values: float) -> QlogEvent:
    return QlogEvent(time_ms, "metrics_updated", values)


def packet(
    time_ms: float, name: str, number: int, *frames: Mapping[str, Any], kind: str = "1RTT"
) -> QlogEvent:
    header = {"packet_type": kind, "packet_number": number}
    return QlogEvent(time_ms, name, {"header": header, "frames": frames})


def acks(first: int, last: int) -> Mapping[str, Any]:
    return {"frame_type": "ack", "acked_ranges": [[first, last]]}


STREAM = {"frame_type": "stream"}
#: A connection that keeps all rules: five packets, of which the first is lost.
KEPT = (
    metrics(0, congestion_window=12_000, bytes_in_flight=0),
    *(packet(0, "packet_sent", number, STREAM) for number in range(5)),
    metrics(0, congestion_window=12_000, bytes_in_flight=6_000),
    packet(30, "packet_received", 0, STREAM, acks(1, 4)),
    metrics(30, congestion_window=12_000, min_rtt=30, latest_rtt=30, smoothed_rtt=30),
    packet(30, "packet_lost", 0),
    metrics(30, congestion_window=8_400, bytes_in_flight=0),
    packet(40, "packet_sent", 5, acks(0, 0)),
)
#: By the name of a rule, a log that breaks it, and how.
BROKEN: Mapping[str, tuple[Sequence[QlogEvent], str]] = {
    "initial-window": ([metrics(0, congestion_window=30_000)], "30,000 bytes"),
    "least-window": ([*KEPT, metrics(50, congestion_window=1_200)], "1,200 bytes"),
    "in-flight": ([*KEPT, metrics(50, bytes_in_flight=20_000)], "11,600 bytes over the window"),
    "min-rtt": ([metrics(0, min_rtt=20.0)], "20.000 ms"),
    "loss": (
        [
            packet(0, "packet_sent", 0, {"frame_type": "crypto"}, kind="initial"),
            packet(200, "packet_lost", 0, kind="initial"),
        ],
        "after 200 ms, with 0 later ones acknowledged",
    ),
    "recovery": (
        [*KEPT, packet(40, "packet_lost", 1), metrics(40, congestion_window=5_000)],
        "10.0 ms after another",
    ),
    "acknowledgement": ([*KEPT[:8], packet(90, "packet_sent", 5, acks(0, 0))], "after 60.0 ms"),
    "packet-number": ([*KEPT, packet(50, "packet_sent", 5)], "5 of data after 5"),
}


def test_a_connection_that_keeps_the_rules_breaks_none_and_could_have_broken_most() -> None:
    found = findings(KEPT, RTT_MS)
    assert [one.rule for one in found if one.broken] == []
    assert [one.rule for one in found if not one.looked_at] == ["recovery"]
    assert together([found, found])[0].looked_at == 2
    assert together([]) == ()


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_a_log_that_breaks_a_rule_is_found_by_it_alone(rule: str) -> None:
    log, words = BROKEN[rule]
    broken = {one.rule: one for one in findings(log, RTT_MS) if one.broken}
    assert set(broken) == {rule}
    assert (broken[rule].broken, broken[rule].worst) == (1, words)
    summed = {one.rule: one for one in together([findings(KEPT, RTT_MS), findings(log, RTT_MS)])}
    assert summed[rule].worst == words


def test_a_later_packet_and_time_make_a_loss_but_time_alone_does_not() -> None:
    sent = [packet(0, "packet_sent", number, STREAM) for number in range(2)]
    rtt = metrics(30, min_rtt=30, latest_rtt=30, smoothed_rtt=30)
    after = [packet(30, "packet_received", 0, acks(1, 1)), rtt, packet(34, "packet_lost", 0)]
    lost = {one.rule: one for one in findings([*sent, *after], RTT_MS)}["loss"]
    assert (lost.looked_at, lost.broken) == (1, 0)
    never = {one.rule: one for one in findings([*sent, rtt, after[-1]], RTT_MS)}["loss"]
    assert never.broken == 1


def test_a_log_without_frames_says_nothing_of_losses_and_acknowledgements() -> None:
    bare = [dataclasses.replace(one, data={**one.data, "frames": ()}) for one in KEPT]
    looked_at = {one.rule for one in findings(bare, RTT_MS) if one.looked_at}
    assert {"loss", "acknowledgement"} & looked_at == set()
    assert "packet-number" in looked_at


@pytest.mark.parametrize(("timeouts", "broken"), [(1, 1), (2, 0)])
def test_each_probe_timeout_may_send_two_packets_beyond_the_window(
    timeouts: int, broken: int
) -> None:
    full = metrics(0, congestion_window=12_000, bytes_in_flight=12_000)
    probes = metrics(90, bytes_in_flight=16_800, pto_count=timeouts)
    found = {one.rule: one for one in findings([full, probes], RTT_MS)}
    assert found["in-flight"].broken == broken


def test_recovery_may_begin_with_one_packet_beyond_the_window() -> None:
    full = metrics(0, congestion_window=40_000, bytes_in_flight=40_000)
    begun = metrics(40, congestion_window=28_000, bytes_in_flight=38_000)
    one, two = (metrics(41, bytes_in_flight=38_000 + 1_452 * number) for number in (1, 2))
    counts = [
        {found.rule: found.broken for found in findings(log, RTT_MS)}["in-flight"]
        for log in ([full, begun, one], [full, begun, two], [full, begun, one, two])
    ]
    assert counts == [0, 1, 1]


@pytest.mark.parametrize("rtt_ms", [RTT_MS, 1500.0])
def test_a_log_with_rtts_in_seconds_keeps_the_rules_and_its_first_rtt_is_not_measured(
    rtt_ms: float,
) -> None:
    first = metrics(0, min_rtt=0.333, latest_rtt=0.333, smoothed_rtt=0.333)
    measured = metrics(rtt_ms, min_rtt=rtt_ms / 1000, smoothed_rtt=rtt_ms / 1000)
    found = {one.rule: one for one in findings([first, measured], rtt_ms)}
    assert (found["min-rtt"].looked_at, found["min-rtt"].broken) == (1, 0)
    short = {one.rule: one for one in findings([metrics(0, min_rtt=0.02)], RTT_MS)}
    assert short["min-rtt"].worst == "20.000 ms"


EVENTS = [
    {"time": 1000.5, "name": "recovery:metrics_updated", "data": {"cwnd": 12_000}},
    {"time": 1030, "name": "quic:recovery_metrics_updated", "data": {WINDOW: 13_000}},
    {
        "time": 1031,
        "name": "transport:packet_sent",
        "data": {"header": {"packet_type": "0RTT", "packet_number": 7}},
    },
]
HEADER = {"qlog_format": "JSON-SEQ", "qlog_version": "0.3"}


def as_sequence(*objects: object) -> str:
    return "".join(f"\x1e{json.dumps(one)}\n" for one in objects)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"traces": [{"events": EVENTS}]}),
        as_sequence(HEADER, *EVENTS),
        as_sequence(HEADER, *EVENTS) + '\x1e{"time": 12, "na',
    ],
)
def test_both_forms_and_a_log_that_was_cut_off_have_the_same_events(
    text: str, tmp_path: FilePath
) -> None:
    (file := tmp_path / "a.qlog").write_text(text)
    first, second, third = read_qlog(file)
    assert [first.time_ms, second.time_ms, third.time_ms] == pytest.approx([0, 29.5, 30.5])
    assert (first.name, first.data) == ("metrics_updated", {WINDOW: 12_000})
    assert (second.name, second.data) == ("metrics_updated", {WINDOW: 13_000})
    assert third.packet == ("data", 7)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no qlog"),
        ("not json", "is no qlog"),
        ("[]", "is no qlog"),
        ('{"traces": []}', "has no event"),
        (as_sequence({"a": 1}), "does not begin with its format"),
        (as_sequence(HEADER) + "\x1e{\n" + as_sequence(*EVENTS), "is no qlog"),
        ('{"traces": [{"events": [{"time": "x", "name": "a", "data": {}}]}]}', "is no qlog"),
    ],
)
def test_what_is_no_qlog_is_refused_in_a_line(text: str, words: str, tmp_path: FilePath) -> None:
    (file := tmp_path / "a.qlog").write_text(text)
    with pytest.raises(BadInputError, match=words):
        read_qlog(file)


def test_events_with_other_fields_than_qlogs_are_refused() -> None:
    with pytest.raises(BadInputError, match="other fields than qlog's"):
        findings([metrics(0, congestion_window="many")], RTT_MS)  # type: ignore[arg-type]
