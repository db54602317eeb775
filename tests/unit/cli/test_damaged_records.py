"""Damaged and forged records: every command that reads one ends with one clear line."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farpath.base.project import EXPERIMENTS
from farpath.record.record import RECORD_FILE
from tests.support.command_line import Farpath

#: One with few samples, since each is read and hashed.
SHIPPED = min(
    EXPERIMENTS.glob(f"*/records/*/{RECORD_FILE}"),
    key=lambda file: ((file.parent / "flows.parquet").stat().st_size, file),
)
DATA: dict[str, Any] = json.loads(SHIPPED.read_text())


@pytest.fixture
def shipped(tmp_path: FilePath) -> FilePath:
    """The description of a copy of a shipped record."""
    return FilePath(shutil.copytree(SHIPPED.parent, tmp_path / "records" / "one")) / RECORD_FILE


def _places(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of a document; of what made it only to its first two levels."""
    yield at
    if at[:1] in (("provenance",), ("readback",)) and len(at) > 2:
        return
    inner = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else inner:
        yield from _places(each, (*at, key))


PLACES = [at for at in _places(DATA) if at]
ODD: list[Any] = [
    None, True, -1, 0, 10**30, 1e300, -1e300, 1e-300, 2.5, "", "text", "[/b]", "\x1b[2J",
    "$\\frac$", "\ud800", [], [1], {}, {"a": 1},
]  # fmt: skip


def _changed(at: tuple[Any, ...], change: str, odd: Any) -> dict[str, Any]:
    """The description with one value dropped, replaced, or put into a list or beside another."""
    data = copy.deepcopy(DATA)
    parent = data
    for key in at[:-1]:
        parent = parent[key]
    if change == "drop":
        del parent[at[-1]]
    elif change == "nest":
        parent[at[-1]] = [parent[at[-1]]]
    elif change == "add" and isinstance(parent, dict):
        parent["unheard-of"] = odd
    else:
        parent[at[-1]] = odd
    return data


@given(
    st.sampled_from(PLACES),
    st.sampled_from(["drop", "nest", "add", "replace"]),
    st.sampled_from(ODD),
)
@settings(
    max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_change_of_a_description_is_a_fault_of_farpaths(
    farpath: Farpath, shipped: FilePath, at: tuple[Any, ...], change: str, odd: Any
) -> None:
    shipped.write_text(json.dumps(_changed(at, change, odd)))
    ended = farpath("show", shipped.parent)
    assert ended.status in (0, 2), ended.err
    assert ended.err.count("\n") == (ended.status == 2)


def _set(*at: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        for key in at[:-1]:
            data = data[key]
        data[at[-1]] = value

    return change


FORGED = {
    "a version that is true": _set("format_version", value=True),
    "no schedule": _set("plan", "schedule", value=None),
    "a duration without end": _set("plan", "schedule", "duration_s", value=1e12),
    "a negative duration": _set("plan", "schedule", "duration_s", value=-960.0),
    "a region of nothing": _set("plan", "schedule", "region_s", value=1e-9),
    "one field more": _set("plan", "path", "colour", value="red"),
    "an era that never was": _set("plan", "era", "name", value="1066"),
    "a stack that is not there": _set("plan", "stacks", value=[]),
    "a title that moves the cursor": _set("plan", "path", "title", value="\x1b[2J"),
    "half a character": _set("plan", "path", "title", value="\ud800"),
    "a list of read-backs": _set("readback", value=[]),
    "datagrams that nobody sent": _set(
        "readback", "datagrams", value={"flow1": {"expected": 1, "lost": 0}}
    ),
    "less than no datagrams": _set(
        "readback", "datagrams", value={"flow1": {"sent": 1, "expected": 1, "lost": -1}}
    ),
    "drops of no kind": _set("readback", "after", "flow_drops", value={"queues": []}),
    "less than no drops": _set(
        *("readback", "after", "flow_drops"),
        value={
            "queues": {"s2-eth2": {"there": {"flow1": -1}, "back": {}, "others": 0}},
            "losses": {},
        },
    ),
    "a warning that is a number": _set("warnings", value=[1]),
}
COMMANDS = {
    "show": ("show", "{record}"),
    "draw": ("draw", "--record={record}", "--text"),
    "site": ("site", "--records={records}", "--out={out}"),
    "tables": ("tables", "--records={records}"),
    "claims": ("claims", "--records={records}"),
    "figures": ("site", "--figures", "--records={records}", "--out={out}"),
    "summary": ("tables", "--format=summary", "--records={records}", "--out={out}"),
}


def _call(farpath: Farpath, command: str, shipped: FilePath) -> tuple[Any, str]:
    directories = {
        "record": shipped.parent,
        "records": shipped.parents[1],
        "out": shipped.parents[2] / "out",
    }
    ended = farpath(*(word.format(**directories) for word in COMMANDS[command]))
    return ended.status, ended.err


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_record_is_one_line_and_status_2(
    farpath: Farpath, shipped: FilePath, what: str
) -> None:
    data = copy.deepcopy(DATA)
    FORGED[what](data)
    shipped.write_text(json.dumps(data))
    # The others read it through the same door, which the next test sees.
    status, err = _call(farpath, "show", shipped)
    assert status == 2, err
    assert err.count("\n") == 1
    assert err.startswith(f"farpath: {shipped}: ")


def test_flows_of_datagrams_without_their_counts_are_refused(
    farpath: Farpath, shipped: FilePath
) -> None:
    data = copy.deepcopy(DATA)
    data["plan"]["settings"]["trace_interval_s"] = 0.0
    for stack in data["plan"]["stacks"]:
        stack |= {"program": "iperf3-udp", "congestion": "", "parameters": {"size": "1000"}}
    data["readback"]["datagrams"] = {}
    shipped.write_text(json.dumps(data))
    ended = farpath("show", shipped.parent)
    assert ended.status == 2
    assert "readback.datagrams has no flow1, which must be counted there" in ended.err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_a_damaged_record_in_one_line(
    farpath: Farpath, shipped: FilePath, command: str
) -> None:
    for text in ("[" * 100_000, json.dumps({**DATA, "plan": {}})):
        shipped.write_text(text)
        status, err = _call(farpath, command, shipped)
        assert status == 2, err
        assert err.count("\n") == 1
        assert str(shipped) in err
    assert not (shipped.parents[2] / "out").exists()


def test_a_title_is_printed_as_it_is_and_no_markup(farpath: Farpath, shipped: FilePath) -> None:
    data = copy.deepcopy(DATA)
    data["plan"]["path"]["title"] = data["plan"]["path"]["name"] = "[red]a[/b]"
    shipped.write_text(json.dumps(data))
    ended = farpath("show", shipped.parent)
    assert (ended.status, ended.err) == (0, "")
    assert "path [red]a[/b]: [red]a[/b]\n" in ended.out


def test_samples_that_were_changed_stay_a_result_that_failed_a_check(
    farpath: Farpath, shipped: FilePath
) -> None:
    shipped.write_text(json.dumps({**DATA, "fingerprint": "0" * 64}))
    assert farpath("show", shipped.parent).status == 5
