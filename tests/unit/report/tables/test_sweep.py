"""Tables and figures of a sweep: who got how much, and no more dimensions than there are."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path as FilePath

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from farpath.metrics.results import run_summary
from farpath.planning.request import RunRequest
from farpath.report.figures.save import save
from farpath.report.figures.stack_colours import look_of
from farpath.report.figures.style import print_style
from farpath.report.figures.sweep_cells import draw_sweep
from farpath.report.table import as_csv
from farpath.report.tables.sweep import shares_table, sweep_table
from farpath.report.tables.sweep_results import SweepResults, check_column
from farpath.runs.make import MadeRun, MadeSet
from farpath.runs.run_set import RunSet, product_set
from tests.support.lesson_runs import Curve, write_lesson_run
from tests.support.refusals import refused

BUFFERS = {"buffer": ("0.25xBDP", "1xBDP", "16xBDP")}


def planned(axes: Mapping[str, tuple[str, ...]], seeds: int = 1, **options: str) -> RunSet:
    """A sweep of short runs, in which nothing has to be built."""
    texts = {"rtt": "50ms", "rate": "20Mbit", "time": "5s", "sample": "100ms"} | options
    return product_set(RunRequest(**texts), axes, seeds)


def made(out: FilePath, sweep: RunSet, rtt_ms: Curve = lambda _t_s, _flow: 50.0) -> SweepResults:
    """Records of a sweep: the k-th run's first flow gets k Mbit/s, its second 2, a third 3."""
    swept = []
    for number, run in enumerate(sweep.runs, 1):
        record = write_lesson_run(
            out / str(number), run.plan, throughput_mbps=rates(number), rtt_ms=rtt_ms
        )
        swept.append(MadeRun(run, record.directory, record.fingerprint, run_summary(record)))
    return SweepResults(MadeSet(sweep, out, tuple(swept)))


def rates(first_mbps: int) -> Curve:
    """The throughput of each flow, by its number from 0."""
    return lambda _t_s, flow: float(flow + 1) if flow else float(first_mbps)


def rows_of(results: SweepResults) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(sweep_table(results)))))


def test_each_flow_of_each_run_has_its_stack_throughput_and_share(tmp_path: FilePath) -> None:
    results = made(tmp_path, planned(BUFFERS, stack="bbr+cubic"))
    rows = rows_of(results)
    assert [(row["flow1_stack"], row["flow2_stack"]) for row in rows] == [("bbr", "cubic")] * 3
    assert [float(row["flow1_throughput_mbps"]) for row in rows] == pytest.approx([1, 2, 3])
    assert [float(row["flow1_share"]) for row in rows] == pytest.approx([1 / 3, 1 / 2, 3 / 5])
    assert [float(row["flow2_share"]) for row in rows] == pytest.approx([2 / 3, 1 / 2, 2 / 5])
    header = sweep_table(results).header
    assert header[-2:] == ("flow1 bbr share", "flow2 cubic share")
    assert not any(word.startswith("stab") for row in rows for word in row)
    assert all(row["cov"] for row in rows)


def test_the_rtts_of_flows_stand_beside_the_pings_of_each_run_and_of_each_flow(
    tmp_path: FilePath,
) -> None:
    sweep = planned({"buffer": ("1xBDP",)}, stack="bbr+cubic")
    results = made(tmp_path, sweep, rtt_ms=lambda _t_s, flow: (60.0, 100.0)[flow])
    (row,) = rows_of(results)
    assert float(row["rtt_p99_ms"]) == pytest.approx(50)
    assert float(row["smoothed_rtt_median_ms"]) == pytest.approx(80)
    assert float(row["smoothed_rtt_p99_ms"]) == pytest.approx(100)
    assert float(row["flow1_smoothed_rtt_median_ms"]) == pytest.approx(60)
    assert float(row["flow2_smoothed_rtt_p99_ms"]) == pytest.approx(100)
    table = sweep_table(results)
    text = dict(zip(table.header, table.lines[0], strict=True))
    assert (text["ping p99 ms"], text["flow RTT median ms"]) == ("50.0", "80.0")
    for key in ("smoothed_rtt_p99_ms", "flow2_smoothed_rtt_median_ms"):
        check_column(key, sweep)
        assert drawn(results, tmp_path, key).axes[0].get_ylabel() == "ms"


def test_flows_that_report_no_rtt_have_a_dash_and_an_empty_field(tmp_path: FilePath) -> None:
    results = made(tmp_path, planned(BUFFERS, stack="reno"), rtt_ms=lambda _t_s, _flow: 0.0)
    table = sweep_table(results)
    column = table.header.index("flow RTT p99 ms")
    assert {line[column] for line in table.lines} == {"-"}
    assert {row["smoothed_rtt_p99_ms"] for row in rows_of(results)} == {""}


def test_runs_with_fewer_flows_leave_the_fields_of_others_empty(tmp_path: FilePath) -> None:
    results = made(tmp_path, planned({"stack": ("reno", "2xcubic+bbr")}))
    one, three = rows_of(results)
    assert (one["flow1_share"], one["flow2_share"], one["flow3_stack"]) == ("1.0", "", "")
    assert (three["flow2_stack"], three["flow3_stack"]) == ("cubic", "bbr")


def test_runs_of_one_flow_have_no_columns_of_flows(tmp_path: FilePath) -> None:
    results = made(tmp_path, planned(BUFFERS, stack="cubic"))
    assert not [name for name in rows_of(results)[0] if name.startswith("flow")]
    assert shares_table(results) is None


def test_shares_have_means_and_intervals_over_seeds(tmp_path: FilePath) -> None:
    results = made(tmp_path, planned({"buffer": ("1xBDP",)}, seeds=2, stack="bbr+cubic"))
    table = shares_table(results)
    assert table is not None
    ((buffer, seeds, first, second),) = table.data
    assert (buffer, seeds) == ("1xBDP", 2)
    assert (first, second) == pytest.approx(((1 / 3 + 1 / 2) / 2, (2 / 3 + 1 / 2) / 2))


def test_a_column_that_the_sweep_will_not_have_is_refused_before_it_is_made() -> None:
    check_column("flow2_share", planned(BUFFERS, stack="bbr+cubic"))
    for key in ("flow2_share", "stability"):
        with refused("metric", key):
            check_column(key, planned(BUFFERS, stack="cubic"))


def drawn(results: SweepResults, tmp_path: FilePath, key: str = "throughput_mbps") -> Figure:
    figure = draw_sweep(results, key)
    save(figure, tmp_path / "figure.png")
    return figure


def test_one_swept_option_gives_a_line_and_the_flows_shares_in_their_stacks_colours(
    tmp_path: FilePath,
) -> None:
    figure = drawn(made(tmp_path, planned(BUFFERS, stack="bbr+cubic")), tmp_path)
    upper, lower = figure.axes
    assert not upper.images
    assert upper.get_title() == "Throughput (Mbit/s)"
    assert upper.get_ylim()[1] > 5
    assert (lower.get_xlabel(), lower.get_xscale()) == ("buffer", "log")
    assert [text.get_text() for text in lower.get_xticklabels()] == list(BUFFERS["buffer"])
    curves = {line.get_label(): line for line in lower.get_lines() if line.get_linestyle() == "-"}
    assert curves["flow1 bbr"].get_color() == look_of("bbr").colour
    assert curves["flow2 cubic"].get_color() == look_of("cubic").colour
    assert np.asarray(curves["flow1 bbr"].get_ydata()) == pytest.approx([1 / 3, 1 / 2, 3 / 5])


def test_an_option_that_is_no_number_gives_dots_without_a_line(tmp_path: FilePath) -> None:
    figure = drawn(made(tmp_path, planned({"stack": ("reno", "cubic")})), tmp_path)
    (axes,) = figure.axes
    assert {line.get_linestyle() for line in axes.get_lines()} == {"None"}
    colours = [line.get_color() for line in axes.get_lines()]
    assert colours == [look_of("reno").colour, look_of("cubic").colour]


@pytest.mark.parametrize(
    ("key", "least_is_light"), [("rtt_p99_ms", True), ("throughput_mbps", False)]
)
def test_a_heat_map_is_light_where_it_is_good_and_its_words_are_within_the_picture(
    tmp_path: FilePath, key: str, least_is_light: bool
) -> None:
    axes = {"rtt": ("10ms", "40ms"), "loss": ("0", "1e-3")}
    figure = drawn(made(tmp_path, planned(axes, stack="cubic")), tmp_path, key)
    cells, bar = figure.axes
    (image,) = cells.images
    low, high = image.to_rgba(np.array(image.get_clim()))[:, :3].sum(axis=1)
    assert (low > high) == least_is_light
    assert (cells.get_ylabel(), cells.get_xlabel()) == ("base RTT", "random loss")
    assert bar.get_ylabel() in ("ms", "Mbit/s")
    # Nothing is cut off at the edges
    with print_style():
        FigureCanvasAgg(figure).draw()
    words = [figure._suptitle, bar.yaxis.label, cells.xaxis.label, cells.yaxis.label]  # type: ignore[attr-defined]
    for text in words:
        box = text.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
