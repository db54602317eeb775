"""Names that no file system, page or terminal takes: one line, status 2, nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.files import replace_directory, resource_errors
from tests.support.command_line import Farpath

LONG = "n" * 300


@pytest.mark.parametrize(
    "words",
    [
        ("draw", f"--out=/tmp/{LONG}.png"),
        ("draw", f"--record={LONG}"),
        ("show", LONG),
        ("run", f"--stack=./{LONG}.c"),
        ("run", f"--stack=oci:./{LONG}"),
        ("run", f"--sender-image=./{LONG}"),
        ("run", f"--path={LONG}"),
        ("tables", f"--records={LONG}"),
        ("claims", f"--measures={LONG}"),
        ("site", f"--records={LONG}"),
        ("regress", f"--baseline={LONG}"),
        ("campaign", "--list", f"--experiment={LONG}"),
        ("campaign", "--list", f"--experiments={LONG}"),
        ("clean", f"--out={LONG}"),
        (f"--{LONG}",),
        (LONG,),
    ],
    ids=lambda words: " ".join(word[:20] for word in words),
)
def test_a_name_too_long_is_one_line_of_a_length_that_can_be_read(
    farpath: Farpath, words: tuple[str, ...]
) -> None:
    ended = farpath(*words)
    last = ended.err.splitlines()[-1]
    assert ended.status == 2, ended.err
    assert last.startswith("farpath: ")
    assert "Traceback" not in ended.err
    assert len(last) < 1500


def test_a_place_for_records_that_is_not_utf_8_is_refused_before_anything_runs(
    tmp_path: FilePath,
) -> None:
    out = os.fsencode(tmp_path) + b"/caf\xe9"
    code = "from farpath.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", b"--out=" + out], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"is not UTF-8" in done.stderr
    assert done.stderr.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_only_what_a_user_can_mend_is_said_to_be_a_files_fault(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="File name too long"), resource_errors():
        (tmp_path / LONG).stat()
    with pytest.raises(FileNotFoundError), resource_errors():
        (tmp_path / "none").read_text()
    with pytest.raises(MachineLacksError, match="no space"), resource_errors():
        raise OSError(28, "No space left on device", "/some/file")


def test_a_directory_that_cannot_take_its_place_leaves_what_was_there(tmp_path: FilePath) -> None:
    place, fresh = tmp_path / "site", tmp_path / "fresh"
    place.mkdir()
    (place / "page").write_text("old")
    (fresh / "replaced").mkdir(parents=True)
    (fresh / "replaced" / "in the way").write_text("")
    with pytest.raises(OSError, match="not empty"):
        replace_directory(fresh, place)
    assert (place / "page").read_text() == "old"


def test_a_link_at_a_place_is_replaced_and_what_it_leads_to_stays(tmp_path: FilePath) -> None:
    precious, place, fresh = tmp_path / "precious", tmp_path / "site", tmp_path / "fresh"
    for folder in (precious, fresh):
        folder.mkdir()
        (folder / "page").write_text(folder.name)
    place.symlink_to(precious)
    replace_directory(fresh, place)
    assert (place / "page").read_text() == "fresh"
    assert sorted(file.name for file in place.iterdir()) == ["page"]
    assert (precious / "page").read_text() == "precious"
