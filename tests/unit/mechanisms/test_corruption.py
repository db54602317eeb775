"""Corruption: what a text means, what is refused, and which counts are those that were drawn."""

from __future__ import annotations

from pathlib import Path as FilePath

import pandas as pd
import pytest

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.mechanisms.corruption.mechanism import MECHANISM
from farpath.mechanisms.mechanism import Output
from farpath.planning.request import RunRequest
from farpath.spec.corruption import Chooser, corrupting_ports
from farpath.spec.plan import Plan
from topologies import lay_out

SEEN = 1000


def planned(**options: str) -> Plan:
    defaults = {"rtt": "20ms", "rate": "10Mbit", "region": "5s", "stack": "quic_ngtcp2"}
    return RunRequest(**{**defaults, **options}).plan()


def examined(plan: Plan, **changes: int) -> list[str]:
    """The warnings of a run whose counts are those that were drawn, but for changes."""
    drawn = Chooser(plan, "sender").count(SEEN)
    counts = {"seen": SEEN, "chosen": drawn, "damaged": drawn, **changes}
    readback = {"after": {"corruption": {"sender": counts}}}
    return list(MECHANISM.examine(Output(plan, FilePath(), readback, pd.DataFrame())).warnings)


def test_a_plan_has_the_fraction_that_was_typed_and_a_path_of_another_name() -> None:
    plan = planned(corrupt="1%")
    assert MECHANISM.texts(plan) == {"corrupt": "0.01"}
    assert plan.path.name == "custom-corrupting"
    assert MECHANISM.texts(planned()) == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"corrupt": "2"}, "did you mean 2%"),
        ({"corrupt": "0"}, "out of range"),
        ({"corrupt": "1%", "stack": "udt"}, "would take damaged data as good"),
        ({"corrupt": "1%", "stack": "reno"}, "no flow of this run sends UDP"),
        ({"corrupt": "1%", "offloads": "gro"}, "may sum its datagrams"),
    ],
)
def test_what_would_damage_nothing_or_go_unnoticed_is_refused(
    options: dict[str, str], words: str
) -> None:
    with pytest.raises(BadInputError, match=words):
        planned(**options)


def test_each_host_has_datagrams_of_its_own_chosen_with_the_probability() -> None:
    plan = planned(corrupt="10%")
    chosen = {host: Chooser(plan, host).chosen for host in ("sender", "receiver")}
    assert chosen["sender"] != chosen["receiver"]
    for numbers in chosen.values():
        assert sum(number <= 10_000 for number in numbers) == pytest.approx(1000, abs=120)
    assert set(corrupting_ports(lay_out(plan))) >= {"sender", "receiver"}


def test_other_counts_than_were_drawn_fail_and_short_datagrams_are_told() -> None:
    plan = planned(corrupt="10%")
    assert examined(plan) == []
    with pytest.raises(CheckFailedError, match="of 1,000 datagrams of sender, not"):
        examined(plan, chosen=SEEN)
    with pytest.raises(CheckFailedError, match="more than were drawn for"):
        examined(plan, seen=10**9)
    (words,) = examined(plan, damaged=3)
    assert "less than 25 bytes" in words
    assert examined(plan, seen=0, chosen=0, damaged=0) == ["CORRUPT damaged no datagram"]
