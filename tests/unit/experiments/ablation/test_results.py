"""The report of an ablation: what is written, and that it can be read again."""

from __future__ import annotations

from pathlib import Path as FilePath

from experiments.ablation import results
from experiments.ablation.analysis import ABLATION_FILE, read_ablation
from farpath.report.run_summaries import report_text, write_report
from tests.support.ablations import ablation_of


def test_a_report_has_results_tables_and_the_figure(tmp_path: FilePath) -> None:
    ablation = ablation_of()
    write_report(results, ablation, tmp_path)
    assert read_ablation(tmp_path / ABLATION_FILE) == ablation
    pictures = {file.name for file in (tmp_path / "figures").iterdir()}
    assert pictures == {"ablation.png", "ablation.svg"}
    tables = {file.name for file in (tmp_path / "tables").iterdir()}
    assert {f"ablation-agreement{suffix}" for suffix in (".txt", ".md", ".tex", ".csv")} <= tables
    assert len(tables) == 4 * 6


def test_its_text_is_all_tables() -> None:
    text = report_text(results, ablation_of())
    for words in ("mean (Mbit/s) with each", "Spearman", "Mechanisms and their settings in full"):
        assert words in text
