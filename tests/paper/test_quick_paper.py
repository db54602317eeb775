"""The quick campaign's results: what any run of the paper's stacks must show.

Regions last 6 s instead of 120 s, so the tables' values are printed, not asserted.
"""

from __future__ import annotations

import csv
import json

import pytest

from experiments.seven_regions.published import all_published
from farpath.programs.catalog import catalogue
from farpath.runs.claims.claim import claims
from tests.paper.conftest import QuickPaper

STACKS = [name for name, entry in catalogue().items() if entry.era == "2004" and entry.published]


def test_the_nine_of_the_paper_are_run_on_hosts_of_2004(quick_paper: QuickPaper) -> None:
    assert {catalogue()[name].published for name in quick_paper.records} == set(all_published())
    assert {record.plan.era.name for record in quick_paper.records.values()} == {"2004"}


@pytest.mark.parametrize("stack", STACKS)
def test_flows_share_the_bottleneck_and_carry_no_more_than_it_does(
    quick_paper: QuickPaper, stack: str
) -> None:
    # A frame of 1514 bytes carries 1456 bytes at most, UDT's. A region may also deliver
    # what waited behind a lost packet as it began: a window of each flow present.
    record, summary = quick_paper.records[stack], quick_paper.summaries[stack]
    path = record.plan.path
    most_bps = path.rate_bps * 1456 / 1514
    assert len(summary.regions) == 7
    for region in summary.regions:
        waiting_bps = 8 * len(region.flows) * path.window_bytes / region.seconds
        assert region.mean_bps <= most_bps + waiting_bps
    # Four slow starts find a tenth of the path, whatever follows.
    assert summary.mean_bps > 0.1 * most_bps
    carried = record.samples.flows.groupby("flow")["throughput_bps"].mean()
    assert (carried > 0).all()


@pytest.mark.parametrize("stack", STACKS)
def test_the_queue_stays_within_the_buffer_and_ping_sees_it(
    quick_paper: QuickPaper, stack: str
) -> None:
    record, summary = quick_paper.records[stack], quick_paper.summaries[stack]
    path = record.plan.path
    full_ms = path.buffer_bytes * 8e3 / path.rate_bps
    assert summary.queue_max_bytes <= path.buffer_bytes + path.frame_bytes
    assert path.rtt_ms - 0.01 <= summary.rtt_min_ms
    assert summary.rtt_max_ms <= path.rtt_ms + full_ms + 0.2


def test_reno_is_the_less_stable_and_the_slower_beside_h_tcp(quick_paper: QuickPaper) -> None:
    reno, htcp = quick_paper.summaries["reno_2004"], quick_paper.summaries["htcp_2004"]
    # Table 1 has 248 and 402 Mbit/s in regions of 120 s; in those of 6 s losses are few
    print(f"Reno has {reno.mean_bps / htcp.mean_bps:.3f} of H-TCP's throughput")
    assert reno.mean_bps < htcp.mean_bps
    assert reno.stability > htcp.stability


def test_fast_keeps_the_queue_shorter_than_h_tcp_does(quick_paper: QuickPaper) -> None:
    fast, htcp = quick_paper.summaries["fast"], quick_paper.summaries["htcp_2004"]
    assert fast.rtt_std_ms < 0.5 * htcp.rtt_std_ms


def test_tables_claims_figures_and_page_are_made(quick_paper: QuickPaper) -> None:
    report = quick_paper.report
    print((report / "claims" / "claims.txt").read_text())
    with (report / "tables" / "table1-cern.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["stack"] for row in rows} == set(all_published())
    judged = json.loads((report / "claims" / "claims.json").read_text())
    assert len(judged["claims"]) == len(claims())
    for number in range(1, 6):
        assert list((report / "figures").glob(f"figure-{number}*.svg"))
    assert (report / "page" / "index.html").is_file()
