"""Published: the paper's tables, complete and as printed."""

from __future__ import annotations

import dataclasses

import pytest

from experiments.loss_utilisation import analysis as loss_utilisation
from experiments.recovery import analysis as recovery
from experiments.seven_regions.published import (
    all_published,
    published,
    published_for,
    published_paths,
)
from farpath.metrics.published_measures import published_measures
from farpath.planning.path_files import path_by_name
from farpath.programs.catalog import catalogue
from farpath.runs.claims.claim import claims
from tests.support.plans import network_plan

PRINTED = {name: entry.published for name, entry in catalogue().items() if entry.published}


def test_all_nine_stacks_have_both_tables() -> None:
    rows = all_published()
    assert len(rows) == 9
    for row in rows.values():
        assert [region.number for region in row.regions] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("stack", PRINTED)
def test_a_stack_of_the_paper_finds_its_row(stack: str) -> None:
    row = published(stack, "cern")
    assert row is not None
    assert row.stack == PRINTED[stack]


def test_the_row_of_htcp_is_as_printed() -> None:
    row = published("htcp", "cern")
    assert row is not None
    assert (row.mean_mbps, row.std_mbps, row.stability, row.rtt_std_ms) == (402, 113, 0.28, 57)
    assert (row.regions[5].stability, row.regions[5].fairness) == (0.12, 1.0)


def test_printed_stability_is_printed_deviation_over_printed_mean() -> None:
    for row in all_published().values():
        assert row.stability == pytest.approx(row.std_mbps / row.mean_mbps, abs=0.011), row.stack


@pytest.mark.parametrize(
    ("stack", "path_name"), [("cubic", "cern"), ("htcp", "ufl"), ("htcp", "cern-changed")]
)
def test_what_was_not_printed_is_none(stack: str, path_name: str) -> None:
    assert published(stack, path_name) is None


def test_the_three_paths_are_those_of_the_topologies_and_in_the_order_of_their_rtts() -> None:
    paths = published_paths()
    assert list(paths) == ["caltech", "ufl", "cern"]
    for name, row in paths.items():
        assert row.rtt_ms == path_by_name(name).rtt_ms
    assert [(row.mean_stability, row.mean_fairness) for row in paths.values()] == [
        (0.21, 0.90), (0.29, 0.83), (0.42, 0.77),
    ]  # fmt: skip


def test_the_means_printed_for_cern_are_those_of_table_1() -> None:
    rows = all_published().values()
    cern = published_paths()["cern"]
    assert round(sum(row.stability for row in rows) / 9, 2) == cern.mean_stability
    assert round(sum(row.fairness_min for row in rows) / 9, 2) == cern.mean_fairness


def test_every_claim_has_a_source_a_sentence_and_what_decides_it() -> None:
    assert len(claims()) == 49
    for claim in claims():
        assert all((claim.source, claim.claim, claim.decided_by)), claim.id


def test_published_numbers_are_beside_no_other_hosts_or_ip() -> None:
    cern = {"rtt": None, "rate": None, "path": "cern", "schedule": "seven-regions"}
    assert published_for(network_plan(**cern)) is not None
    for more in ({"senders": "rtt=200ms"}, {"reverse": "reno"}, {"ip": "6"},
                 {"topology": "parking-lot"}):  # fmt: skip
        plan = network_plan(**cern, **more)
        assert published_for(plan) is None
        assert plan.path.name.startswith("cern-")
        named = dataclasses.replace(plan, path=dataclasses.replace(plan.path, name="cern"))
        assert published_for(named) is None
    assert published_for(network_plan(**cern, source="disk:5MB/s")) is None


def test_every_published_number_belongs_to_an_experiment_and_is_one() -> None:
    assert all(each.value > 0 for each in published_measures().values())
    used = [*recovery.PUBLISHED.values(), *recovery.MEASURED.values()]
    used += loss_utilisation.PUBLISHED.values()
    assert set(used) <= set(published_measures())
