"""The results of a run as tables, as a figure and in a notebook."""

from __future__ import annotations

import pytest

import farpath
from farpath.base.errors import BadInputError
from farpath.record.record import Record
from tests.support.synthetic_run import ALONE, SHARED


@pytest.fixture
def result(record: Record) -> farpath.RunResult:
    return farpath.load(record.directory)


def test_each_flow_has_a_row_with_its_stack_and_its_results(result: farpath.RunResult) -> None:
    flows = result.flows.set_index("flow")
    assert list(flows.index) == ["flow1", "flow2"]
    assert flows.loc["flow1", "stack"] == "htcp"
    total = 10 * ALONE + 30 * SHARED
    assert flows.loc["flow1", "throughput_mbps"] == pytest.approx(total * 8 / 40 / 1e6, rel=0.01)
    assert flows["share"].sum() == pytest.approx(1)
    assert flows.loc["flow1", "retransmits"] == 20


def test_samples_are_long_form_in_units_of_people(result: farpath.RunResult) -> None:
    samples = result.samples
    assert set(samples["flow"]) == {"flow1", "flow2"}
    assert set(samples["stack"]) == {"htcp"}
    assert samples["throughput_mbps"].max() == pytest.approx(ALONE * 8 / 1e6)
    assert samples["rtt_ms"].min() == 164
    # The last row of a flow has no sender's interval
    assert samples["rtt_ms"].isna().sum() == 2


def test_queue_ping_and_summary_are_those_of_the_record(result: farpath.RunResult) -> None:
    assert result.queue["drops"].is_monotonic_increasing
    assert result.ping["rtt_ms"].isna().sum() == 1
    assert result.summary["pings_lost"] == 1
    assert result.trace is None
    assert result.warnings == ("take care",)


def test_its_figure_is_matplotlib_s_and_shown_by_a_notebook(result: farpath.RunResult) -> None:
    figure = result.plot()
    assert len(figure.axes) == 2
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_a_notebook_shows_tables_warnings_and_where_the_record_is(
    result: farpath.RunResult,
) -> None:
    page = result._repr_html_()
    assert "Warning: take care" in page
    assert ">flow1</th>" in page
    assert str(result.path) in page
    assert "<script" not in page


def test_a_directory_without_a_record_is_refused() -> None:
    with pytest.raises(BadInputError, match="is not a directory"):
        farpath.load("/nowhere")
