"""The options of a run are described in one place, and what repeats them agrees."""

from __future__ import annotations

import re
from typing import Any

import pytest

from farpath.base.options import Option, options_of
from farpath.base.project import PROJECT
from farpath.cli.listing import options_markdown
from farpath.planning.option_names import OF_OTHER_TOOLS
from farpath.planning.request import RunRequest
from farpath.spec.background import Background
from farpath.spec.capture import Capture
from farpath.spec.changes import RateChanges, RttChanges
from farpath.spec.disk import Disk
from farpath.spec.dropper import Dropper
from farpath.spec.era import Era
from farpath.spec.host_image import HostImage
from farpath.spec.hosts import Sender
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow, Schedule
from farpath.spec.settings import Settings
from farpath.spec.stack import Stack
from farpath.spec.user_network import Cable, Shaping, UserNetwork
from farpath.spec.wire import wire_fields

MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")
OPTIONS = options_of(RunRequest)
#: Options that need a file of the user's.
OF_FILES = ("sender_image", "flows", "link", "mptcp")
#: Options that an example needs beside it.
NEEDED = {
    "capture": {"time": "10s"},
    "up_buffer": {"up_rate": "1Mbit"},
    # Only what finds damage by itself may have it
    "corrupt": {"stack": "quic_ngtcp2"},
    # A card that splits segments needs a path that loses none
    "offloads": {"loss": "0"},
}


@pytest.mark.parametrize(
    "option",
    [option for option in OPTIONS if option.name not in OF_FILES],
    ids=lambda option: option.name,
)
def test_an_options_example_is_accepted_but_for_what_needs_a_file_of_the_users(
    option: Option,
) -> None:
    needed: Any = NEEDED.get(option.name, {})
    RunRequest(**{option.name: option.example, **needed}).plan()


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_make_explains_an_option_by_its_variable(option: Option) -> None:
    help_text = MAKEFILE[MAKEFILE.index("Variables of make experiment") :]
    assert re.search(rf"\b{option.variable}=", help_text)


def test_make_takes_no_other_variables_for_a_run() -> None:
    (line,) = re.findall(r"^RUN_VARIABLES := (.*)$", MAKEFILE, re.MULTILINE)
    assert set(line.split()) == {option.variable for option in OPTIONS} | {"OUT"}


def test_make_and_the_command_line_mean_the_same_by_words_of_other_tools() -> None:
    block = re.search(r"^MEANT := ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    assert block
    meant = dict(pair.split("=") for pair in block[1].replace("\\\n", " ").split())
    flags = {option.variable: option.flag for option in OPTIONS}
    assert meant.pop("PATH") == "PATH_NAME"
    for word, variable in meant.items():
        assert OF_OTHER_TOOLS[f"--{word.lower()}"].startswith(f"{flags[variable]}=")


def test_the_table_of_options_is_the_one_that_farpath_prints() -> None:
    document = (PROJECT / "docs" / "reference" / "usage.md").read_text(encoding="utf-8")
    _, _, rest = document.partition("<!-- farpath options --markdown -->\n")
    table, _, _ = rest.partition("<!-- end of options -->")
    assert table.strip() == options_markdown()


@pytest.mark.parametrize(
    "part",
    [
        *(Plan, Path, Background, Schedule, Flow, Settings, Stack, Era, HostImage, Dropper, Sender),
        *(Disk, UserNetwork, Cable, Shaping, Capture, RateChanges, RttChanges),
    ],
    ids=lambda part: part.__name__,
)
def test_the_record_format_documents_every_field_of_a_plan(part: type) -> None:
    document = (PROJECT / "docs" / "reference" / "record-format.md").read_text(encoding="utf-8")
    for name in wire_fields(part):
        assert re.search(rf"[`.]{name}`", document), f"{part.__name__}.{name}"
