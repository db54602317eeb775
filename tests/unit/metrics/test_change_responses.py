"""Answers of flows to falls and rises of the rate, and to outages, against hand-made curves."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import numpy as np
import pandas as pd
import pytest

from farpath.mechanisms.dropper.mechanism import parse_droppers
from farpath.metrics.change_responses import answer_s, answers_of, recovery_s, stabilisation
from farpath.metrics.record_metrics import metrics_of
from farpath.planning.request import RunRequest
from farpath.record.record import Record, Samples, write_record
from farpath.report.overview import overview

#: Samples of a queue each 100 ms, from a fall of the rate at 10 s on.
TIMES_S = np.arange(10.0, 20.05, 0.1)
RTT_S = 0.05
PACKETS_PER_S = 1000.0


def test_flows_have_answered_when_what_is_not_carried_grows_no_more() -> None:
    # 100 kB a second too many for 1.2 s, then the queue is emptied
    surplus = np.where(TIMES_S <= 11.2, 1e5 * (TIMES_S - 10), 1.2e5 - 1e4 * (TIMES_S - 11.2))
    assert answer_s(TIMES_S, surplus, RTT_S, 10.0) == pytest.approx(1.3)


def test_flows_that_never_slow_down_never_answer() -> None:
    assert answer_s(TIMES_S, 1e5 * TIMES_S, RTT_S, 10.0) is None


def test_an_rtt_longer_than_a_sample_has_to_pass() -> None:
    surplus = np.where(TIMES_S <= 11.0, 1e5 * (TIMES_S - 10), 1e5)
    assert answer_s(TIMES_S, surplus, 0.5, 10.0) == pytest.approx(1.5, abs=0.11)


def test_a_link_is_stable_when_the_loss_of_ten_rtts_is_no_more_than_half_as_much_again() -> None:
    # Half of 2000 packets a second are lost for 2 s, and then none
    drops = 1000.0 * np.clip(TIMES_S - 10, 0, 2)
    stabilised_s, loss = stabilisation(TIMES_S, drops, RTT_S, PACKETS_PER_S)
    # The loss over the last 500 ms is above nothing until 500 ms after the last drop
    assert stabilised_s == pytest.approx(2.5, abs=0.11)
    assert loss == pytest.approx(2000 / (2000 + 2500), abs=0.02)


def test_a_link_that_loses_as_much_as_ever_was_stable_at_once() -> None:
    drops = 10.0 * (TIMES_S - 10)
    assert stabilisation(TIMES_S, drops, RTT_S, PACKETS_PER_S) == (0.0, 0.0)


def test_a_link_that_loses_most_at_the_end_never_is_stable() -> None:
    drops = 1000.0 * np.clip(TIMES_S - 19.5, 0, None)
    assert stabilisation(TIMES_S, drops, RTT_S, PACKETS_PER_S)[0] is None


def test_flows_have_recovered_in_the_first_second_with_nine_tenths_of_what_fits() -> None:
    totals_bps = pd.Series([9e6, 1e6, 5e6, 8.9e6, 9.1e6, 9.4e6], index=pd.RangeIndex(1, 7))
    assert recovery_s(totals_bps, 1.5, 6.0, 10e6) == 3.5
    assert recovery_s(totals_bps, 1.5, 4.0, 10e6) is None


def _record(directory: FilePath, rate: str, drop: str | None, mbps: list[float]) -> Record:
    """A run of one flow of 50 ms with a throughput for each second, and a queue that loses 5."""
    seconds = len(mbps)
    plan = RunRequest(rtt="50ms", rate=rate, drop=drop, stack="cubic", time=f"{seconds}s").plan()
    ends_s = np.arange(1.0, seconds + 1)
    flows = pd.DataFrame(
        {
            "flow": "flow1", "t_s": ends_s, "interval_s": 1.0,
            "throughput_bps": 1e6 * np.array(mbps), "sent_bps": 1e6 * np.array(mbps),
            "retransmits": 0, "cwnd_bytes": 100_000, "snd_wnd_bytes": 1_000_000, "rtt_us": 50_000,
        }
    )  # fmt: skip
    ping = pd.DataFrame({"t_s": ends_s, "rtt_ms": 50.0})
    queue = pd.DataFrame(
        {
            "t_s": np.arange(0.0, seconds + 1), "backlog_bytes": 0, "backlog_packets": 0,
            "drops": np.minimum(np.arange(seconds + 1), 5),
        }
    )  # fmt: skip
    raw = directory / "raw"
    raw.mkdir(parents=True)
    samples = Samples(flows=flows, ping=ping, queue=queue)
    return write_record(directory / "record", plan, samples, {}, {"before": {}}, [], raw)


def test_a_run_whose_rate_falls_and_rises_has_a_table_of_both_answers(tmp_path: FilePath) -> None:
    mbps = [90.0] * 4 + [18.0] * 4 + [50.0, 92.0, 92.0, 92.0]
    record = _record(tmp_path, "100Mbit,4s:20Mbit,8s:100Mbit", None, mbps)
    fall, rise = answers_of(record)
    assert (fall.at_s, fall.until_s, fall.is_fall, fall.drops) == (4.0, 8.0, True, 1)
    assert fall.recovered_s is None
    assert (rise.at_s, rise.recovered_s, rise.drops) == (8.0, 2.0, None)
    (table,) = (table for table in overview(record) if table.title == "Answers to changes")
    assert [line[1] for line in table.lines] == ["100 to 20 Mbit/s", "20 to 100 Mbit/s"]
    assert metrics_of(record)["answers"][1]["recovered_s"] == 2.0
    flows = next(table for table in overview(record) if table.title == "Each flow")
    assert flows.header[-2:] == ("CoV", "largest fall")


def test_the_end_of_an_outage_has_a_time_of_recovery(tmp_path: FilePath) -> None:
    mbps = [46.0] * 3 + [0.0] * 2 + [3.0, 20.0, 46.0, 46.0, 46.0]
    record = _record(tmp_path, "50Mbit", "outage:3s,5s", mbps)
    (answer,) = answers_of(record)
    assert (answer.at_s, answer.outage_s, answer.recovered_s) == (5.0, 2.0, 3.0)
    (table,) = (table for table in overview(record) if table.title == "Answers to changes")
    assert table.header == ("at s", "change", "recovered in s")
    assert table.lines == (("5", "outage of 2 s ends", "3.0"),)


def test_a_run_without_changes_has_no_answers(record: Record) -> None:
    assert answers_of(record) == ()
    assert "answers" not in metrics_of(record)
    assert record.plan.droppers == ()
    back = dataclasses.replace(record.plan, droppers=parse_droppers("outage:3s,5s,direction=back"))
    assert back.droppers[0].spans_s == ((3.0, 5.0),)
