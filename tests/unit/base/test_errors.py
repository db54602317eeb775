"""Errors with fields, which each front end spells in its own way."""

from __future__ import annotations

import pickle

import pytest

from farpath.base.errors import BadInputError, MachineLacksError, Spelling, as_field
from farpath.planning.option_names import as_option, as_variable

WRONG_PATH = BadInputError(
    option="path", given="`rtt`", problem="there is none", remedy="give it, or `sender_image=./a b`"
)


@pytest.mark.parametrize(
    ("spell", "message"),
    [
        (as_option, "--path is '`rtt`': there is none; give it, or --sender-image=./a b"),
        (as_variable, "PATH_NAME is '`rtt`': there is none; give it, or SENDER_IMAGE=./a b"),
        (as_field, "path is '`rtt`': there is none; give it, or sender_image=\"./a b\""),
    ],
)
def test_a_front_end_spells_options_and_leaves_what_was_given(
    spell: Spelling, message: str
) -> None:
    assert WRONG_PATH.spelled(spell) == message


def test_an_error_of_a_file_names_its_keys_on_every_front_end() -> None:
    error = WRONG_PATH.in_file("runs.toml")
    assert error.spelled(as_variable) == error.message
    assert error.message.startswith("runs.toml: path is")
    assert (error.option, error.given, error.file) == ("path", "`rtt`", "runs.toml")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (BadInputError("no fields"), "no fields"),
        (BadInputError(problem="two of one", remedy="give `rtt`"), "two of one: give rtt"),
        (BadInputError(option="seed", given=-1, remedy="from 0 on"), "seed is -1: from 0 on"),
        (BadInputError(option="seed", problem="is missing"), "seed: is missing"),
        (MachineLacksError("no space: give `out`"), "no space: give out"),
    ],
)
def test_a_message_is_made_of_the_fields_that_there_are(error: BadInputError, message: str) -> None:
    assert error.message == str(error) == message


def test_an_error_keeps_its_fields_on_the_way_from_a_worker_process() -> None:
    received = pickle.loads(pickle.dumps(WRONG_PATH))
    assert vars(received) == vars(WRONG_PATH)
    assert received.spelled(as_option) == WRONG_PATH.spelled(as_option)
