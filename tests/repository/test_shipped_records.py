"""What a shipped record asks for does not change when farpath's code does.

A record is found again by the identity of its plan. If an identity moves, hours of
shipped runs have to be made again: so each is pinned in tests/data/plan-identities.json.
"""

from __future__ import annotations

import json

from farpath.base.project import PROJECT
from farpath.record.identity import plan_identity
from farpath.spec.plan import Plan

PINNED = PROJECT / "tests" / "data" / "plan-identities.json"


def identities() -> dict[str, str]:
    """The plan identity of every shipped record, by the record's directory."""
    identities = {}
    for file in sorted(PROJECT.glob("experiments/*/*records/*/record.json")):
        plan = Plan.from_dict(json.loads(file.read_text(encoding="utf-8"))["plan"])
        identities[str(file.parent.relative_to(PROJECT))] = plan_identity(plan)
    return identities


def test_every_shipped_record_has_the_plan_identity_that_it_was_shipped_with() -> None:
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    assert pinned
    assert identities() == pinned
