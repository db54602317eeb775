"""The results site's files, made from synthetic records."""

from __future__ import annotations

import errno
import json
import re
import shutil
from pathlib import Path as FilePath

import pytest

from experiments.seven_regions import view as study
from farpath.base.errors import BadInputError, MachineLacksError
from farpath.record.record import RECORD_FILE
from farpath.report.site import build, plain_site
from farpath.report.site.build import build_site
from tests.support.campaigns import write_named, write_seven_regions


def quiet(what: str, done: int, of: int) -> None:
    """Nobody looks at the progress."""


@pytest.fixture(autouse=True)
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures take seconds and have tests of their own."""
    monkeypatch.setattr(study, "write_figures", lambda *_: iter(()))
    monkeypatch.setattr(plain_site, "write_overview", lambda *_: iter(()))


@pytest.fixture
def records(tmp_path: FilePath) -> FilePath:
    """H-TCP at CERN with two seeds."""
    directory = tmp_path / "records"
    for seed in (1, 2):
        write_named(directory, "cern", "htcp_2004", seed)
    return directory


@pytest.fixture
def out(tmp_path: FilePath) -> FilePath:
    """Where the site goes."""
    return tmp_path / "out"


def test_plotly_is_one_file_that_all_runs_share(records: FilePath, out: FilePath) -> None:
    built = build_site(records, out, quiet)
    assert [file.name for file in out.rglob("plotly*")] == ["plotly.min.js"]
    sizes = [file.stat().st_size for file in (out / "runs").iterdir()]
    assert len(sizes) == built.pages == 2
    assert max(sizes) < 100_000


def test_raw_output_and_pages_of_records_are_not_needed(records: FilePath, out: FilePath) -> None:
    for raw in records.glob("*/raw"):
        shutil.rmtree(raw)
    assert build_site(records, out, quiet).problems[0].startswith("figure 2")


def test_a_cell_without_a_run_is_shown_as_such(records: FilePath, out: FilePath) -> None:
    build_site(records, out, quiet)
    text = (out / "index.html").read_text()
    assert text.count('class="missing">no run') == 26
    assert "1 of 27 cells have a run" in text


def test_a_record_that_was_changed_is_named_and_left_out(records: FilePath, out: FilePath) -> None:
    file = records / "cern-htcp_2004-2" / RECORD_FILE
    data = json.loads(file.read_text())
    file.write_text(json.dumps({**data, "fingerprint": "0" * 64}))
    built = build_site(records, out, quiet)
    assert built.pages == 1
    assert "cern-htcp_2004-2" in built.problems[0]
    assert "Left out: " in (out / "index.html").read_text()


def test_runs_of_another_kernel_are_marked(records: FilePath, out: FilePath) -> None:
    write_named(records, "cern", "htcp_2004", 3, kernel="6.1-other")
    build_site(records, out, quiet)
    text = (out / "index.html").read_text()
    assert re.search(r'seed 3">3</a><a class="mark" href="#made"[^>]*>a</a>', text)
    assert "records of different kernel are mixed" in text
    assert "6.1-other" in text


def test_what_is_no_site_is_not_replaced(records: FilePath, out: FilePath) -> None:
    out.mkdir()
    (out / "thesis.tex").write_text("ten years")
    with pytest.raises(BadInputError, match="holds something other than a results site"):
        build_site(records, out, quiet)
    assert [file.name for file in out.iterdir()] == ["thesis.tex"]


def test_an_earlier_site_is_replaced_whole(records: FilePath, out: FilePath) -> None:
    build_site(records, out, quiet)
    shutil.rmtree(records / "cern-htcp_2004-2")
    build_site(records, out, quiet)
    assert [file.name for file in (out / "runs").iterdir()] == ["cern-htcp_2004-seed1.html"]
    assert not (out / "replaced").exists()


def test_a_full_disk_leaves_the_earlier_site_and_nothing_half_made(
    records: FilePath, out: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_site(records, out, quiet)
    before = (out / "index.html").read_bytes()

    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(build, "render_page", full)
    with pytest.raises(MachineLacksError, match="no space left"):
        build_site(records, out, quiet)
    assert (out / "index.html").read_bytes() == before
    assert sorted(file.name for file in out.parent.iterdir()) == ["out", "records"]


def test_a_site_of_equal_records_is_equal(
    records: FilePath, out: FilePath, tmp_path: FilePath
) -> None:
    again = tmp_path / "again"
    for directory in (out, again):
        build_site(records, directory, quiet)
    files = [file.relative_to(out) for file in sorted(out.rglob("*")) if file.is_file()]
    assert len(files) > 10
    assert all((out / file).read_bytes() == (again / file).read_bytes() for file in files)


def test_a_site_of_ones_own_runs_is_a_table_of_them_and_says_nothing_of_the_study(
    tmp_path: FilePath, out: FilePath
) -> None:
    directory = tmp_path / "records"
    for seed in (1, 2):
        write_named(directory, "cern", "cubic", seed)
    write_seven_regions(directory / "again", "cubic", 1, 5.0, kernel="6.1-other")
    built = build_site(directory, out, quiet)
    text = (out / "index.html").read_text()
    assert "<h1>3 runs: cubic</h1>" in text
    assert text.count('aria-label="run ') == built.pages == 3
    assert [
        words for words in ("2005", "no run", "Nine", "undecided", "CERN") if words in text
    ] == []
    assert "kernel 6.1-other" in text
    assert 'href="#made" title="made otherwise than most' in text
    pages_linked = set(re.findall(r'href="(runs/[^"]+)"', text))
    assert {f"runs/{file.name}" for file in (out / "runs").iterdir()} == pages_linked


def test_a_run_of_ones_own_leads_to_its_seeds_and_the_runs_beside_it(
    tmp_path: FilePath, out: FilePath
) -> None:
    for seed in (1, 2):
        write_named(tmp_path / "records", "cern", "cubic", seed)
    build_site(tmp_path / "records", out, quiet)
    text = (out / "runs" / "cern-cubic-seed1.html").read_text()
    assert text.count('href="cern-cubic-seed2.html"') == 2
    assert ">next</a>" in text


def test_the_studys_records_with_another_can_be_shown_as_the_study(
    records: FilePath, out: FilePath
) -> None:
    write_named(records, "cern", "cubic", 1)
    built = build_site(records, out, quiet)
    assert "2 of 3 runs are of the 2005 study: --view=study" in built.problems[0]
    build_site(records, out, quiet, view="study")
    text = (out / "index.html").read_text()
    assert "Nine transport stacks over three paths" in text
    assert text.count('class="cell"') == 2
