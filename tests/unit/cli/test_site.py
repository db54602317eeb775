"""The commands that draw the paper's figures and make the results site."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from tests.support.campaigns import write_named
from tests.support.command_line import Farpath


@pytest.fixture
def records(tmp_path: FilePath) -> FilePath:
    """One run, of UDT at CERN."""
    write_named(tmp_path / "records", "cern", "udt", 1)
    return tmp_path / "records"


def test_figures_are_named_on_stdout_and_missing_ones_on_stderr(
    farpath: Farpath, records: FilePath, tmp_path: FilePath
) -> None:
    out = tmp_path / "figures"
    ended = farpath("site", "--figures", "--records", str(records), "--out", str(out), "--hatches")
    assert ended.status == 0
    files = [FilePath(line) for line in ended.out.split()]
    assert sorted(out.iterdir()) == sorted(files)
    assert out / "figure-5.svg" in files
    assert ended.err.count("is not drawn: no record of") == 3


def test_the_site_says_where_its_index_is_and_how_large_it_is(
    farpath: Farpath, records: FilePath, tmp_path: FilePath
) -> None:
    out = tmp_path / "site"
    ended = farpath("site", "--records", str(records), "--out", str(out))
    assert ended.status == 0
    assert ended.out.startswith(f"{out / 'index.html'}: runs 1, ")
    assert "figure 2 is not drawn" in ended.err


@pytest.mark.parametrize("options", [["--figures"], []])
def test_a_directory_without_records_is_refused_in_one_line(
    farpath: Farpath, tmp_path: FilePath, options: list[str]
) -> None:
    ended = farpath("site", "--records", str(tmp_path), "--out", str(tmp_path / "out"), *options)
    assert ended.status == 2
    assert "holds no record" in ended.err
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_place_that_is_no_directory_is_refused_in_one_line(
    farpath: Farpath, records: FilePath, tmp_path: FilePath
) -> None:
    (tmp_path / "file").write_text("")
    ended = farpath("site", "--figures", f"--records={records}", f"--out={tmp_path / 'file'}")
    assert ended.status == 2
    assert "cannot be written" in ended.err


def test_figures_of_ones_own_runs_are_all_together_and_each_over_time(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    for seed in (1, 2):
        write_named(tmp_path / "records", "cern", "cubic", seed)
    out = tmp_path / "figures"
    ended = farpath("site", "--figures", f"--records={tmp_path / 'records'}", f"--out={out}")
    assert (ended.status, ended.err) == (0, "")
    stems = {FilePath(line).name for line in ended.out.split()}
    wanted = ("overview", "cern-cubic-seed1", "cern-cubic-seed2")
    assert stems == {f"{stem}.{ending}" for stem in wanted for ending in ("png", "svg")}
    assert {file.name for file in out.iterdir()} == stems


def test_claims_of_runs_that_are_not_the_studys_are_refused(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    write_named(tmp_path / "records", "cern", "cubic", 1)
    ended = farpath("claims", f"--records={tmp_path / 'records'}")
    assert (ended.status, ended.out) == (2, "")
    assert "has no run of the 2005 study's test" in ended.err


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (["--hatches"], "--hatches"),
        (["--figures", "--held-out=ltcp"], "--held-out"),
        (["--figures", "--cpu-records=cpu"], "--cpu-records"),
    ],
)
def test_options_that_a_site_or_its_figures_would_ignore_are_refused(
    farpath: Farpath, records: FilePath, options: list[str], option: str
) -> None:
    ended = farpath("site", f"--records={records}", *options)
    assert (ended.status, ended.err.split()[1].rstrip(":")) == (2, option)
