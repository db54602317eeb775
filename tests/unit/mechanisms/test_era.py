"""Eras: data that is whole, texts that mean one, and a document that says the same."""

from __future__ import annotations

import pytest

from farpath.base.project import PROJECT
from farpath.cli.listing import all_eras, eras_markdown
from farpath.mechanisms.era.mechanism import era_by_text, era_text, features
from farpath.mechanisms.registry import values_of
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.planning.request import RunRequest
from farpath.record.record import load_record
from farpath.spec.bus import Bus
from farpath.spec.era import MODERN
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import DELAY_LIMIT_PACKETS, NicQueue, nic_qdisc
from farpath.spec.schedule import seven_regions
from tests.support.refusals import refused
from topologies import lay_out

DOCUMENT = PROJECT / "docs" / "reference" / "eras.md"


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
    card = nic_qdisc(plan_in("2004:txqueuelen=1000,ring=0"))
    assert isinstance(card, NicQueue)
    assert card.queue_packets == 1000
    assert "limit 1000 rate 1000000000bit seed " in card.tc_lines("X")[0]


@pytest.mark.parametrize(
    ("era", "packets"),
    [
        ("2004", 356),
        ("2004:txqueuelen=2000", 2256),
        # A card with a TCP of its own takes what the bus carries
        ("2004:card=10Gbit,bus=133MHz,toe=yes", DELAY_LIMIT_PACKETS),
    ],
)
def test_a_card_holds_its_ring_beyond_the_queue(era: str, packets: int) -> None:
    card = nic_qdisc(plan_in(era))
    assert isinstance(card, NicQueue)
    assert card.queue_packets == packets


@pytest.mark.parametrize(
    "text",
    [
        "2004",
        "modern",
        "2004:txqueuelen=1000,ring=0,cpu=2.8GHz,load=1,processors=2,recovery=2.4,jitter=12us",
        "2004:card=10Gbit,bus=133MHz,mmrbc=4096,toe=yes",
        "2004:cpu=2.8GHz,backlog=10000,sack=no",
        "2004:cpu=2.8GHz,throttle=yes",
        "2004:cpu=2.8GHz,hints=all",
        "modern:jitter=72us",
    ],
)
def test_an_era_has_a_text_that_means_it(text: str) -> None:
    assert era_text(era_by_text(text)) == text


def test_an_era_s_text_is_the_shortest() -> None:
    assert era_text(era_by_text("2004:txqueuelen=100,cpu=1200MHz,load=0")) == "2004:cpu=1.2GHz"


def test_an_infinitely_fast_processor_can_be_asked_for() -> None:
    assert era_by_text("2004:cpu=none").processor is None
    assert era_text(era_by_text("2004:ring=0,cpu=none")) == "2004:ring=0"


@pytest.mark.parametrize(
    "wrong",
    [
        "1988",
        "",
        "2004:mtu=1",
        "modern:txqueuelen=5",
        "modern:jitter=5",
        "2004:jitter=11ms",
        "2004:ring=many",
        "2004:cpu=2",
        "2004:cpu=2.8ms",
        "2004:cpu=1MHz",
        "2004:load=1",
        "2004:cpu=none,load=1",
        "2004:cpu=1GHz,processors=0",
        "2004:recovery=2.6",
        "2004:bus=PCI",
        "2004:bus=66MHz,mmrbc=4K",
        "2004:mmrbc=512,toe=yes",
        "2004:bus=66MHz,toe=yes,cpu=2.2GHz",
        "2004:bus=66MHz,toe=1",
        "2004:card=fast",
        "2004:sack=off",
        "2004:backlog=10",
        "2004:throttle=yes",
        "2004:hints=all",
        "2004:cpu=2.8GHz,hints=some",
        "2004:cpu=2.8GHz,load=0000000005000",
        "2004:txqueuelen=0",
        "2004:txqueuelen=many",
    ],
)
def test_a_wrong_era_is_refused_with_what_is_allowed(wrong: str) -> None:
    with refused("era"):
        era_by_text(wrong)


@pytest.mark.parametrize(
    ("era", "line"),
    [
        ("2004:jitter=12us", "limit 356 delay 6000ns 6000ns rate 1000000000bit seed "),
        ("modern:jitter=72us", "limit 2000000 delay 36000ns 36000ns rate 100000000000bit seed "),
    ],
)
def test_each_host_has_jitter_of_its_own(era: str, line: str) -> None:
    request = RunRequest(
        rtt="20ms", stack="reno+reno", schedule="together", senders="rtt=20ms", era=era
    )
    queues = {port.name: port.queue for port in lay_out(request.plan()).ports}
    cards = [queues["sender-eth0"], queues["sender2-eth0"]]
    assert all(isinstance(card, NicQueue) and line in card.tc_lines("X")[0] for card in cards)
    assert cards[0] != cards[1]


@pytest.mark.parametrize(
    ("era", "rate_bps"),
    [
        ("2004:card=10Gbit", 10_000_000_000),
        ("2004:bus=66MHz,mmrbc=4096", 1_000_000_000),
        ("2004:card=10Gbit,bus=133MHz,mmrbc=4096", Bus("133MHz", 4096).rate_bps(1514)),
    ],
)
def test_the_slower_of_card_and_bus_is_what_a_host_sends_at(era: str, rate_bps: int) -> None:
    card = nic_qdisc(plan_in(era))
    assert isinstance(card, NicQueue)
    assert card.rate_bps == rate_bps


def test_a_bus_carries_small_packets_at_a_lower_rate() -> None:
    request = RunRequest(
        rtt="20ms", mtu="9000", stack="reno", schedule="together", senders="rtt=20ms,mtu=1500",
        era="2004:card=10Gbit,bus=133MHz,mmrbc=4096",
    )  # fmt: skip
    cards = [nic_qdisc(request.plan(), host) for host in ("sender", "sender2")]
    bus = Bus("133MHz", 4096)
    assert [card and card.rate_bps for card in cards] == [bus.rate_bps(9014), bus.rate_bps(1514)]


def test_recovery_of_today_is_what_an_era_has_by_itself() -> None:
    assert era_by_text("2004:recovery=today") == era_by_text("2004")


def test_a_card_that_is_not_as_asked_is_told() -> None:
    card = nic_qdisc(plan_in("2004"))
    assert isinstance(card, NicQueue)
    options = {"limit": 356, "rate": {"rate": 125_000_000}, "seed": card.seed}
    assert card.differences({"kind": "netem", "options": options}) == []
    assert card.differences({"kind": "noqueue", "options": {}}) == [
        "kind is noqueue, not netem",
        "limit is None packets, not 356",
        "rate is 0 bit/s, not 1000000000",
        f"seed is None, not {card.seed}",
    ]


def test_every_feature_says_then_now_what_is_set_and_what_stays() -> None:
    assert len(features("2004")) >= 12
    for feature in features("2004"):
        assert all((feature.name, feature.then, feature.now, feature.set, feature.left))
        assert feature.name in all_eras()


def test_the_document_holds_the_table_that_the_program_prints() -> None:
    assert eras_markdown() in DOCUMENT.read_text(encoding="utf-8")


def test_acks_that_a_full_input_queue_of_a_sending_host_dropped_are_a_column_of_their_own() -> None:
    (shipped,) = (PROJECT / "experiments/seven_regions/records").glob("cern-htcp_2004-*-seed3-*")
    # Nineteen times the retransmissions of this run, 39,650
    assert values_of(load_record(shipped, verify=False))["acks_dropped"] == 757_997
    (free, *_) = (PROJECT / "experiments/response_function/records").glob("*")
    assert "acks_dropped" not in values_of(load_record(free, verify=False))
