"""What a user asks of a preset, and what stands beside it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.project import PROJECT
from farpath.presets.preset import Commands, Preset
from farpath.presets.registry import asked_preset, presets
from tests.support import added_preset
from tests.support.command_line import Farpath


def test_a_preset_has_the_default_of_each_parameter_that_is_not_given() -> None:
    asked = asked_preset("db:clients=2,script=select-only")
    assert asked.text == "db:script=select-only,clients=2,transactions=25,scale=10"
    assert asked_preset(asked.text) == asked


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wep", "did you mean web?"),
        ("web:http=4", "it must be all or 1.1 or 2 or 3"),
        ("web:protocol=2", "web has no parameter 'protocol'; it has http, objects, size"),
        ("db:clients=0", "it must be 1 to 250"),
        ("db:", "a word is missing"),
    ],
)
def test_what_a_preset_is_not_is_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(BadInputError) as refused:
        asked_preset(text)
    assert words in str(refused.value)
    assert "`preset`" in refused.value.text
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--preset=web", "--", "true"], "a command is given beside --preset"),
        (["--preset=web", "--server=sleep 9"], "--server is given beside --preset"),
        (["--preset=web", "--root=lab"], "--root is given beside --preset"),
        ([], "no client is given"),
    ],
)
def test_programs_come_of_the_user_or_of_a_preset_and_not_of_both(
    farpath: Farpath, options: list[str], words: str
) -> None:
    ended = farpath("exec", "--rtt=20ms", *options)
    assert ended.status == 2
    assert words in ended.err


class Absent(Preset):
    """A preset of a program that no machine has."""

    name = "absent"
    summary = "nothing"

    def packages(self, values: object) -> dict[str, str]:
        """A program of the machine, and one that there is not."""
        return {"sh": "dash", "no-such-program": "no-such-package"}

    def commands(self, values: object) -> Commands:
        """No commands are asked for."""
        raise NotImplementedError


def test_a_missing_program_is_named_with_its_package() -> None:
    with pytest.raises(MachineLacksError) as lacking:
        Absent().require_programs({})
    assert str(lacking.value) == (
        "preset absent needs no-such-program: install it, as by 'apt-get install no-such-package'"
    )


def test_the_script_of_packages_installs_those_of_all_presets() -> None:
    text = (PROJECT / "images" / "host-packages").read_text()
    installed = text.split("PRESETS_PACKAGES=(")[1].split(")")[0].split()
    needed = {
        package
        for preset in presets().values()
        for package in preset.packages(asked_preset(preset.name).values).values()
    }
    assert set(installed) == needed


def test_each_preset_has_its_scripts_in_its_own_folder() -> None:
    for preset in presets().values():
        commands = preset.commands(asked_preset(preset.name).values)
        for command in (commands.client, *commands.servers):
            assert (preset.folder / command[1]).is_file()


def test_a_preset_that_a_folder_adds_is_in_the_help(tmp_path: FilePath) -> None:
    added_preset.add_echo(tmp_path)
    code = f"{added_preset.FIND}\nfrom farpath.cli.app import main\nmain()"
    command = [sys.executable, "-c", code, str(tmp_path), "exec", "--help"]
    shown = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    assert "call, db, echo, video, web" in " ".join(shown.stdout.replace("│", " ").split())
