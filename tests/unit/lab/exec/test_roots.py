"""Roots of programs: what is there, and what is refused before a lab boots."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.exec.roots import LAB, MACHINE, roots
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST

COMMANDS: dict[str, list[tuple[str, ...]]] = {
    CLIENT_HOST: [("sh", "-c", "true")],
    SERVER_HOST: [("cat",)],
}


def test_programs_of_this_machine_work_where_the_user_is(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = roots(MACHINE, None, None, ["WORD=a=b"], COMMANDS)
    place = found.places[CLIENT_HOST]
    assert (place.root, place.directory, found.share) == ("machine", str(tmp_path), None)
    assert "WORD=a=b" in place.environment


def test_only_named_variables_of_the_user_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    monkeypatch.setenv("CHOSEN", "this one")
    environment = roots(MACHINE, None, None, ["CHOSEN"], COMMANDS).places[CLIENT_HOST].environment
    assert "CHOSEN=this one" in environment
    assert not any(text.startswith("TOKEN=") for text in environment)


def test_another_root_sees_only_the_shared_directory(tmp_path: FilePath) -> None:
    found = roots(LAB, None, tmp_path, (), COMMANDS)
    assert (found.share, found.places[SERVER_HOST].directory) == (tmp_path, str(tmp_path))
    assert roots(LAB, None, None, (), COMMANDS).share is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"root": "moon"}, "root is 'moon'"),
        ({"share": FilePath("/nowhere")}, "share is '/nowhere'"),
        ({"variables": ["farpath-unset"]}, "env is 'farpath-unset'"),
        ({"image": "moon=./mine.tar"}, "image is 'moon=./mine.tar'"),
        ({"commands": {CLIENT_HOST: [("farpath-none",)], SERVER_HOST: []}}, "in PATH"),
        ({"commands": {CLIENT_HOST: [("./none",)], SERVER_HOST: []}}, "'./none' is no program"),
    ],
)
def test_what_is_not_there_is_refused(changed: dict, message: str) -> None:
    given = {"root": MACHINE, "image": None, "share": None, "variables": (), "commands": COMMANDS}
    with pytest.raises(BadInputError, match=message):
        roots(**{**given, **changed})
