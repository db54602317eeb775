"""nftables: the rules of droppers."""

from __future__ import annotations

from farpath.planning.droppers import parse_droppers
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
    assert "numgen inc mod 4294967295 { 2, 4 } counter name lost_0 drop" in script
    assert "numgen inc mod 7 == 6 counter name lost_1 drop" in script
    assert not any("lost_2 drop" in line for line in script)


def test_a_chance_of_one_takes_every_packet(plan: Plan) -> None:
    script = nftables.script(
        with_droppers(plan, parse_droppers("random:1")), {"there": ["s2-eth1"], "back": []}
    )
    assert "counter name lost_0 drop" in script
    assert "numgen" not in script
