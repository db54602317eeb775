"""Eras: data that is whole, texts that mean one, and a document that says the same."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.base.project import PROJECT
from farpath.cli.listing import all_eras, eras_markdown
from farpath.planning.era_catalog import era_by_text, features
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.spec.era import MODERN
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import NicQueue, nic_qdisc
from farpath.spec.schedule import seven_regions

DOCUMENT = PROJECT / "docs" / "eras.md"


def plan_in(era: str) -> Plan:
    schedule = seven_regions("reno", 10.0)
    return make_plan(path_by_name("cern"), schedule, 7, "virtual", era_by_text(era))


def test_today_changes_nothing_and_its_hosts_are_infinitely_fast() -> None:
    assert era_by_text("modern") == MODERN
    assert nic_qdisc(plan_in("modern")) is None


def test_2004_has_the_initial_window_of_rfc_3390_and_a_gigabit_card() -> None:
    era = era_by_text("2004")
    assert era.initial_window_packets == 3
    assert era.card_rate_bps == 1_000_000_000
    assert era.sysctl["net.ipv4.tcp_frto"] == "0"


def test_the_card_s_queue_can_be_set() -> None:
    card = nic_qdisc(plan_in("2004:txqueuelen=100"))
    assert isinstance(card, NicQueue)
    assert card.queue_packets == 100
    assert "limit 100 rate 1000000000bit seed 7" in card.tc_lines("X")[0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("1988", "ERA is '1988': it must be one of modern, 2004"),
        ("", "ERA is ''"),
        ("2004:mtu=1", "only 2004:txqueuelen"),
        ("modern:txqueuelen=5", "only 2004:txqueuelen"),
        ("2004:txqueuelen=0", "from 1 to 100000"),
        ("2004:txqueuelen=many", "txqueuelen is 'many'"),
    ],
)
def test_a_wrong_era_is_refused_with_what_is_allowed(wrong: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        era_by_text(wrong)


def test_a_card_that_is_not_as_asked_is_told() -> None:
    card = nic_qdisc(plan_in("2004"))
    assert isinstance(card, NicQueue)
    right = {"kind": "netem", "options": {"limit": 1000, "rate": {"rate": 125_000_000}}}
    assert card.differences(right) == []
    assert card.differences({"kind": "noqueue", "options": {}}) == [
        "kind is noqueue, not netem",
        "limit is None packets, not 1000",
        "rate is 0 bit/s, not 1000000000",
    ]


def test_every_feature_says_then_now_what_is_set_and_what_stays() -> None:
    assert len(features("2004")) >= 12
    for feature in features("2004"):
        assert all((feature.name, feature.then, feature.now, feature.set, feature.left))
        assert feature.name in all_eras()


def test_the_document_holds_the_table_that_the_program_prints() -> None:
    assert eras_markdown() in DOCUMENT.read_text(encoding="utf-8")
