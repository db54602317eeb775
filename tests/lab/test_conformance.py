"""farpath conformance in the lab: what conforms, and a wrong constant that does not."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import pytest

from tests.support.command_line import Farpath

pytestmark = pytest.mark.lab


def _states(printed: str) -> dict[str, str]:
    """The verdict on each statement, printed beside its numbers."""
    statements = json.loads(printed)["statements"]
    for each in statements:
        print(each["statement"], each["measured"], "/", each["stated"], each["state"])
    return {each["statement"]: each["state"] for each in statements}


@pytest.mark.nightly
def test_reno_conforms_or_differs_as_linux_is_known_to(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    options = ["reno", "--only=fast-retransmit,timeout,short-flows", "--draws=1", "--json"]
    options.append(f"--out={tmp_path}")
    ended = farpath("conformance", *options)
    assert ended.status == 0, ended.err
    assert _states(ended.out) == {
        "fast-retransmit/third-duplicate": "conforms",
        "fast-retransmit/once": "conforms",
        "timeout/loss-window": "conforms",
        "timeout/half-of-flight": "differs, known",
        "timeout/backoff": "conforms",
        "timeout/least-timeout": "differs, known",
        "short-flows/completion": "conforms",
        "short-flows/left-to-the-long-flow": "conforms",
    }
    records = sorted((tmp_path / "records").glob("*/record.json"))
    made = [file.stat().st_mtime_ns for file in records]
    assert len(made) == 3
    assert farpath("conformance", *options).status == 0
    assert [file.stat().st_mtime_ns for file in records] == made


def test_a_wrong_constant_of_cubic_is_found_where_it_acts(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    # beta is 0.8 in place of 0.7; C is what it was
    ended = farpath(
        *("conformance", "cubic:beta=820", "--only=two-losses", "--draws=1"),
        *(f"--out={tmp_path}", "--json"),
    )
    states = _states(ended.out)
    assert ended.status == 1, ended.err
    for name in ("beta", "curve", "fast-convergence"):
        assert states[f"two-losses/{name}"] == "differs"
    for name in ("c", "k"):
        assert states[f"two-losses/{name}"] == "conforms"
    assert (tmp_path / "cubic_beta_820" / "two-losses.svg").exists()


@pytest.mark.nightly
def test_wrong_constants_of_bbr3_are_found_where_they_act(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    # beta is 0.8 in place of 0.7, the headroom 0.2 in place of 0.15
    stack = "bbr3:beta_percent=80,headroom_percent=20"
    options = ("--only=loss-between-probes,shallow", "--draws=1", f"--out={tmp_path}", "--json")
    ended = farpath("conformance", stack, *options)
    assert ended.status == 1, ended.err
    assert _states(ended.out) == {
        "loss-between-probes/beta": "differs",
        "shallow/headroom": "differs",
        "shallow/longterm": "conforms",
        "shallow/utilisation": "conforms",
    }


@pytest.mark.nightly
def test_a_prague_that_takes_every_queue_for_a_classic_one_is_found_and_one_that_takes_none(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    # Issue 38 of github.com/L4STeam/linux: its fallback was on in each queue that marks, for a
    # threshold in another unit than what it was compared with
    options = ("--only=l4s-queue,classic-queue", "--draws=1", f"--out={tmp_path}", "--json")
    ended = [
        farpath("conformance", f"prague:classic_queue_us={value}", *options) for value in (1, 0)
    ]
    assert [one.status for one in ended] == [1, 1], ended[0].err
    always, never = (_states(one.out) for one in ended)
    assert always["l4s-queue/decrease"] == "differs"
    assert always["classic-queue/share-left"] == "conforms"
    assert never["l4s-queue/decrease"] == "conforms"
    assert never["classic-queue/share-left"] == "differs"
