"""The figure of several runs."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.metrics.record_set import load_record_set
from farpath.report.figures.settings_bars import flow_means_mbps, labels
from tests.support.campaigns import write_named
from tests.support.record_sets import member, record_set


def test_labels_of_a_figure_say_only_what_differs() -> None:
    assert labels(record_set(member("a"), member("b", rtt="40ms", rate="225Mbit"))) == (
        "cubic\nRTT 20 ms, 450 Mbit/s",
        "cubic\nRTT 40 ms, 225 Mbit/s",
    )


def test_flows_share_a_bar_by_what_each_got_over_the_whole_run(tmp_path: FilePath) -> None:
    write_named(tmp_path, "cern", "cubic", 1)
    (member,) = load_record_set(tmp_path).members
    means = flow_means_mbps(member.run.summary)
    # Flow 4 is there in the middle region alone, of two lengths of eight
    assert means == pytest.approx([100, 75, 50, 25], rel=1e-3)
    assert sum(means) == pytest.approx(member.run.summary.mean_bps / 1e6, rel=1e-3)
