"""Arguments of a call in Python: texts and numbers, and errors that name them."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest

import farpath
from farpath.api.arguments import request_of
from farpath.base.errors import BadInputError
from farpath.planning.request import RunRequest


def test_numbers_are_taken_as_the_option_takes_them_without_a_unit() -> None:
    options: Any = {"rate": 1e8, "loss": 1e-4, "seed": 2, "mtu": np.int64(1500), "buffer": 2e6}
    request = request_of(options)
    assert request == RunRequest(
        rate="100000000", loss="0.0001", seed="2", mtu="1500", buffer="2000000"
    )
    assert request.plan().path.rate_bps == 100_000_000


def test_none_is_the_option_s_default_and_a_path_is_its_text() -> None:
    assert request_of({"stack": None, "rtt": None}) == RunRequest()
    assert request_of({"sender_image": FilePath("mine.tar")}).sender_image == "mine.tar"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bw": "1G"}, "there is no option 'bw' of a run: write rate=100Mbit"),
        ({"stak": "bbr"}, "there is no option 'stak' of a run: did you mean stack?"),
        ({"xyz": 1}, "there is no option 'xyz' of a run: the options are acks, background"),
        ({"rtt": 50}, "rtt is '50': a number without a unit; write, for example, 164ms"),
        ({"stack": ["cubic", "bbr"]}, "stack is ['cubic', 'bbr']: it must be a text"),
        ({"loss": True}, "loss is True: it must be a text"),
        ({"path": "mars"}, "path is 'mars'"),
    ],
)
def test_a_wrong_argument_is_refused_by_its_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError) as refused:
        farpath.run(**options)
    assert refused.value.message.startswith(message)


def test_an_error_in_a_notebook_is_one_line_that_names_arguments() -> None:
    with pytest.raises(BadInputError) as refused:
        raise BadInputError(option="rtt", given="x", remedy="give `rtt=50ms` or `sender_image`")
    line = "farpath: rtt is 'x': give rtt=\"50ms\" or sender_image"
    assert refused.value._render_traceback_() == [line]
    assert str(refused.value) == line.removeprefix("farpath: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 0}, "--seeds is '0': it must be a whole number from 1"),
        ({"seed": [1, 2]}, "seed has several values: a sweep takes"),
        ({"loss": [0, "0.0"]}, "'loss=0, seed 1' and 'loss=0.0, seed 1' are the same run"),
        ({"rtt": []}, "rtt: it has no value"),
        ({"loss": list(range(1, 6000))}, "the sweep has 5,999 runs: at most 5,000"),
        ({"rtt": ["20ms", "x"]}, "rtt is 'x'"),
    ],
)
def test_a_sweep_is_refused_before_its_first_run(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError) as refused:
        farpath.sweep(**options)
    assert refused.value.message.startswith(message.removeprefix("--"))
