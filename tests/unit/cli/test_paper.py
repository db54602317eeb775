"""Tables, claims and summary as commands: of records, of a summary, of the project's own."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path as FilePath

import pytest

from experiments.ablation.analysis import write_ablation
from experiments.mtu_bias.analysis import RATIO
from experiments.rtt_bias.analysis import EXPERIMENT as RTT_BIAS
from experiments.seven_regions.selection import EXPERIMENT as PAPER
from farpath.base import project
from farpath.base.project import experiment_folder
from farpath.cli.paper import SUMMARY_FILE
from farpath.metrics.measures import Measure, write_measures
from farpath.metrics.results import read_figures, result_set_of, write_figures
from tests.support.ablations import ablation_of
from tests.support.campaigns import (
    published_campaign,
    run_of,
    write_seven_regions,
    write_three_records,
)
from tests.support.command_line import Farpath


@pytest.fixture
def summary(tmp_path: FilePath) -> FilePath:
    """The published numbers as a campaign's summary."""
    file = tmp_path / "published.json"
    write_figures(published_campaign(), file)
    return file


@pytest.fixture
def records(tmp_path: FilePath) -> FilePath:
    """Three records of two stacks at CERN."""
    return write_three_records(tmp_path / "records")


def test_the_projects_own_summary_is_what_is_judged_where_nothing_is_given(
    farpath: Farpath, summary: FilePath, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project, "PROJECT", tmp_path)
    summary_file = tmp_path / "experiments" / PAPER / SUMMARY_FILE
    for command in ("claims", "tables"):
        ended = farpath(command)
        assert ended.status == 2
        assert str(summary_file) in ended.err
        assert "--records" in ended.err
        assert ended.err.count("\n") == 1
    summary_file.parent.mkdir(parents=True)
    summary.rename(summary_file)
    assert "49 claims: holds 14, fails 10, undecided 25" in farpath("claims").out
    for name in ("experiment.toml", "paths/cern-20mbit.toml"):
        (summary_file.parent / name).parent.mkdir(exist_ok=True)
        shutil.copy(experiment_folder("seven-regions") / name, summary_file.parent / name)
    assert "HSTCP (held out)" in farpath("tables").out


def test_claims_that_fail_are_a_result_and_no_error(farpath: Farpath, summary: FilePath) -> None:
    ended = farpath("claims", "--records", summary)
    assert (ended.status, ended.err) == (0, "")
    assert "\nC3  fails" in ended.out


def test_claims_as_json_are_one_object_with_every_claim(
    farpath: Farpath, summary: FilePath
) -> None:
    ended = farpath("claims", "--records", summary, "--json")
    data = json.loads(ended.out)
    assert ended.out.count("\n") == 1
    assert data["counts"] == {"holds": 14, "fails": 10, "undecided": 25}
    assert [claim["id"] for claim in data["claims"]] == [f"C{k}" for k in range(1, 50)]
    assert data["mixed"] == []


def test_records_of_ones_own_are_judged_and_what_is_missing_is_named(
    farpath: Farpath, records: FilePath
) -> None:
    ended = farpath("claims", f"--records={records}")
    assert ended.status == 0
    assert "HTCP: largest RTT of regions 3 to 5 300 >= 300 ms" in ended.out
    assert "missing runs on path caltech" in ended.out
    assert ended.out.startswith("Published with regions of 120 s, measured with 10 s.\nC1 ")
    data = json.loads(farpath("claims", f"--records={records}", "--json").out)
    assert data["differences"] == ["Published with regions of 120 s, measured with 10 s."]


def test_a_damaged_record_is_named_on_stderr_and_the_rest_is_shown(
    farpath: Farpath, records: FilePath
) -> None:
    (records / "htcp-2" / "record.json").write_text("{")
    write_seven_regions(records / "fast-1", stack="fast", kernel="6.1")
    ended = farpath("tables", f"--records={records}", "--path=cern")
    assert ended.status == 0
    assert f"left out: {records / 'htcp-2' / 'record.json'}" in ended.err
    assert "warning: records of different kernel are mixed: 7.2.1: htcp-1, reno-1" in ended.err
    assert "MIXED: records of different kernel" in " ".join(ended.out.split())
    assert "Not run: HSTCP, Scalable" in ended.out


def test_two_records_of_one_run_are_listed_and_refused_as_the_study(
    farpath: Farpath, records: FilePath
) -> None:
    write_seven_regions(records / "again", seed=1, region_s=20.0)
    listed = farpath("tables", f"--records={records}")
    assert listed.status == 0
    assert [
        name for name in ("again", "htcp-1", "htcp-2", "reno-1") if name not in listed.out
    ] == []
    assert "Table 1" not in listed.out
    ended = farpath("tables", f"--records={records}", "--view=study")
    assert ended.status == 2
    assert "htcp-1 and again are both htcp_2004 on path cern" in ended.err
    assert "10 s and 20 s" in ended.err


def test_tables_are_printed_in_each_form(farpath: Farpath, summary: FilePath) -> None:
    beginnings = {
        "text": "Agreement with the published numbers\n",
        "markdown": "| Reno | measured | 248.0 |",
        "latex": r"\begin{tabular}",
        "csv": "stack,seeds,mean_mbps,",
    }
    for form, words in beginnings.items():
        ended = farpath("tables", f"--records={summary}", f"--format={form}")
        assert (ended.status, ended.err) == (0, "")
        assert words in ended.out


def test_tables_are_written_one_file_each(
    farpath: Farpath, summary: FilePath, tmp_path: FilePath
) -> None:
    out = tmp_path / "below" / "tables"
    ended = farpath("tables", f"--records={summary}", "--format=csv", f"--out={out}")
    names = {
        *(f"table{number}-{path}.csv" for number in (1, 2) for path in ("caltech", "ufl", "cern")),
        "path-means.csv",
        "deviations.csv",
        "agreement.csv",
    }
    assert {file.name for file in out.iterdir()} == names
    assert set(ended.out.split()) == {str(out / name) for name in names}
    rows = list(csv.DictReader(io.StringIO((out / "table2-cern.csv").read_text())))
    assert len(rows) == 63


def test_a_path_named_like_a_place_elsewhere_stays_within_the_given_one(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    file = tmp_path / "summary.json"
    write_figures(result_set_of([run_of("Reno", path="../../evil")]), file)
    out = tmp_path / "tables"
    assert farpath("tables", f"--records={file}", f"--out={out}").status == 0
    assert (out / "table1-______evil.txt").is_file()
    assert not list(tmp_path.parent.glob("evil*"))


def test_held_out_stacks_are_marked(farpath: Farpath, summary: FilePath) -> None:
    ended = farpath("tables", f"--records={summary}", "--held-out=hstcp_2004,LTCP")
    assert "HSTCP (held out)" in ended.out
    assert "LTCP (held out)" in ended.out
    assert "held-out stacks: S, within 0.15" in ended.out


def test_a_summary_is_written_with_its_runs_on_the_cpu_clock_and_read_again(
    farpath: Farpath, records: FilePath, tmp_path: FilePath
) -> None:
    file = tmp_path / "summary.json"
    cpu = tmp_path / "cpu"
    write_seven_regions(cpu / "htcp-1", region_s=5.0)
    ended = farpath(
        "tables",
        "--format=summary",
        f"--records={records}",
        f"--cpu-records={cpu}",
        f"--out={tmp_path}",
    )
    assert (ended.status, ended.out) == (0, f"{file}: 3 runs, 1 with CPU counted\n")
    assert [run.summary.region_s for run in read_figures(file).cpu_runs] == [5.0]
    from_records = farpath("tables", f"--records={records}", "--format=csv").out
    assert farpath("tables", f"--records={file}", "--format=csv").out == from_records


BAD = {
    "form that is not offered": (["tables", "--format=pdf"], ("--format", "'pdf'", "latex")),
    "path that was not run": (["tables", "--path=mars"], ("'mars'", "caltech, cern, ufl")),
    "stack that is not the paper's": (["tables", "--held-out=quic"], ("'quic'", "Reno")),
    "summary of one path": (["tables", "--format=summary", "--path=cern"], ("--path",)),
    "CPU records beside a summary": (["claims", "--cpu-records=cpu"], ("--cpu-records", "cpu")),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_and_status_2(farpath: Farpath, summary: FilePath, what: str) -> None:
    arguments, words = BAD[what]
    ended = farpath(*arguments, f"--records={summary}")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("farpath: ")
    assert ended.err.count("\n") == 1
    for word in words:
        assert word in ended.err


def test_records_that_are_not_there_are_and_damaged_figures_are_status_2(
    farpath: Farpath, summary: FilePath, tmp_path: FilePath
) -> None:
    assert farpath("claims", f"--records={tmp_path / 'none'}").status == 2
    assert farpath("claims", f"--records={tmp_path}").status == 2
    summary.write_text(summary.read_text()[:-50])
    ended = farpath("claims", f"--records={summary}")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"farpath: {summary}: is not JSON")


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_file_as_place_for_tables_is_status_2(
    farpath: Farpath, summary: FilePath, tmp_path: FilePath, out: str
) -> None:
    (tmp_path / "file").write_text("mine")
    ended = farpath("tables", f"--records={summary}", f"--out={tmp_path / out}")
    assert ended.status == 2
    assert "cannot be written" in ended.err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.fixture
def measures(tmp_path: FilePath) -> FilePath:
    """A measure of one companion experiment."""
    file = tmp_path / "measures.json"
    about = {"senders": "rtt=172ms"}
    known = Measure(RTT_BIAS, "a run", RATIO, "", 2.5, 1, published="rtt-1", about=about)
    write_measures([known], file)
    return file


def test_an_experiment_around_the_test_has_tables_of_its_measures(
    farpath: Farpath, measures: FilePath
) -> None:
    for name in (RTT_BIAS, "companion"):
        ended = farpath("tables", f"--experiment={name}", f"--measures={measures}", "--format=csv")
        assert ended.status == 0
        (row,) = csv.DictReader(io.StringIO(ended.out))
        assert (row["experiment"], row["measured"], row["published"]) == (RTT_BIAS, "2.5", "514.0")


def test_an_experiment_of_which_nothing_is_measured_is_refused(
    farpath: Farpath, measures: FilePath
) -> None:
    ended = farpath("tables", "--experiment=mtu-bias", f"--measures={measures}")
    assert ended.status == 2
    assert "make campaign EXPERIMENT=companion" in ended.err


@pytest.mark.parametrize(
    "options",
    [("--experiment=rtt-bias", "--path=cern"), ("--experiment=rtt-bias", "--records=x"),
     ("--measures=x",), ("--experiment=nothing",)],
)  # fmt: skip
def test_options_of_another_experiments_tables_are_refused(
    farpath: Farpath, options: tuple[str, ...]
) -> None:
    ended = farpath("tables", *options)
    assert ended.status == 2
    assert ended.err.count("\n") == 1


def test_tables_of_an_ablation_are_those_of_its_file(farpath: Farpath, tmp_path: FilePath) -> None:
    file = tmp_path / "ablation.json"
    write_ablation(ablation_of(), file)
    ended = farpath("tables", "--experiment=ablation", f"--measures={file}", "--format=markdown")
    assert (ended.status, ended.err) == (0, "")
    assert "| queue | 248±0 | 255±0 |" in ended.out
    assert "**Mechanisms and their settings in full**" in ended.out


def test_without_its_file_an_ablation_has_no_tables(farpath: Farpath, tmp_path: FilePath) -> None:
    missing = tmp_path / "none.json"
    ended = farpath("tables", "--experiment=ablation", f"--measures={missing}")
    assert ended.status == 2
    assert "make campaign EXPERIMENT=ablation" in ended.err
    assert ended.err.count("\n") == 1
