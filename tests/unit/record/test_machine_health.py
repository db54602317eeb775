"""The watch: what a machine's counters mean, and which records they spoil."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest

from farpath.base.errors import LabFailedError
from farpath.planning.path_options import resolve_path
from farpath.record import machine_health
from farpath.record.machine_health import (
    MachineSample,
    MachineSummary,
    full_rtt_ms,
    judge,
    parse_samples,
    rate_part,
    summarise_machine,
)
from farpath.spec.protocol import SIDE_RTT_MS
from farpath.tools.ping import Pings, Reply
from farpath.tools.proc import machine_counters
from farpath.tools.tc import QueueSample
from tests.support.data import captured

#: 10 Mbit/s, 40 ms, a buffer of 151400 bytes: a full one adds 121 ms.
PATH = resolve_path(rtt="40ms", rate="10Mbit")
STAT = captured("proc/stat_two_cores.txt")
SOFTNET = captured("proc/softnet_stat_drops.txt")


def pings(*rtts_ms: float) -> Pings:
    replies = tuple(Reply(100.0 + seq, seq, rtt_ms) for seq, rtt_ms in enumerate(rtts_ms, 1))
    return Pings(len(replies), replies, ())


def sample(second: int, user: int, softirq: int = 0, steal: int = 0) -> MachineSample:
    """One core that has done so much each second, another that did nothing."""
    idle = 100 - user - softirq - steal
    core = [part * second for part in (user, 0, 0, idle, 0, 0, softirq, steal)]
    rest = [0, 0, 0, 100 * second, 0, 0, 0, 0]
    return MachineSample(float(second), second + 0.002, {"cpu0": core, "cpu1": rest}, 7, 3)


def queue(second: int, backlog_packets: int, part: float = 1.0) -> QueueSample:
    """A bottleneck that has sent so much of its rate."""
    sent_bytes = round(part * second * PATH.rate_bps / 8)
    return QueueSample(float(second), 1514 * backlog_packets, backlog_packets, 0, sent_bytes, 0)


def summary(**changed: Any) -> MachineSummary:
    """A calm machine's summary, changed."""
    calm = summarise_machine(
        PATH,
        machine=[sample(second, 20, 10) for second in range(10)],
        queue=[queue(second, 50) for second in range(10)],
        lag=pings(*[SIDE_RTT_MS + 0.1] * 99, SIDE_RTT_MS + 0.4),
        pings=pings(40.1, 60.0, 120.0),
        idle_before=pings(40.1, 40.2, 40.15),
        idle_after=pings(40.2, 40.3, 40.25),
    )
    return dataclasses.replace(calm, **changed)


def test_a_ping_through_two_full_buffers_is_late_for_neither_of_two_bottlenecks() -> None:
    assert full_rtt_ms(PATH, 2) - full_rtt_ms(PATH) == pytest.approx(full_rtt_ms(PATH) - 40)
    behind_two = full_rtt_ms(PATH, 2)
    health = summarise_machine(
        PATH,
        machine=[sample(second, 20) for second in range(10)],
        queue=[],
        lag=pings(SIDE_RTT_MS),
        pings=pings(behind_two, behind_two),
        idle_before=pings(40.1),
        idle_after=pings(40.1),
        buffers=2,
    )
    assert judge(health, PATH, 2) == machine_health.Judgement()
    assert judge(dataclasses.replace(health, late_pings_part=1.0), PATH, 2).failed


def test_a_line_of_samples_comes_back_as_it_was() -> None:
    counters = {**machine_counters(STAT, SOFTNET), "elapsed_s": 2.001}
    (sample,) = parse_samples(f"2.000000 {json.dumps(counters)}\n")
    assert (sample.t_s, sample.elapsed_s, sample.dropped) == (2.0, 2.001, 3)


@pytest.mark.parametrize("line", ["2.0", "2.0 {", '2.0 {"cpus": {}}', "x {}"])
def test_a_line_cut_short_is_named_by_its_number(line: str) -> None:
    with pytest.raises(LabFailedError, match="line 1 of the machine's samples"):
        parse_samples(line + "\n")


def test_shares_are_parts_of_each_second_and_of_all_cores() -> None:
    health = summary()
    assert health.seconds == 9
    assert health.busiest_core_mean == pytest.approx(0.3)
    assert health.all_cores_mean == pytest.approx(0.15)
    assert health.softirq_mean == pytest.approx(0.05)
    assert health.busy_seconds_part == 0


def test_counters_that_began_before_the_run_do_not_count() -> None:
    assert (summary().softnet_dropped, summary().softnet_squeezed_per_s) == (0, 0)


def test_the_lag_is_what_a_ping_of_the_side_path_took_beyond_its_delays() -> None:
    health = summary()
    assert health.lag_median_ms == pytest.approx(0.1)
    assert health.lag_p99_ms == pytest.approx(0.1)
    assert health.lag_max_ms == pytest.approx(0.4)


def test_a_bottleneck_that_always_had_packets_sent_its_rate() -> None:
    assert summary().rate_part == pytest.approx(1.0)


def test_seconds_with_an_empty_queue_say_nothing_of_the_rate() -> None:
    machine = [sample(second, 20) for second in range(10)]
    empty = [queue(second, 0, 0.3) for second in range(10)]
    assert rate_part(empty, machine, PATH) is None


def test_one_second_that_emptied_the_queue_within_does_not_spoil_the_rate() -> None:
    machine = [sample(second, 20) for second in range(10)]
    queues = [queue(second, 50) for second in range(10)]
    late = [dataclasses.replace(queue, bytes=queue.bytes - 400_000) for queue in queues[5:]]
    assert rate_part([*queues[:5], *late], machine, PATH) == pytest.approx(1.0)


def test_a_run_without_pings_of_the_side_path_failed() -> None:
    with pytest.raises(LabFailedError, match="side path"):
        summarise_machine(
            PATH, [sample(0, 1), sample(1, 1)], [], pings(), pings(40.0), pings(40.0), pings(40.0)
        )


def test_a_full_buffer_delays_a_ping_by_what_it_holds_at_the_rate() -> None:
    assert full_rtt_ms(PATH) == pytest.approx(40 + 8e3 * (PATH.buffer_bytes + 1514) / 10e6)


def test_a_calm_machine_leaves_no_doubt() -> None:
    assert judge(summary(), PATH) == machine_health.Judgement()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"busy_seconds_part": 0.2, "busiest_core_mean": 0.8}, "busy for more than 90%"),
        ({"steal_mean": 0.03}, "hypervisor took 3.0%"),
        ({"softnet_squeezed_per_s": 40.0}, "cut off 40 times"),
        ({"lag_p99_ms": 3.0}, "took 3.0 ms more"),
        ({"idle_rtt_before_ms": 42.0, "idle_rtt_after_ms": 42.0}, "RTT is 42.0 ms, not 40 ms"),
        ({"idle_rtt_after_ms": 42.0}, "40.1 ms before and 42.0 ms after"),
        ({"ping_max_ms": 400.0, "late_pings_part": 0.01}, "a ping took 400.0 ms"),
        ({"rate_part": 0.95}, "sent 95.0% of its rate"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_machine_with_little_in_reserve_is_doubted_and_says_why(
    changed: dict[str, float], message: str
) -> None:
    health = judge(summary(**changed), PATH)
    assert health.failed == ()
    assert len(health.poor) == 1
    assert message in health.poor[0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"softnet_dropped": 5}, "lost 5 packets"),
        ({"lag_median_ms": 9.0}, "late by 9.0 ms"),
        ({"idle_rtt_before_ms": 55.0, "idle_rtt_after_ms": 55.0}, "RTT is 55.0 ms, not 40 ms"),
        ({"idle_rtt_after_ms": 60.0}, "from 40.1 to 60.0 ms"),
        ({"ping_min_ms": 39.0}, "less than the path's 40 ms"),
        ({"ping_max_ms": 400.0, "late_pings_part": 0.3}, "30% of the pings took over 8 ms longer"),
        ({"rate_part": 0.5}, "sent 50.0% of its rate"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_path_that_was_not_the_one_asked_for_is_refused(
    changed: dict[str, float], message: str
) -> None:
    assert any(message in sentence for sentence in judge(summary(**changed), PATH).failed)


def test_a_summary_as_json_has_no_number_that_json_has_not() -> None:
    health = dataclasses.replace(summary(), ping_min_ms=math.nan, rate_part=None).as_dict()
    assert health["ping_min_ms"] is None
    assert json.loads(json.dumps(health, allow_nan=False)) == health
