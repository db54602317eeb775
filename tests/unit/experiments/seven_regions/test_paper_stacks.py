"""The paper's stacks: what stands for them."""

from __future__ import annotations

from experiments.seven_regions.paper_stacks import labels_by_paper_name
from farpath.metrics.results import result_set_of
from tests.support.campaigns import run_of


def test_the_form_of_2004_stands_for_the_papers_stack_where_both_were_run() -> None:
    modern = run_of("Reno", stack="reno", era="modern")
    assert labels_by_paper_name(result_set_of([modern])) == {"Reno": "reno"}
    assert labels_by_paper_name(result_set_of([modern, run_of("Reno")])) == {"Reno": "reno_2004"}
    tuned = run_of("Fast-TCP", stack="fast:alpha=200")
    other_test = run_of("HTCP", schedule="two-flows")
    too_short = run_of("UDTv2", regions=run_of("UDTv2").summary.regions[:3])
    assert labels_by_paper_name(result_set_of([tuned, other_test, too_short])) == {}
