"""iperf3: its reports, captured in the lab, and those that no test can have."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from farpath.base.errors import LabFailedError
from farpath.spec.schedule import Flow
from farpath.tools import iperf3
from tests.support.data import captured


def test_what_is_read_from_a_file_is_not_lent_to_the_connection() -> None:
    flow = Flow("flow1", "sender", "receiver", "reno", 0.0, 5.0, 5201)
    memory, disk = (
        iperf3.client_arguments(flow, "10.0.0.2", 1.0, "reno", True, file)
        for file in ("", "/dev/disk")
    )
    assert "--zerocopy" in memory
    assert "--zerocopy" not in disk
    assert disk[-2:] == ["--file", "/dev/disk"]
    assert iperf3.server_arguments(flow, 1.0, "/dev/disk")[-2:] == ["--file", "/dev/disk"]


def test_a_users_iperf3_which_may_be_old_gets_no_option_that_came_later() -> None:
    flow = Flow("flow1", "sender", "receiver", "reno", 0.0, 5.0, 5201)
    own, users = (iperf3.server_arguments(flow, 1.0, of_user=each) for each in (False, True))
    assert own == [*users, "--rcv-timeout", "86400000"]


def test_a_senders_intervals_hold_the_state_of_its_tcp() -> None:
    rows = iperf3.parse_sender(captured("iperf3/sender.json"))
    assert len(rows) == 3
    assert rows[0].start_s == 0
    assert rows[0].end_s == pytest.approx(1.001, abs=1e-3)
    assert all(row.snd_wnd_bytes > 0 and row.snd_cwnd_bytes > 0 for row in rows)
    assert all(row.rtt_us >= 164_000 for row in rows)
    assert rows[0].retransmits == 0


@pytest.mark.parametrize(
    ("end", "share"),
    [
        ('{"cpu_utilization_percent": {"host_total": 12.5, "host_user": 2.5}}', 0.125),
        ('{"cpu_utilization_percent": {}}', None),
        ("{}", None),
    ],
)
def test_a_programs_cpu_time_is_read_if_it_tells(end: str, share: float | None) -> None:
    assert iperf3.parse_cpu_share(f'{{"intervals": [], "end": {end}}}') == share


def test_a_receivers_last_interval_is_what_was_still_on_its_way() -> None:
    rows = iperf3.parse_receiver(captured("iperf3/receiver.json"))
    assert [row.bytes for row in rows] == [393_216, 14_286_848, 23_330_816, 3_276_800]
    assert rows[-1].end_s - rows[-1].start_s == pytest.approx(0.183, abs=1e-3)


@pytest.mark.parametrize("parse", [iperf3.parse_sender, iperf3.parse_receiver])
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "printed nothing"),
        ('{"start": {}, "intervals": [', "broken"),
        ("[]", "no intervals"),
        (
            '{"intervals": [], "error": "unable to connect"}',
            "the program failed: unable to connect",
        ),
        ('{"intervals": [{"streams": []}]}', "0 streams"),
        ('{"intervals": [{"streams": [{"start": 0, "end": 1}]}]}', "without 'bytes'"),
    ],
)
def test_a_failed_or_truncated_report_is_a_failed_lab(
    parse: Callable[[str], Any], text: str, complaint: str
) -> None:
    with pytest.raises(LabFailedError, match=complaint):
        parse(text)


@pytest.mark.parametrize("side", ["sender", "receiver"])
def test_no_prefix_of_a_report_parses(side: str) -> None:
    text = captured(f"iperf3/{side}.json").rstrip()
    parse: Callable[[str], Any] = getattr(iperf3, f"parse_{side}")
    for length in range(0, len(text), 97):
        with pytest.raises(LabFailedError):
            parse(text[:length])


@pytest.mark.parametrize(
    "row",
    [
        {"start": 0, "end": 1, "bytes": 1e300},
        {"start": 0, "end": 1, "bytes": 10**400},
        {"start": 0, "end": 1, "bytes": -1},
        {"start": 0, "end": 1e300, "bytes": 1},
        {"start": -1e300, "end": 1, "bytes": 1},
        {"start": 0, "end": True, "bytes": 1},
        {"start": 0, "end": 1, "bytes": 1, "rtt": 1e300},
    ],
)
def test_numbers_that_no_test_can_have_are_no_report(row: dict[str, Any]) -> None:
    text = json.dumps({"intervals": [{"streams": [row]}]})
    with pytest.raises(LabFailedError, match="without a number as"):
        iperf3.parse_sender(text, tcp=False)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"intervals": [], "end": []}'])
def test_a_report_of_another_shape_is_no_fault_of_farpaths(text: str) -> None:
    if text.startswith("{"):
        assert iperf3.parse_congestion(text) == ""
        assert iperf3.parse_cpu_share(text) is None
    else:
        with pytest.raises(LabFailedError, match="its JSON is broken"):
            iperf3.parse_sender(text)


def report(**values: object) -> str:
    """JSON of one interval."""
    row = {"start": 0, "end": 1.0, "bytes": 125_000, **values}
    return json.dumps({"intervals": [{"streams": [row]}]})


def test_another_programs_intervals_need_no_state_of_tcp_but_iperf3s_do() -> None:
    rows = iperf3.parse_sender(report(), tcp=False)
    assert rows == [iperf3.SenderInterval(0, 1.0, 125_000, 0, 0, 0, 0)]
    with pytest.raises(LabFailedError, match="without 'retransmits'"):
        iperf3.parse_sender(report())


@pytest.mark.parametrize("value", ["many", None, True, float("nan"), float("inf"), [1]])
def test_a_value_that_is_no_number_is_named(value: object) -> None:
    with pytest.raises(LabFailedError, match="without a number as 'retransmits'"):
        iperf3.parse_sender(report(retransmits=value), tcp=False)
    with pytest.raises(LabFailedError, match="without a number as 'bytes'"):
        iperf3.parse_receiver(report(bytes=value))
