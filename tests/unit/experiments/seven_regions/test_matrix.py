"""The matrix of the results site: rows, columns, cells, marks and links."""

from __future__ import annotations

import dataclasses

from experiments.seven_regions import matrix as matrices
from experiments.seven_regions.matrix import matrix
from farpath.metrics.results import result_set_of
from farpath.report.site import pages
from farpath.report.site.provenance_table import provenance_groups
from farpath.report.site.thumbnail import Area
from tests.support import campaigns


def test_most_runs_have_no_mark() -> None:
    campaign = campaigns.published_campaign()
    odd = campaign.runs[4]
    changed = [
        dataclasses.replace(run, code="other") if run == odd else run for run in campaign.runs
    ]
    groups, marks = provenance_groups(changed)
    assert [(make.mark, make.runs) for make in groups] == [("", 80), ("a", 1)]
    assert [record for record, mark in marks.items() if mark] == [odd.record]


def test_a_cell_shows_means_over_seeds_beside_the_papers_figures() -> None:
    campaign = campaigns.published_campaign()
    names = pages.file_names(campaign)
    empty: dict[str, tuple[Area, ...]] = dict.fromkeys(names, ())
    table = matrix(campaign, names, empty, dict.fromkeys(names, ""))
    assert [row.name for row in table][:3] == ["Reno", "HSTCP", "HTCP"]
    cell = table[2].cells[2]
    assert cell is not None
    assert (cell.mean, cell.stability, cell.fairness) == ("402 ± 0", "0.28", "0.99–1.00")  # noqa: RUF001
    assert cell.printed == "paper: 402, S 0.28, F 0.99–1.00"  # noqa: RUF001
    assert [link.text for link in cell.links] == ["1", "2", "3"]
    elsewhere = table[2].cells[0]
    assert elsewhere is not None
    assert elsewhere.printed == ""


def test_another_stack_and_path_stand_below_and_beside_the_papers() -> None:
    other = campaigns.run_of("Reno", "rtt-10ms", stack="cubic")
    campaign = result_set_of([*campaigns.published_campaign().runs, other])
    assert matrices.columns(campaign) == ("caltech", "ufl", "cern", "rtt-10ms")
    assert matrices.rows(campaign)[-1] == ("cubic", "cubic")
    assert len(matrices.rows(campaign)) == 10


def test_a_run_leads_to_its_seeds_its_stack_elsewhere_and_its_paths_other_stacks() -> None:
    campaign = campaigns.published_campaign()
    run = campaign.of("ufl", "htcp_2004")[1]
    groups = dict(matrices.links_of(run, campaign, pages.file_names(campaign)).groups)
    assert [link.text for link in groups["seed"]] == ["1", "2", "3"]
    assert [link.text for link in groups["path"]] == ["Caltech", "UFL", "CERN"]
    assert len(groups["stack"]) == 9
    assert all("seed2" in link.href for name in ("path", "stack") for link in groups[name])
    assert all(sum(link.here for link in links) == 1 for links in groups.values())
