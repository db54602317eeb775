"""nftables: the rules of droppers."""

from __future__ import annotations

from typing import Any

from farpath.mechanisms.dropper.mechanism import parse_droppers
from farpath.spec.plan import Plan
from farpath.tools import nftables
from tests.support.plans import with_droppers


def test_rules_count_data_towards_the_receiver_and_all_packets_back(plan: Plan) -> None:
    text = "packets:3,5,flow=flow1 every:7,flow=flow2 at:3s,direction=back"
    script = nftables.script(
        with_droppers(plan, parse_droppers(text)), {"there": ["s2-eth1"], "back": ["s1-eth1"]}
    ).splitlines()
    data = "meta l4proto { tcp, udp } th dport"
    assert f"{data} {{ 5201 }} meta length > 750 jump dropper_0" in script
    assert f"{data} {{ 5202 }} meta length > 750 jump dropper_1" in script
    assert "meta l4proto { tcp, udp } th sport { 5201, 5202 } jump dropper_2" in script
    assert 'type filter hook ingress device "s1-eth1" priority 0;' in script
    assert "numgen inc mod 4294967295 { 2, 4 } goto lost_0" in script
    assert "numgen inc mod 7 == 6 goto lost_1" in script
    assert not any("goto lost_2" in line for line in script)
    assert "th dport 5201 counter name lost_0_5201 drop" in script
    assert "th dport 5202 counter name lost_1_5202 drop" in script
    assert "th sport 5202 counter name lost_2_5202 drop" in script


def test_a_chance_of_one_takes_every_packet(plan: Plan) -> None:
    script = nftables.script(
        with_droppers(plan, parse_droppers("random:1")), {"there": ["s2-eth1"], "back": []}
    )
    assert "\n goto lost_0\n" in script
    assert "numgen" not in script


def test_what_a_dropper_dropped_is_the_sum_over_its_flows(plan: Plan) -> None:
    dropping = with_droppers(plan, parse_droppers("every:9 every:7,flow=flow2,direction=back"))
    packets = {"seen_0": 90, "lost_0_5201": 6, "lost_0_5202": 4, "seen_1": 7, "lost_1_5202": 1}
    output: dict[str, Any] = {
        "nftables": [{"metainfo": {}}]
        + [{"counter": {"name": name, "packets": count}} for name, count in packets.items()]
    }
    assert nftables.parse_counters(output, dropping) == [
        {"dropper": "every:9", "seen": 90, "lost": 10, "flows": {"flow1": 6, "flow2": 4}},
        {
            "dropper": "every:7,direction=back,flow=flow2",
            "seen": 7,
            "lost": 1,
            "flows": {"flow2": 1},
        },
    ]


def test_an_outage_drops_nothing_until_it_begins_and_counts_on_when_it_has_ended(
    plan: Plan,
) -> None:
    dropping = with_droppers(plan, parse_droppers("outage:5s,8s"))
    script = nftables.script(dropping, {"there": ["s2-eth1"], "back": []})
    assert not any("goto" in line for line in script.splitlines())
    assert nftables.drop_all(0) == "add rule netdev farpath dropper_0 goto lost_0"
    assert nftables.drop_none(0).splitlines() == [
        "flush chain netdev farpath dropper_0",
        "add rule netdev farpath dropper_0 counter name seen_0",
    ]
