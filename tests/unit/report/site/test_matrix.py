"""The matrix of the results site: cells and marks."""

from __future__ import annotations

import dataclasses

from farpath.report.site import pages
from farpath.report.site.matrix import matrix, provenance_groups
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
