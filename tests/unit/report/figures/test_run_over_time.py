"""The figure of a run."""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from farpath.planning.request import RunRequest
from farpath.record.record import Samples, typed_frame
from farpath.report.figures import run_over_time as figures
from farpath.report.figures.run_over_time import draw
from farpath.report.figures.save import save
from farpath.report.figures.stack_colours import look_of, mixed, shades
from farpath.spec.plan import Plan
from tests.support.campaigns import write_named
from tests.support.curves import ys


def test_flows_are_shades_of_their_stack_and_hatches_part_them_if_asked(
    tmp_path: FilePath,
) -> None:
    record = write_named(tmp_path, "cern", "reno_2004", 1)
    for hatched in (False, True):
        lower = draw(record.samples, record.plan, hatched).axes[1]
        hatches = {area.get_hatch() or "" for area in lower.collections}
        assert len(hatches) == (4 if hatched else 1)
        colours = [to_hex(tuple(np.asarray(area.get_facecolor())[0])) for area in lower.collections]
        assert colours == [mixed(look_of("reno_2004").colour, shade) for shade in shades(4)]


def test_of_many_flows_the_legend_names_those_with_a_colour_and_counts_the_others(
    tmp_path: FilePath,
) -> None:
    plan = RunRequest(rtt="20ms", stack="100xreno", schedule="together", region="10s").plan()
    seconds = [float(second) for second in range(1, 11)]
    columns = {
        "interval_s": 1.0,
        "throughput_bps": 1e6,
        "retransmits": 0,
        "cwnd_bytes": 1,
        "rtt_us": 20_000,
    }
    flows = [
        pd.DataFrame({"flow": flow.name, "t_s": seconds, **columns}) for flow in plan.schedule.flows
    ]
    ping = pd.DataFrame({"t_s": seconds, "rtt_ms": 20.0})
    queue = pd.DataFrame({"t_s": seconds, "backlog_bytes": 0, "backlog_packets": 0, "drops": 0})
    figure = draw(Samples(pd.concat(flows), ping, queue), plan)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *(f"flow{number} reno" for number in range(1, 13)),
        *("88 more", "aggregate", "bottleneck rate"),
    ]
    save(figure, tmp_path / "a.png")


def test_equal_samples_give_an_equal_png(samples: Samples, plan: Plan, tmp_path: FilePath) -> None:
    for name in ("a.png", "b.png"):
        figures.save_png(samples, plan, tmp_path / name)
    first = (tmp_path / "a.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert first == (tmp_path / "b.png").read_bytes()


def test_the_figure_shows_each_flow_and_says_what_it_is_of(samples: Samples, plan: Plan) -> None:
    figure = figures.draw(samples, plan)
    upper, lower = figure.axes
    assert lower.get_legend_handles_labels()[1] == [
        "flow1 htcp",
        "flow2 htcp",
        "aggregate",
        "bottleneck rate",
    ]
    assert "lost" in upper.texts[0].get_text()
    assert lower.get_ylim()[1] > 450
    assert (
        figure.get_suptitle()
        == "SLAC to CERN, 2004: 2xhtcp, today's hosts, two-flows of 5 s, seed 1"
    )


def test_the_figure_shows_each_second_as_it_was_measured(samples: Samples, plan: Plan) -> None:
    total = figures.draw(samples, plan).axes[1].lines[0]
    each = samples.flows[samples.flows["flow"] == "flow1"]["throughput_bps"].to_numpy() / 1e6
    assert ys(total)[:5] == pytest.approx(each[:5])
    assert ys(total)[35] == pytest.approx(408)  # what flow 2 left on its way
    smooth = figures.draw(samples, plan, smoothing_s=5).axes[1]
    assert "over 5 s" in smooth.get_ylabel()
    assert "over" not in figures.draw(samples, plan).axes[1].get_ylabel()


def _ticks(region_s: float, **words: str) -> list[float]:
    plan = RunRequest(rtt="50ms", region=f"{region_s:g}s", **words).plan()
    empty = Samples(*(typed_frame(name, []) for name in ("flows", "ping", "queue")))
    low, high = 0.0, plan.schedule.duration_s
    ticks = figures.draw(empty, plan).axes[1].get_xticks()
    return [float(tick) for tick in ticks if low <= tick <= high]


def test_the_time_axis_has_ticks_enough_whatever_the_regions() -> None:
    assert _ticks(120) == [120.0 * count for count in range(9)]
    for schedule, stack in (("together", "cubic"), ("joining", "2xcubic"), ("joining", "60xreno")):
        assert 5 <= len(_ticks(10, schedule=schedule, stack=stack)) <= 15


def test_a_run_without_any_answered_ping_still_has_a_figure(samples: Samples, plan: Plan) -> None:
    silent = Samples(samples.flows, samples.ping.assign(rtt_ms=float("nan")), samples.queue)
    assert len(figures.draw(silent, plan).axes) == 2
