"""Figures of studies, drawn from synthetic records."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from experiments.cbr_background import analysis as cbr_background
from experiments.cpu_streams import analysis as cpu_streams
from experiments.cross_traffic import analysis as cross_traffic
from experiments.disks import analysis as disks
from experiments.end_hosts import analysis as end_hosts
from experiments.inter_protocol import analysis as inter_protocol
from experiments.loss_utilisation import analysis as loss_utilisation
from experiments.mtu_bias import analysis as mtu_bias
from experiments.outlook import analysis as outlook
from experiments.parallel_streams import analysis as parallel_streams
from experiments.recovery import analysis as recovery
from experiments.response_function import analysis as response
from experiments.rtt_bias import analysis as rtt_bias
from experiments.tuning import analysis as tuning
from experiments.udp import analysis as udp
from experiments.window_cap import analysis as window_cap
from farpath.base.experiment_modules import FIGURE, experiment_module
from farpath.metrics.measures import Measure
from farpath.report.figures.experiments import figures
from farpath.report.figures.stack_colours import look_of, looks_of
from farpath.runs.analyses import measures_of
from farpath.runs.experiment import QUICK, WHOLE, RecordedRun, load_experiment
from tests.support.curves import xs, ys
from tests.support.study_measures import measure
from tests.support.study_runs import ALL_ANALYSES, LOST_S, write_recorded_runs, write_run


def test_every_experiment_has_a_figure() -> None:
    for name in ALL_ANALYSES:
        assert experiment_module(name, FIGURE) is not None


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
    assert [ys(line)[0] for line in axes.lines] == [41.0, 40.0]
    assert {line.get_color() for line in axes.lines} == {look_of("reno_2004").colour}


def drawn(done: list[RecordedRun], name: str) -> list[Axes]:
    """The frames of the one figure of an experiment's runs."""
    ((stem, figure),) = figures(measures_of(done), done)
    assert stem == name
    return figure.axes


@pytest.mark.parametrize("name", [mtu_bias.EXPERIMENT, rtt_bias.EXPERIMENT])
def test_flows_that_differ_are_drawn_with_means_a_frame_for_each_run(
    tmp_path: FilePath, name: str
) -> None:
    frames = drawn(write_recorded_runs(tmp_path, name, WHOLE), name)
    # Shades of the colour of their stack
    colours = [look.colour for look in looks_of(["reno_2004"] * 2)]
    assert list(dict.fromkeys(line.get_color() for line in frames[0].lines)) == colours
    # Two runs on exact hosts, and three seeds of each on hosts with jitter
    assert len(frames) == 8
    # Flow 2 has half of what flow 1 has of 1 Gbit/s
    for axes in frames:
        lines = [each for each in axes.collections if isinstance(each, LineCollection)]
        means = [np.asarray(each.get_segments()[0])[0][1] for each in lines]
        assert means == pytest.approx([500, 250])
    legend = frames[0].get_legend()
    assert legend is not None
    first = [text.get_text() for text in legend.get_texts()]
    assert first[0].startswith("9000 bytes, 117 ms: mean 500, published ")


def test_a_held_window_is_drawn_for_each_ip_version(tmp_path: FilePath) -> None:
    frames = drawn(
        write_recorded_runs(tmp_path, window_cap.EXPERIMENT, QUICK), window_cap.EXPERIMENT
    )
    titles = [axes.get_title() for axes in frames[:4]]
    assert sorted(titles) == ["IPv4", "IPv4, 1.5 BDP", "IPv4, 2004", "IPv6"]
    windows_mb = ys(frames[4 + titles.index("IPv6")].lines[0])
    assert (max(windows_mb), min(windows_mb)) == pytest.approx((223.8, 111.9), rel=0.2)


def test_dips_are_drawn_with_what_befell_the_window_with_sack_and_without(
    tmp_path: FilePath,
) -> None:
    frames = drawn(
        write_recorded_runs(tmp_path, cbr_background.EXPERIMENT, WHOLE), cbr_background.EXPERIMENT
    )
    assert len(frames) == 2
    assert ["without SACK" in axes.get_title(loc="left") for axes in frames] == [False, True]
    for axes in frames:
        _, recoveries, timeouts = axes.lines
        # Two rows in a recovery are one
        assert xs(recoveries) == [LOST_S + 0.1]
        assert xs(timeouts) == [LOST_S + 1]


def test_stacks_are_drawn_beside_one_reno_and_four_and_say_which_never_share() -> None:
    def one(stack: str, quantity: str, value: float, **about: str) -> Measure:
        about = {"stack": stack, "schedule": "together", **about}
        return measure(inter_protocol.EXPERIMENT, quantity, value, about=about)

    known = [
        one("ltcp+reno_2004", inter_protocol.FRIENDLINESS, 0.4),
        one("ltcp+reno_2004", inter_protocol.UTILISATION, 0.9),
        one("ltcp+4xreno_2004", inter_protocol.FRIENDLINESS, 0.8),
        one("ltcp+ltcp", inter_protocol.CONVERGENCE, 12.0),
        one("fast+fast", inter_protocol.CONVERGENCE, float("nan")),
        one("fast", inter_protocol.UTILISATION, 0.7, reverse="reno_2004"),
        one("fast", inter_protocol.UTILISATION, 0.2, reorder="0.001"),
    ]
    ((_, figure),) = figures(known, [])
    friendly, times, alone = figure.axes
    # Marks without a place are those of the legend
    friendly_marks = [line for line in friendly.lines if xs(line)][:2]
    assert [xs(line) for line in friendly_marks] == [[0.4], [0.8]]
    assert {line.get_color() for line in friendly_marks} == {look_of("ltcp").colour}
    assert xs(times.lines[0]) == [12.0]
    (never,) = times.texts
    assert (never.get_text().strip(), never.get_position()[1]) == ("never", 1)
    assert [xs(line) for line in alone.lines if xs(line)] == [[0.7], [0.2]]


def test_streams_and_windows_are_a_matrix_with_what_is_published_in_brackets() -> None:
    def cell(path: str, streams: int, window: int, value: float, published: str = "") -> Measure:
        about = {"path": path, "streams": str(streams), "window": str(window)}
        about |= {"mtu": "1500", "toe": "no", "stack": "reno_2004"}
        return measure(
            parallel_streams.EXPERIMENT, parallel_streams.SUM, value, about=about,
            published=published,
        )  # fmt: skip

    known = [
        cell("wide", 16, 2_000_000, 3600.0, "sc-1"),
        cell("wide", 4, 512_000, 230.0),
        cell("room", 40, 104_000, 6400.0),
    ]
    deviation = dataclasses.replace(
        known[0], quantity=parallel_streams.DEVIATION, value=1.0, published="sc-9"
    )
    others = [
        dataclasses.replace(known[2], value=9e9, about={**known[2].about, **change})
        for change in ({"stack": "udt"}, {"reverse": "40"})
    ]
    ((_, figure),) = figures([*known, deviation, *others], [])
    wide, room = figure.axes
    assert [text.get_text() for text in wide.texts] == [
        "3.60\n+-0.001\n(7.42\n+-0.009)", "0.23",
    ]  # fmt: skip
    assert [text.get_position() for text in wide.texts] == [(1, 1), (0, 0)]
    assert [label.get_text() for label in wide.get_xticklabels()] == ["4", "16"]
    assert [text.get_text() for text in room.texts] == ["6.40"]


def test_settings_are_a_ladder_and_below_it_all_but_one() -> None:
    mechanisms = {
        "untuned": 4.0, "buffers": 80.0, "cache": 4.0, "sack": 4.0, "to-cache": 85.0,
        "tuned": 900.0, "without-buffers": 5.0, "without-cache": 100.0, "without-sack": 890.0,
    }  # fmt: skip
    known = [
        measure(
            tuning.EXPERIMENT, quantity, value, note=note,
            about={"path": "wide", "mechanism": mechanism},
        )
        for mechanism, mbps in mechanisms.items()
        for quantity, value, note in (
            (tuning.THROUGHPUT, mbps, ""),
            (tuning.FILL_TIME, 2.0 if mbps > 500 else 60.0, "" if mbps > 500 else "never full"),
        )
    ]  # fmt: skip
    ((_, figure),) = figures(known, [])
    rates, times = figure.axes
    assert [label.get_text() for label in rates.get_yticklabels()] == [
        "as delivered", "+ buffers", "+ no cached threshold", "+ SACK off",
        "all but: buffers", "all but: no cached threshold", "all but: SACK off",
    ]  # fmt: skip
    assert [text.get_text() for text in rates.texts] == [
        "4", "80 (x 20)", "85 (x 21.2)", "900 (x 225)", "5 (x 1.25)", "100 (x 25)", "890 (x 222)",
    ]  # fmt: skip
    assert [text.get_text() for text in times.texts] == [
        "60+", "60+", "60+", "2", "60+", "60+", "2",
    ]  # fmt: skip


def test_one_flow_of_a_stack_stands_beside_streams_of_reno() -> None:
    def one(stack: str, path: str, value: float, schedule: str = "together") -> list[Measure]:
        about = {"stack": stack, "path": path, "schedule": schedule}
        return [
            measure(outlook.EXPERIMENT, quantity, value, about=about)
            for quantity in (outlook.MEAN, outlook.STABILITY)
        ]

    known = [*one("htcp_2004", "cern", 300.0), *one("4xreno_2004", "cern", 280.0)]
    ((_, figure),) = figures([*known, *one("africa", "cern", 5.0, "seven-regions")], [])
    mean, _ = figure.axes
    assert [label.get_text() for label in mean.get_yticklabels()] == [
        "htcp_2004", "4xreno_2004", "africa, seven-regions",
    ]  # fmt: skip
    assert [xs(line) for line in mean.lines] == [[300.0, 280.0, 5.0]]
    # Paths of 480 Mbit/s and 10 Gbit/s are in one frame
    assert mean.get_xscale() == "log"


def test_hosts_have_a_curve_each_over_their_load() -> None:
    def one(cpu: str, load: int, value: float) -> Measure:
        about = {"cpu": cpu, "load": str(load), "rtt": "1", "processors": "1"}
        return measure(end_hosts.EXPERIMENT, end_hosts.THROUGHPUT, value, theory=value, about=about)

    ((_, figure),) = figures([one("1.2", 3, 200.0), one("1.2", 0, 900.0), one("2.8", 0, 940.0)], [])
    (axes,) = figure.axes
    assert [xs(line) for line in axes.lines[::2]] == [[0, 3], [0]]
    assert axes.get_legend_handles_labels()[1] == ["1 x 1.2 GHz, 1 ms", "1 x 2.8 GHz, 1 ms"]


def test_cross_traffic_is_drawn_on_what_reno_gets_beside_it() -> None:
    def one(beside: str, quantity: str, value: float, path: str = "cern") -> Measure:
        about = {"path": path, "beside": beside}
        return measure(cross_traffic.EXPERIMENT, quantity, value, about=about)

    known = [
        one(beside, quantity, value)
        for beside, reno in (("nothing", 250.0), ("fast", 100.0))
        for quantity, value in (
            (cross_traffic.RENO, reno), (cross_traffic.RTT_MEAN, 170.0),
            (cross_traffic.RTT_STD, 9.0),
        )
    ]  # fmt: skip
    ((_, figure),) = figures([*known, one("fast", cross_traffic.CROSS, 200.0)], [])
    rates, rtts = figure.axes
    # Bars of a standard deviation on each side of the mean
    (deviations,) = rtts.collections
    assert isinstance(deviations, LineCollection)
    spans = [np.asarray(segment)[:, 0].tolist() for segment in deviations.get_segments()]
    assert spans == [[161.0, 179.0]] * 2
    widths = [bar.get_width() for bar in rates.patches if isinstance(bar, Rectangle)]
    assert widths == [250.0, 100.0, 0.0, 200.0]
    reno, third = (look_of(stack).colour for stack in ("reno", "fast"))
    assert [to_hex(rates.patches[index].get_facecolor()) for index in (0, 1, 3)] == [
        reno, reno, third,
    ]  # fmt: skip
    labels = [label.get_text() for label in rates.get_yticklabels()]
    assert labels == ["beside nothing", "beside fast"]


def test_short_flows_have_a_frame_for_each_class_of_sizes() -> None:
    def one(beside: str, sizes: str, scale: float) -> list[Measure]:
        about = {"path": "cern", "beside": beside, "sizes": sizes}
        return [
            measure(cross_traffic.EXPERIMENT, quantity, scale * value, about=about)
            for quantity, value in (
                (cross_traffic.MEDIAN, 170.0), (cross_traffic.P95, 340.0),
                (cross_traffic.P99, 900.0),
            )
        ]  # fmt: skip

    known = [
        *one("short flows", "less than 10 kB", 1), *one("short flows", "1 MB or more", 4),
        *one("fast and short flows", "less than 10 kB", 2),
        *one(cross_traffic.ALONE, "less than 10 kB", 1),
    ]  # fmt: skip
    ((name, figure),) = figures(known, [])
    assert name == "cross-traffic-short-flows"
    small, large = figure.axes
    assert [axes.get_title(loc="left") for axes in (small, large)] == [
        "flows of less than 10 kB", "flows of 1 MB or more",
    ]  # fmt: skip
    assert [xs(line) for line in small.lines] == [
        [170.0, 340.0, 170.0], [340.0, 680.0, 340.0], [900.0, 1800.0, 900.0],
    ]  # fmt: skip
    assert [xs(line) for line in large.lines] == [[680.0], [1360.0], [3600.0]]
    assert [label.get_text() for label in small.get_yticklabels()] == [
        "Reno", "Reno and fast", "no long flow",
    ]  # fmt: skip


def test_datagrams_have_a_curve_for_each_size_and_bottleneck() -> None:
    def both(size: int, spacing: int, rate: int, beside: str = "") -> list[Measure]:
        about = {"size": f"{size}", "spacing": f"{spacing}", "rate": f"{rate}", "beside": beside}
        return [
            measure(udp.EXPERIMENT, quantity, value, theory=value, about=about)
            for quantity, value in ((udp.THROUGHPUT, 8 * size / spacing), (udp.LOSS, 0.1))
        ]

    known = [*both(400, 20, 1000), *both(400, 10, 1000), *both(400, 10, 622)]
    crossing = measure(
        udp.EXPERIMENT, udp.TCP_THROUGHPUT, 400.0,
        about={"size": "400", "spacing": "10", "rate": "1000", "beside": "reno_2004"},
    )  # fmt: skip
    ((_, figure),) = figures([*known, *both(400, 10, 1000, "reno_2004"), crossing], [])
    throughput, loss, rates, lost = figure.axes
    assert [xs(line) for line in throughput.lines[::2]] == [[10, 20], [10]]
    assert throughput.get_legend_handles_labels()[1] == [
        "400 bytes, bottleneck of 1000 Mbit/s", "400 bytes, bottleneck of 622 Mbit/s",
    ]  # fmt: skip
    assert loss.get_ylim()[0] == 0
    # Beside TCP: 8 bits of 400 bytes every 10 us, and TCP's on it
    bars = [bar for bar in rates.patches if isinstance(bar, Rectangle)]
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [(0, 320), (320, 400)]
    colours = [look_of(stack).colour for stack in ("udp", "reno_2004")]
    assert [to_hex(bar.get_facecolor()) for bar in bars] == colours
    assert [bar.get_width() for bar in lost.patches if isinstance(bar, Rectangle)] == [0.1]


def test_the_jitter_of_datagrams_has_a_row_of_its_own() -> None:
    about = {"size": "400", "spacing": "10", "rate": "1000", "beside": ""}
    quantities = (udp.THROUGHPUT, udp.LOSS, udp.JITTER, udp.JITTER_P99)
    measures = [measure(udp.EXPERIMENT, each, 3.0, theory=0.0, about=about) for each in quantities]
    ((_, figure),) = figures(measures, [])
    _, _, means, percentiles = figure.axes
    assert (means.get_ylabel(), percentiles.get_ylabel()) == (
        "one-way jitter, mean (us)", "one-way jitter, 99th percentile (us)",
    )  # fmt: skip
    assert [xs(line) for line in percentiles.lines[::2]] == [[10]]


def test_recoveries_of_hours_do_not_hide_those_of_seconds(tmp_path: FilePath) -> None:
    runs = load_experiment(recovery.EXPERIMENT).runs(WHOLE)
    mine = [run for run in runs if run.request.path == "datatag-128"]
    done = [
        RecordedRun(run, write_run(tmp_path / str(number), run)) for number, run in enumerate(mine)
    ]
    ((name, figure),) = figures([], done)
    assert name == "recovery-datatag-128"
    ends_s = [max(xs(axes.lines[0])) for axes in figure.axes]
    assert ends_s == pytest.approx([120, 300, 1500], abs=1)
    assert sum(len(axes.lines) for axes in figure.axes) == len(mine)
    # A stack that is in two frames has one colour in both
    of_stack: dict[str, set[str]] = {}
    for line in (line for axes in figure.axes[:2] for line in axes.lines):
        stack = str(line.get_label()).partition(",")[0]
        of_stack.setdefault(stack, set()).add(str(line.get_color()))
    assert of_stack == {stack: {look_of(stack).colour} for stack in of_stack}
    assert {"hstcp_2004", "scalable_2004"} <= set(of_stack)


def test_a_transfer_is_drawn_with_its_stages_and_what_was_published(tmp_path: FilePath) -> None:
    (axes,) = drawn(write_recorded_runs(tmp_path, disks.EXPERIMENT, QUICK), disks.EXPERIMENT)
    bars = [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]
    assert bars == pytest.approx([500, 500])
    marks = {str(line.get_label()): sorted(xs(line)) for line in axes.lines}
    assert marks["disk write"] == [400, 1320]
    assert marks["disk read"] == [2112, 2112]
    assert marks["published"] == [660]


def test_costs_are_drawn_over_throughput_and_over_streams_beside_the_papers(
    tmp_path: FilePath,
) -> None:
    done = write_recorded_runs(tmp_path, cpu_streams.EXPERIMENT, WHOLE)
    use, cost = drawn(done, cpu_streams.EXPERIMENT)
    # 1, 16 and 40 streams ran at four rates, with offloads and without
    assert [len(xs(line)) for line in use.lines] == [4] * 6
    by_label = {line.get_label(): line for line in cost.lines}
    assert xs(by_label["offloads off"]) == xs(by_label["offloads on"]) == [1, 2, 4, 8, 16, 40]
    assert xs(by_label["offloads tso,checksum"]) == [16]
    published = by_label["published: a card with a TCP of its own"]
    assert (xs(published), ys(published)) == ([16], [0.479])
