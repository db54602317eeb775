"""Names on the wire: a field keeps its name in JSON and identities when Python's changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from farpath.planning.request import RunRequest
from farpath.record.identity import _canonical
from farpath.spec.disk import Disk
from farpath.spec.plan import Plan
from farpath.spec.wire import as_wire, from_wire, on_wire, with_python_names


@dataclass(frozen=True)
class RenamedDisk:
    """``farpath.spec.disk.Disk`` with another name of a field in Python."""

    rate_bps: int
    ahead_bytes: int = field(metadata=on_wire("cache_bytes"))


@dataclass(frozen=True)
class RenamedHost:
    """A host with renamed disks, one of them, several, and by name."""

    disk: RenamedDisk | None = None
    disks: tuple[RenamedDisk, ...] = ()
    by_name: Mapping[str, RenamedDisk] = field(default_factory=dict)
    parts: tuple[int, float] = field(default=(1, 0.5), metadata=on_wire("shares"))


def test_a_field_that_is_renamed_in_python_keeps_the_identity() -> None:
    assert _canonical(RenamedDisk(8, 64)) == _canonical(Disk(8, 64)) != _canonical(Disk(8, 65))


def test_a_field_that_is_renamed_in_python_keeps_its_name_in_json_and_reads_it() -> None:
    disk = RenamedDisk(8, 64)
    assert as_wire(disk) == as_wire(Disk(8, 64))
    assert from_wire(RenamedDisk, json.loads(json.dumps(as_wire(Disk(8, 64))))) == disk


def test_fields_are_renamed_at_any_depth() -> None:
    disk = RenamedDisk(8, 64)
    host = RenamedHost(disk, (disk, disk), {"sender": disk}, (2, 0.25))
    data = json.loads(json.dumps(as_wire(host)))
    assert "ahead_bytes" not in json.dumps(data)
    assert from_wire(RenamedHost, data) == host
    named = with_python_names(RenamedHost, data)
    assert named["by_name"] == {"sender": {"rate_bps": 8, "ahead_bytes": 64}}
    assert named["disks"] == [named["disk"]] * 2
    assert named["parts"] == [2, 0.25]


@pytest.mark.parametrize(
    "data",
    [
        {"rate_bps": 8},
        {"rate_bps": 8, "ahead_bytes": 64},
        {"rate_bps": 8, "cache_bytes": 64, "more": 1},
        [8, 64],
        None,
    ],
)
def test_what_is_no_such_dataclass_is_refused(data: Any) -> None:
    with pytest.raises(TypeError):
        from_wire(RenamedDisk, data)


def test_an_empty_tuple_and_a_text_in_the_place_of_a_tuple_are_told_apart() -> None:
    assert from_wire(RenamedHost, {"disks": []}) == RenamedHost()
    others: list[Any] = ["", {}, 1]
    for disks in others:
        with pytest.raises(TypeError):
            from_wire(RenamedHost, {"disks": disks})


def test_a_plan_has_one_name_on_the_wire_for_each_field() -> None:
    plan = RunRequest(rtt="50ms", queue="codel", drop="every:9", background="10%").plan()
    data = json.loads(plan.to_json())
    assert Plan.from_dict(data) == plan
    with pytest.raises(TypeError, match="Plan has no disk"):
        Plan.from_dict({**data, "disk": None})


def test_what_is_no_field_or_of_another_type_stays_when_names_become_pythons() -> None:
    other: list[Any] = [None, 1, [8, 64], {"more": 1}, {"ahead_bytes": 64}]
    assert [with_python_names(RenamedDisk, data) for data in other] == other
