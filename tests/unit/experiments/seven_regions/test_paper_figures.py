"""The paper's figures 1 to 5, drawn from synthetic records."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.seven_regions import paper_figures as paper
from farpath.metrics.results import load_results
from farpath.report.figures.save import save
from tests.support.campaigns import write_named


@pytest.fixture
def records(tmp_path: FilePath) -> FilePath:
    """Reno with two seeds and UDT at CERN, H-TCP elsewhere."""
    directory = tmp_path / "records"
    for seed in (3, 2):
        write_named(directory, "cern", "reno_2004", seed)
    write_named(directory, "cern", "udt", 1)
    write_named(directory, "ufl", "htcp_2004", 1)
    return directory


def test_a_figure_shows_the_smallest_seed_at_cern(records: FilePath) -> None:
    campaign, _ = load_results(records)
    runs = {each.number: paper.run_of_figure(campaign, each) for each in paper.RUN_FIGURES}
    assert runs[2] is not None
    assert runs[2].record == "cern-reno_2004-2"
    assert runs[3] is None


def test_a_figure_without_its_record_is_named_and_the_others_are_drawn(
    records: FilePath, tmp_path: FilePath
) -> None:
    campaign, _ = load_results(records)
    files = list(paper.write_figures(campaign, records, tmp_path))
    stems = ("figure-1", "figure-2", "figure-5")
    assert {file.name for file in files} == {
        f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")
    }
    missing = paper.missing_figures(campaign)
    assert [sentence.split(" is ")[0] for sentence in missing] == ["figure 3", "figure 4"]


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_equal_figures_give_equal_files(tmp_path: FilePath, kind: str) -> None:
    for name in ("a", "b"):
        save(paper.draw_regions(hatched=True), tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_figure_1_has_four_flows_and_seven_regions_of_which_the_fourth_is_twice_as_long() -> None:
    axes = paper.draw_regions().axes[0]
    texts = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert {f"flow {k}" for k in range(1, 5)} < set(texts)
    assert [texts[f"region {k}"] for k in range(1, 8)] == [1, 3, 5, 8, 11, 13, 15]


def test_the_papers_figures_are_smoothed_as_the_papers(tmp_path: FilePath) -> None:
    record = write_named(tmp_path, "cern", "reno_2004", 1)
    figure = paper.draw_run(record.directory, paper.RUN_FIGURES[0])
    assert "over 5 s" in figure.axes[1].get_ylabel()
