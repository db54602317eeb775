"""Companion experiments: what a window's course says, tables, files and verdicts of measures."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path as FilePath

import pandas as pd
import pytest
from matplotlib.axes import Axes

from farpath.analysis import flow_metrics
from farpath.analysis.claims import FAILS, HOLDS, UNDECIDED, judge_all
from farpath.analysis.published import published_measures
from farpath.analysis.results import ResultSet
from farpath.analysis.studies import (
    cbr_background,
    loss_utilisation,
    recovery,
    response,
    sharing,
    window_cap,
)
from farpath.analysis.studies.measure import (
    Measure,
    RecordedRun,
    read_measures,
    select_measures,
    write_measures,
)
from farpath.analysis.studies.registry import ANALYSES, measures_of
from farpath.base.errors import BadInputError
from farpath.base.project import EXPERIMENTS
from farpath.campaign.status import RunStatus
from farpath.planning.experiment import QUICK, WHOLE, load_experiment
from farpath.record.record import Record
from farpath.report.figures.studies import figures
from farpath.report.study import report_of, write_report
from farpath.report.tables.studies import study_tables
from farpath.spec.schedule import Schedule, staggered
from tests.paths import MEDIUM
from tests.unit.companion_runs import LOST_S, write_run

#: 100 ms and a window of 1000 packets.
PATH = dataclasses.replace(MEDIUM, rtt_ms=100, rate_bps=121_120_000, window_bytes=1_448_000)
FELL_S = 10.0


def course(until_s: float, per_s: float = 10.0, before: float = 1000.0) -> pd.DataFrame:
    """A window sampled each second that halves at 10 s and grows by so many packets a second."""
    times = [float(t_s) for t_s in range(1, int(until_s) + 1)]
    windows = [
        before if t_s < FELL_S else min(before, before / 2 + per_s * (t_s - FELL_S))
        for t_s in times
    ]
    return pd.DataFrame({"t_s": times, "window": windows})


def test_a_recovery_that_was_seen_ends_when_the_window_is_what_it_was() -> None:
    found = recovery.find_recovery(course(80), FELL_S, PATH)
    assert found is not None
    assert found.complete
    assert (found.before_packets, found.after_packets) == (1000, 510)
    assert found.time_s == pytest.approx(50, abs=1)


def test_one_whose_end_was_not_seen_is_continued_by_its_growth() -> None:
    found = recovery.find_recovery(course(25), FELL_S, PATH)
    assert found is not None
    assert not found.complete
    assert found.time_s == pytest.approx(50)
    assert found.observed_s == 14


def newcomer(gives_s: float, part: float = 0.5) -> tuple[pd.DataFrame, Schedule]:
    """Two flows of 100 Mbit/s in all: 60 s alone, then a straight way to a part of it."""
    seconds = pd.RangeIndex(1, 121)
    given = (1 - part) * ((seconds - 60) / gives_s).to_series().clip(0, 1).to_numpy()
    first, second = 1e8 * (1 - given), 1e8 * given
    each = pd.DataFrame({"flow1": first, "flow2": second}, index=seconds)
    return each, staggered(["htcp", "htcp"], 60)


@pytest.mark.parametrize("gives_s", [10, 40])
def test_flows_share_when_none_is_further_than_a_fifth_from_half(gives_s: int) -> None:
    # 60 to 40 is reached after 0.8 of the way; what is smoothed over 5 s is a whole second
    each, schedule = newcomer(gives_s)
    assert sharing.share_time_s(each, schedule) == pytest.approx(0.8 * gives_s, abs=1)


@pytest.mark.parametrize("gives_s", [10, 40])
def test_a_flow_has_given_way_when_it_has_half_of_what_it_had(gives_s: int) -> None:
    each, schedule = newcomer(gives_s, part=0.25)
    assert sharing.halving_time_s(each, schedule) == pytest.approx(gives_s * 2 / 3, abs=1)


def test_a_newcomer_that_gets_little_shares_never_and_halves_nobody() -> None:
    each, schedule = newcomer(10, part=0.7)
    assert sharing.share_time_s(each, schedule) is None
    assert sharing.halving_time_s(each, schedule) is None


@pytest.mark.parametrize("until_s", [9, 11])
def test_too_little_growth_says_nothing(until_s: float) -> None:
    assert recovery.find_recovery(course(until_s), FELL_S, PATH) is None


def test_a_window_that_did_not_fall_did_not_recover() -> None:
    steady = course(80)
    steady["window"] = 1000.0
    assert recovery.find_recovery(steady, FELL_S, PATH) is None


def test_a_congestion_window_beyond_the_receivers_counts_no_more_than_that() -> None:
    found = recovery.find_recovery(course(200, before=1800), FELL_S, PATH)
    assert found is not None
    assert found.before_packets == 1000
    assert found.time_s == pytest.approx(10, abs=1)


def test_the_formula_is_the_published_one_for_both_ack_policies() -> None:
    path = dataclasses.replace(PATH, rtt_ms=180, rate_bps=10**9, mtu_bytes=1500)
    assert recovery.formula_s(path, 1) == pytest.approx(1387, abs=1)
    assert recovery.formula_s(path, 2) == 2 * recovery.formula_s(path, 1)


def test_a_stack_without_a_published_rule_has_no_prediction() -> None:
    assert response.predicted_window("fast", PATH, 1e-3, delayed=False) is None
    assert response.predicted_window("reno_2004", PATH, 0.0, delayed=False) is None
    each, second = (
        response.predicted_window("reno_2004", PATH, 1e-3, delayed) for delayed in (0, 1)
    )
    assert each is not None
    assert second is not None
    assert each > second


def measure(experiment: str, quantity: str, value: float, **more: object) -> Measure:
    """A measure of seed 1; ``about`` and other fields in ``more``."""
    fields = {"condition": "a run", "unit": "s", "seed": 1, **more}
    return Measure(experiment=experiment, quantity=quantity, value=value, **fields)  # type: ignore[arg-type]


def recoveries(reno_s: float = 1400.0) -> list[Measure]:
    """Recoveries on the path of 128 ms."""
    about = {"path": "datatag-128", "acks": "delayed", "mtu": "1500"}
    return [
        measure(recovery.EXPERIMENT, recovery.TIME, value, theory=theory,
                about={**about, "stack": stack})
        for stack, value, theory in (
            ("reno_2004", reno_s, 1403.0), ("scalable_2004", 7.0, None), ("hstcp_2004", 19.0, None),
        )
    ]  # fmt: skip


def state_of(claim: str, measures: list[Measure]) -> str:
    """What the companion experiments say of a claim."""
    verdicts = judge_all(ResultSet((), measures=tuple(measures)))
    return next(verdict.state for verdict in verdicts if verdict.id == claim)


def test_measures_are_written_and_read_back(tmp_path: FilePath) -> None:
    known = [*recoveries(), measure("x", "y", float("nan"), published="rec-1", note="so")]
    write_measures(known, tmp_path / "m.json")
    found = read_measures(tmp_path / "m.json")
    assert found[:3] == tuple(known[:3])
    assert found[3].value != found[3].value
    again = (tmp_path / "m.json").read_bytes()
    write_measures(found, tmp_path / "m.json")
    assert (tmp_path / "m.json").read_bytes() == again


@pytest.mark.parametrize("text", ["", "[]", '{"format_version":1}', '{"measures":[]}'])
def test_a_damaged_file_of_measures_is_named(tmp_path: FilePath, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(BadInputError, match=r"m\.json: is (damaged|not JSON)"):
        read_measures(tmp_path / "m.json")


def test_measures_of_another_version_and_none_at_all_are_refused(tmp_path: FilePath) -> None:
    (tmp_path / "m.json").write_text('{"format_version":9,"measures":[]}')
    with pytest.raises(BadInputError, match="version 9"):
        read_measures(tmp_path / "m.json")
    with pytest.raises(BadInputError, match="cannot be read"):
        read_measures(tmp_path / "nothing.json")


def test_measures_are_found_by_what_they_are_about() -> None:
    assert [m.value for m in select_measures(recoveries(), recovery.TIME, stack="hstcp_2004")] == [
        19.0
    ]
    assert select_measures(recoveries(), recovery.TIME, stack="udt") == []


def test_a_table_has_theory_and_published_beside_the_measured() -> None:
    (sheet,) = study_tables([measure("recovery", "time", 1500.0, theory=1387.0, published="rec-1")])
    row = sheet.text.rows[0]
    assert row[2:7] == ("1,500 s", "1,387", "+8 %", "1,380", "+9 %")
    assert sheet.data[0][5:9] == (1500.0, 1387.0, 1380.0, "rec-1")


def test_a_table_of_response_functions_has_a_deviation_where_losses_hold_the_window() -> None:
    def of(drop: str, limit: str) -> list[Measure]:
        about = {"path": "mb-ng", "stack": "ltcp", "drop": drop, "limit": limit}
        return [
            measure(response.EXPERIMENT, response.WINDOW, 110.0, theory=100.0, about=about),
            measure(response.EXPERIMENT, response.THROUGHPUT, 250.0, about=about),
        ]

    known = [*of("random:1e-3", response.BY_LOSS), *of("random:1e-5", "path")]
    (sheet,) = study_tables(known, {})
    assert sheet.text.header == ("path", "stack", "random:1e-3", "random:1e-5")
    assert sheet.text.rows == (("mb-ng", "ltcp", "250 (+10 %)", "250"),)
    assert len(sheet.data) == 4


def test_every_published_number_belongs_to_an_experiment_and_is_one() -> None:
    assert all(each.value > 0 for each in published_measures().values())
    used = [*recovery.PUBLISHED.values(), *recovery.MEASURED.values()]
    used += loss_utilisation.PUBLISHED.values()
    assert set(used) <= set(published_measures())


def test_without_measures_companion_claims_are_undecided_and_name_their_experiment() -> None:
    verdicts = {verdict.id: verdict for verdict in judge_all(ResultSet(()))}
    for claim in ("C21", "C22", "C23", "C24", "C27", "C28"):
        assert verdicts[claim].state == UNDECIDED
        assert "needs the experiment" in verdicts[claim].why


def test_twenty_minutes_for_reno_and_seconds_for_the_others_is_what_the_panel_said() -> None:
    assert state_of("C22", recoveries()) == HOLDS
    assert state_of("C22", recoveries(reno_s=300)) == FAILS
    assert state_of("C22", recoveries()[1:]) == UNDECIDED


def test_the_formula_holds_if_no_path_is_further_than_a_tenth_from_it() -> None:
    def both(acks: str, value: float) -> Measure:
        about = {"path": "p", "stack": "reno_2004", "acks": acks, "mtu": "1500"}
        return measure(recovery.EXPERIMENT, recovery.TIME, value, theory=100.0, about=about)

    assert state_of("C23", [both("each", 105), both("delayed", 95)]) == HOLDS
    assert state_of("C23", [both("each", 105), both("delayed", 80)]) == FAILS
    assert state_of("C23", [both("each", 105)]) == UNDECIDED


def test_jumbo_frames_are_held_against_the_same_path_without() -> None:
    def one(path: str, mtu: str, value: float) -> Measure:
        about = {"path": path, "stack": "reno_2004", "acks": "each", "mtu": mtu, "drop": "at:1s"}
        return measure(recovery.EXPERIMENT, recovery.TIME, value, about=about)

    pair = [one("a", "1500", 600), one("a-jumbo", "9000", 100)]
    assert state_of("C28", pair) == HOLDS
    assert state_of("C28", [pair[0], one("a-jumbo", "9000", 200)]) == FAILS
    assert state_of("C28", pair[1:]) == UNDECIDED


def test_a_lan_and_a_wan_are_held_against_what_a_loss_of_1e_4_leaves_of_them() -> None:
    def one(path: str, value: float) -> Measure:
        about = {"path": path, "drop": "random:1e-4"}
        return measure(
            loss_utilisation.EXPERIMENT, loss_utilisation.UTILISATION, value, about=about
        )

    assert state_of("C24", [one("lan", 0.99), one("wan", 0.012)]) == HOLDS
    assert state_of("C24", [one("lan", 0.99), one("wan", 0.12)]) == FAILS
    assert state_of("C24", [one("lan", 0.99)]) == UNDECIDED


def test_one_packet_sent_again_is_too_many_for_a_capped_window() -> None:
    def both(again: float) -> list[Measure]:
        about = {"ip": "4", "seconds": "30"}
        return [
            measure(window_cap.EXPERIMENT, window_cap.RETRANSMITTED, again, about=about),
            measure(window_cap.EXPERIMENT, window_cap.UTILISATION, 0.99, about=about),
        ]

    assert state_of("C27", both(0)) == HOLDS
    assert state_of("C27", both(1)) == FAILS


def test_what_a_path_carries_of_payload_is_less_over_ipv6() -> None:
    over = {version: flow_metrics.goodput_bps(PATH, version) / PATH.rate_bps for version in (4, 6)}
    # Beside Ethernet's 14 bytes TCP's 32 with timestamps, and IP's 20 or 40
    assert over[4] == pytest.approx((1514 - 14 - 32 - 20) / 1514)
    assert over[6] == pytest.approx((1514 - 14 - 32 - 40) / 1514)


def test_only_windows_that_losses_hold_are_judged_by_the_response_function() -> None:
    def one(stack: str, value: float, limit: str) -> Measure:
        about = {"stack": stack, "limit": limit, "drop": "random:1e-3"}
        return measure(response.EXPERIMENT, response.WINDOW, value, theory=100.0, about=about)

    good = [one("reno_2004", 110, "loss"), one("ltcp", 95, "loss")]
    assert state_of("C21", [*good, one("bic_2004", 20, "path")]) == HOLDS
    assert state_of("C21", [*good, one("bic_2004", 20, "loss")]) == FAILS


def test_the_companion_is_made_of_the_experiments_that_have_an_analysis() -> None:
    assert load_experiment("companion").parts == tuple(ANALYSES)


def test_figures_are_of_the_measures_of_their_own_experiment() -> None:
    about = {"stack": "reno_2004", "path": "mb-ng", "drop": "random:1e-3", "loss": "0.001"}
    known = [
        measure(response.EXPERIMENT, response.WINDOW, 41.0, theory=40.0, about=about),
        measure(
            cbr_background.EXPERIMENT, cbr_background.WINDOW, 1300.0, about={"path": "mb-ng-cbr"}
        ),
        measure(loss_utilisation.EXPERIMENT, loss_utilisation.UTILISATION, 0.01, about=about),
    ]
    drawn = dict(figures(known, []))
    assert list(drawn) == ["response-function", "loss-utilisation"]
    (axes,) = drawn["response-function"].axes
    assert [line.get_ydata()[0] for line in axes.lines] == [41.0, 40.0]


def done_of(folder: FilePath, experiment: str, which: str) -> list[RecordedRun]:
    """The runs of a set with synthetic records."""
    runs = load_experiment(experiment).runs(which)
    return [RecordedRun(run, write_run(folder / str(place), run)) for place, run in enumerate(runs)]


def drawn(done: list[RecordedRun], name: str) -> list[Axes]:
    """The frames of the one figure of an experiment's runs."""
    ((stem, figure),) = figures(measures_of(done), done)
    assert stem == name
    return figure.axes


@pytest.mark.parametrize("name", [sharing.MTU_BIAS, sharing.RTT_BIAS])
def test_flows_that_differ_are_drawn_with_means_a_frame_for_each_run(
    tmp_path: FilePath, name: str
) -> None:
    frames = drawn(done_of(tmp_path, name, WHOLE), name)
    assert len(frames) == 2
    # Flow 2 has half of what flow 1 has of 1 Gbit/s
    for axes in frames:
        means = [lines.get_segments()[0][0][1] for lines in axes.collections]
        assert means == pytest.approx([500, 250])
    first = [text.get_text() for text in frames[0].get_legend().get_texts()]
    assert first[0].startswith("9000 bytes, 117 ms: mean 500, published ")


def test_a_held_window_is_drawn_for_each_ip_version(tmp_path: FilePath) -> None:
    frames = drawn(done_of(tmp_path, window_cap.EXPERIMENT, QUICK), window_cap.EXPERIMENT)
    assert [axes.get_title() for axes in frames[:2]] == ["IPv4", "IPv6"]
    windows_mb = frames[2].lines[0].get_ydata()
    assert (max(windows_mb), min(windows_mb)) == pytest.approx((223.8, 111.9), rel=0.2)


def test_dips_are_drawn_with_what_befell_the_window_with_sack_and_without(
    tmp_path: FilePath,
) -> None:
    frames = drawn(done_of(tmp_path, cbr_background.EXPERIMENT, WHOLE), cbr_background.EXPERIMENT)
    assert len(frames) == 2
    assert ["without SACK" in axes.get_title(loc="left") for axes in frames] == [False, True]
    for axes in frames:
        _, recoveries, timeouts = axes.lines
        # Two rows in a recovery are one
        assert list(recoveries.get_xdata()) == [LOST_S + 0.1]
        assert list(timeouts.get_xdata()) == [LOST_S + 1]


def test_stacks_are_drawn_beside_one_reno_and_four_and_say_which_never_share() -> None:
    def one(stack: str, quantity: str, value: float, **about: str) -> Measure:
        about = {"stack": stack, "schedule": "together", **about}
        return measure(sharing.INTER_PROTOCOL, quantity, value, about=about)

    known = [
        one("ltcp+reno_2004", sharing.FRIENDLINESS, 0.4),
        one("ltcp+reno_2004", sharing.UTILISATION, 0.9),
        one("ltcp+4xreno_2004", sharing.FRIENDLINESS, 0.8),
        one("ltcp+ltcp", sharing.CONVERGENCE, 12.0),
        one("fast+fast", sharing.CONVERGENCE, float("nan")),
        one("fast", sharing.UTILISATION, 0.7, reverse="reno_2004"),
        one("fast", sharing.UTILISATION, 0.2, reorder="0.001"),
    ]
    ((_, figure),) = figures(known, [])
    friendly, times, alone = figure.axes
    assert [list(line.get_xdata()) for line in friendly.lines[:2]] == [[0.4], [0.8]]
    assert list(times.lines[0].get_xdata()) == [12.0]
    (never,) = times.texts
    assert (never.get_text().strip(), never.get_position()[1]) == ("never", 1)
    assert [list(line.get_xdata()) for line in alone.lines] == [[0.7], [0.2]]


def test_recoveries_of_hours_do_not_hide_those_of_seconds(tmp_path: FilePath) -> None:
    runs = load_experiment(recovery.EXPERIMENT).runs(WHOLE)
    mine = [run for run in runs if run.asked.path == "datatag-128"]
    done = [
        RecordedRun(run, write_run(tmp_path / str(place), run)) for place, run in enumerate(mine)
    ]
    ((name, figure),) = figures([], done)
    assert name == "recovery-datatag-128"
    ends_s = [max(axes.lines[0].get_xdata()) for axes in figure.axes]
    assert ends_s == pytest.approx([120, 300, 1500], abs=1)
    assert sum(len(axes.lines) for axes in figure.axes) == len(mine)


def test_a_report_reads_each_record_once(tmp_path: FilePath) -> None:
    found = [
        RunStatus(each.run, each.record.directory.name, each.record.directory)
        for each in done_of(tmp_path / "records", recovery.EXPERIMENT, QUICK)
    ]
    unmade = RunStatus(found[0].run, "unmade", None)
    made = report_of([*found, unmade], EXPERIMENTS)
    assert [each.run.plan for each in made.done] == [state.run.plan for state in found]
    shutil.rmtree(tmp_path / "records")
    write_report(made, tmp_path / "report")
    assert read_measures(tmp_path / "report" / "measures.json") == made.measures
    pictures = {file.name for file in (tmp_path / "report" / "figures").iterdir()}
    paths = {state.run.asked.path for state in found}
    assert pictures == {f"recovery-{path}.{kind}" for path in paths for kind in ("png", "svg")}
    assert (tmp_path / "report" / "tables" / "recovery.csv").is_file()
    assert "C23" in (tmp_path / "report" / "claims" / "claims.txt").read_text()


def test_what_a_flow_carries_is_counted_by_whole_seconds(record: Record) -> None:
    # A flow's last row may be of a millisecond, and of any throughput
    flow1 = record.plan.schedule.flows[0].name
    whole_s = record.plan.schedule.duration_s
    rows = record.samples.flows
    last = (
        rows[rows["flow"] == flow1]
        .iloc[[-1]]
        .assign(t_s=lambda row: row["t_s"] + 0.001, throughput_bps=1e12)
    )
    samples = dataclasses.replace(record.samples, flows=pd.concat([rows, last]))
    longer = Record(record.directory, record.data)
    vars(longer)["samples"] = samples
    plain, with_last = flow_metrics.mean_bps(record, flow1), flow_metrics.mean_bps(longer, flow1)
    assert abs(with_last - plain) <= 1e9 / (0.75 * whole_s) * 1.01
