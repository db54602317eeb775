"""Sets of records that are nowhere on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

from farpath.metrics.record_set import Member, RecordSet, make_record_set
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from tests.support.campaigns import run_of


def plan_of(**words: str) -> Plan:
    """The plan that these options ask for."""
    return RunRequest(**words).plan()


def member(record: str, **words: str) -> Member:
    """A run of CUBIC over 20 ms, with these options changed, under a record's name."""
    run = dataclasses.replace(run_of("Reno"), record=record, fingerprint=record * 8)
    return Member(
        plan_of(**{"rtt": "20ms", "stack": "cubic", "schedule": "together", **words}), run
    )


def record_set(*members: Member) -> RecordSet:
    """The set of these runs."""
    return make_record_set(FilePath("results"), members)
