"""Own topologies: what Mininet's link options become, and what is refused by its name."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.user_flows import parse_flows
from farpath.planning.user_topology import (
    UserText,
    is_user_topology,
    name_of,
    network_of,
    split_text,
)
from farpath.spec.aqm import Aqm
from farpath.spec.user_network import Shaping, UserNetwork
from farpath.spec.wire import from_wire
from tests.support.refusals import refused

SWITCH = {"isSwitch": True}


def described(
    hosts: dict[str, Any] | None = None, switches: dict[str, Any] | None = None, **link: Any
) -> dict[str, Any]:
    """Two hosts at a switch, as the reader prints them; ``link`` are options of the first's."""
    return {
        "hosts": {"h1": {}, "h2": {}} | (hosts or {}),
        "switches": {"s1": SWITCH | (switches or {})},
        "links": [
            {"node1": "h1", "node2": "s1", "port1": 0, "port2": 1, **link},
            {"node1": "s1", "node2": "h2", "port1": 2, "port2": 0},
        ],
    }


def mapped(**link: Any) -> tuple[Shaping, Shaping]:
    """What the first link does to packets, there and back."""
    cable = network_of(described(**link)).cables[0]
    return cable.there, cable.back


def test_a_tclink_does_the_same_to_both_directions() -> None:
    there, back = mapped(
        bw=10, delay="5ms", jitter="500us", loss=2, max_queue_size=100, use_htb=True
    )
    assert there == back == Shaping(10_000_000, 100, 5.0, 0.5, 0.02)


def test_a_rate_without_a_queue_size_has_mininets_thousand_packets() -> None:
    assert mapped(bw=0.5)[0] == Shaping(500_000, 1000)


def test_a_link_without_options_does_nothing_to_packets() -> None:
    assert mapped() == (Shaping(), Shaping())


def test_ends_may_have_options_of_their_own_below_those_of_the_link() -> None:
    there, back = mapped(params1={"bw": 10, "delay": "1ms"}, params2={"bw": 2}, delay="7ms")
    assert (there.rate_bps, there.delay_ms) == (10_000_000, 7.0)
    assert (back.rate_bps, back.delay_ms) == (2_000_000, 7.0)


@pytest.mark.parametrize(
    "link",
    [
        {"cls": {"class": "TCLink"}, "gro": False, "use_tbf": False, "latency_ms": None},
        {"disable_gro": True, "txo": False, "enable_ecn": False, "speedup": 0, "fast": True},
    ],
)
def test_what_changes_nothing_here_is_accepted(link: dict[str, Any]) -> None:
    assert mapped(bw=10, **link) == mapped(bw=10)


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ({"bw": "10"}, r"link h1-s1 has bw='10'; it must be a number from 0.1 to 10,000 Mbit/s"),
        ({"bw": 20_000}, "link h1-s1 has bw=20000; it must be a number"),
        ({"bw": True}, "link h1-s1 has bw=True"),
        ({"delay": 5}, "link h1-s1 has delay=5; give it with its unit, as in delay='5ms'"),
        ({"delay": "5"}, "link h1-s1: delay is '5', a number without a unit"),
        ({"delay": "-1ms"}, "link h1-s1: delay is '-1ms'"),
        ({"jitter": "1ms"}, "jitter='1ms' and delay=None; a delay may deviate by at most itself"),
        ({"loss": 60}, "loss=60; it must be a number from 0 to 50 %"),
        ({"loss": "1%"}, "loss='1%'; it must be a number"),
        ({"loss": 1e-7}, "loss is 1e-09; it must be 0 to 0.5, and 0 or at least 1e-08"),
        ({"max_queue_size": 9}, "max_queue_size=9 and no bw: packets wait for a rate only"),
        ({"bw": 1, "max_queue_size": 1}, "max_queue_size=1; it must be a number from 2"),
        ({"enable_ecn": True}, "enable_ecn=True and no bw: packets wait for a rate only"),
        (
            {"bw": 1, "queue": "blue"},
            "link h1-s1: queue is 'blue': it must be one of droptail, red",
        ),
        ({"bw": 1, "queue": 5}, "queue=5; give a text as queue takes it"),
        ({"bw": 1, "queue": "red:limit=1MB"}, "its limit counts bytes, and a link's buffer counts"),
        ({"bw": 1, "queue": "pie", "enable_red": True}, "queue and enable_red or enable_ecn"),
        ({"bw": 1, "use_tbf": True, "latency_ms": "5"}, "latency_ms='5'; it must be a number"),
        ({"gro": True}, "gro=True: that is not mapped"),
        ({"cls": {"class": "OVSLink"}}, "link h1-s1 is a OVSLink, which is not mapped"),
        ({"cls": {"object": "functools.partial"}}, "link h1-s1 is a functools.partial"),
        ({"params1": 3}, "link h1-s1 has params1=3"),
        ({"burts": 5}, "link h1-s1 has burts=5: that is not mapped; leave it out"),
        ({"port2": 100}, "s1 has a link at port 100; a port is 1 to 99 and has one link"),
        ({"port2": 2}, "s1 has a link at port 2; a port is 1 to 99 and has one link"),
    ],
)
def test_a_link_that_cannot_be_mapped_is_refused_by_name(
    link: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInputError, match=r"^topology: ") as caught:
        mapped(**link)
    assert message in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ({"hosts": {"h1": {"cpu": 0.25}}}, "host h1 has cpu=0.25: CPULimitedHost is not mapped"),
        (
            {"hosts": {"h1": {"cls": {"class": "VLANHost"}}}},
            "host h1 is a VLANHost, which is not mapped; it can be Host, Node",
        ),
        ({"hosts": {"h2": {"cls": {"class": "NAT"}}}}, "host h2 is a NAT, which is not mapped"),
        ({"hosts": {"h2": {"inNamespace": False}}}, "host h2 has inNamespace=False"),
        ({"hosts": {"h3": {}}}, "host h3 has 0 links; each host has one, to a switch"),
        ({"hosts": {"pinger": {}}}, "a node is called 'pinger'"),
        ({"hosts": {"h2-left": {}}}, "a node is called 'h2-left'"),
        ({"switches": {"colour": "red"}}, "switch s1 has colour='red': that is not mapped"),
        ({"switches": {"cls": {"class": "UserSwitch"}}}, "switch s1 is a UserSwitch"),
    ],
)
def test_a_node_that_cannot_be_mapped_is_refused_by_name(
    nodes: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInputError, match=r"^topology: ") as caught:
        network_of(described(**nodes))
    assert message in caught.value.message


def test_an_address_that_a_host_has_anyway_may_be_given() -> None:
    assert network_of(described(hosts={"h2": {"ip": "10.0.0.2/24"}})).hosts == ("h1", "h2")


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        (
            {"link": {"linkopts": {"r2q": 1}}},
            "linkopts of links is ignored: Mininet ignores it too",
        ),
        ({"link": {"r2q": 1}}, "r2q of links is ignored: a rate is exact here"),
        ({"link": {"addr1": "00:00:00:00:00:01"}}, "addr1 of links is ignored: flows name their"),
        ({"link": {"params1": {"ip": "10.0.0.9/8"}}}, "ip of links is ignored: all hosts are in"),
        (
            {"hosts": {"h2": {"ip": "10.0.0.7"}}},
            "ip of hosts is ignored: all hosts are in one subnet",
        ),
        ({"hosts": {"h2": {"defaultRoute": "via 10.0.0.1"}}}, "defaultRoute of hosts is ignored"),
        ({"hosts": {"h1": {"sched": "cfs", "cpu": -1}}}, "sched of hosts is ignored: computation"),
        ({"switches": {"inNamespace": True}}, "inNamespace of switches is ignored: a switch needs"),
        ({"switches": {"protocols": "OpenFlow13"}}, "protocols of switches is ignored: switches"),
        ({"switches": {"stp": True}}, "stp of switches is ignored: a network here has no loops"),
    ],
)
def test_an_option_that_means_nothing_here_is_ignored_with_a_warning(
    options: dict[str, Any], warning: str
) -> None:
    said: list[str] = []
    description = described(
        options.get("hosts"), options.get("switches"), **options.get("link", {})
    )
    assert network_of(description, said.append) == network_of(described())
    (words,) = said
    assert words.startswith(warning)


def test_a_warning_is_said_once_for_all_nodes() -> None:
    said: list[str] = []
    hosts = {"h1": {"mac": "00:00:00:00:00:01"}, "h2": {"mac": "00:00:00:00:00:02"}}
    network_of(described(hosts), said.append)
    assert len(said) == 1


def test_red_is_as_mininet_sets_it_and_marks_only_with_ecn() -> None:
    # TCIntf.bwCmds in mininet/link.py: min 30000 max 35000 burst 20, limit 1000000 bytes
    there, back = mapped(bw=100, enable_ecn=True)
    assert there == back
    assert there.queue
    assert there.queue.marks
    assert there.queue.limit(there.buffer_packets * 1514, 0, 1514) == pytest.approx(1e6, rel=1e-3)
    assert {"min": 30_000, "max": 35_000, "burst": 20}.items() <= there.queue.parameters.items()
    plain = mapped(bw=100, enable_red=True, max_queue_size=50)[0]
    assert plain.queue
    assert not plain.queue.marks
    assert plain.buffer_packets == 50


def test_a_link_may_have_any_queue_that_a_path_may_have() -> None:
    shaping = mapped(bw=10, queue="fq_codel:target=5ms,limit=200")[0]
    assert shaping == Shaping(10_000_000, 200, queue=Aqm("fq_codel", {"target": 0.005}))
    assert mapped(bw=10, queue="droptail", max_queue_size=9)[0] == Shaping(10_000_000, 9)


def test_a_queue_of_a_link_survives_its_json() -> None:
    network = network_of(described(bw=10, queue="codel:ecn"))
    again = from_wire(UserNetwork, json.loads(json.dumps(asdict(network))))
    assert again == network
    assert again.cables[0] in set(network.cables)


def test_a_token_bucket_holds_what_its_wait_and_its_burst_let_it_hold() -> None:
    # TCIntf.bwCmds: burst 15000, and 15 kB to wait for unless latency_ms says otherwise
    assert mapped(bw=10, use_tbf=True)[0].buffer_packets == 30_000 // 1514
    waiting = mapped(bw=10, use_tbf=True, latency_ms=100)[0]
    assert waiting.buffer_packets == (125_000 + 15_000) // 1514
    assert mapped(bw=10, use_hfsc=True) == mapped(bw=10)


def test_what_leaves_a_switch_has_the_rate_of_speedup() -> None:
    there, back = mapped(bw=10, speedup=40)
    assert (there.rate_bps, back.rate_bps) == (10_000_000, 40_000_000)


def linked(*links: tuple[str, str]) -> UserNetwork:
    """Hosts h1 and h2, and switches, with links between them."""
    nodes = {name for link in links for name in link} | {"h1", "h2"}
    used: dict[str, int] = {}

    def port(name: str) -> int:
        used[name] = used.get(name, 0 if name[0] == "s" else -1) + 1
        return used[name]

    return network_of(
        {
            "hosts": {name: {} for name in sorted(nodes) if name[0] == "h"},
            "switches": {name: SWITCH for name in sorted(nodes) if name[0] == "s"},
            "links": [
                {"node1": one, "node2": other, "port1": port(one), "port2": port(other)}
                for one, other in links
            ],
        }
    )


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (
            [("h1", "s1"), ("s1", "s2"), ("s2", "s3"), ("s3", "s1"), ("h2", "s3")],
            "closes a loop, in which switches without a controller flood packets forever",
        ),
        ([("h1", "s1"), ("s1", "s2"), ("s1", "s2"), ("h2", "s2")], "closes a loop"),
        ([("h1", "s1"), ("h2", "s2")], "no way leads from h1 to h2, s2"),
        ([("h1", "h2"), ("h3", "s1")], "h1 and h2 are hosts with a link between them"),
        ([("h1", "h2")], "there are 2 hosts and 0 switches"),
    ],
)
def test_what_is_no_tree_of_switches_and_hosts_is_refused(
    links: list[tuple[str, str]], message: str
) -> None:
    with pytest.raises(BadInputError, match=r"^topology: ") as caught:
        linked(*links)
    assert message in caught.value.message


def test_a_host_may_have_several_links_and_flows_take_the_first_one() -> None:
    network = linked(("h1", "s1"), ("h1", "s2"), ("s2", "s3"), ("s1", "s3"), ("s3", "h2"))
    assert [step.end for step in network.way("h1", "h2")] == ["s1", "s3", "h2"]
    assert [[step.end for step in way] for way in network.ways("h2", "h1")] == [
        ["s3", "s2", "h1"],
        ["s3", "s1", "h1"],
    ]
    apart = linked(("h1", "s1"), ("h1", "s2"), ("s2", "h2"))
    with pytest.raises(BadInputError, match="the first links of h1 and h2 do not lead"):
        apart.way("h1", "h2")


def test_a_file_is_told_from_the_name_of_a_topology() -> None:
    assert [
        is_user_topology(text) for text in ("./mine.py", "mine.py:Tree,2", "folder/mine", "routed")
    ] == [*(True, True, True, False)]
    with refused("topology", "folder/mine"):
        split_text("folder/mine")


def test_a_text_has_a_file_a_topology_in_it_and_the_files_own_arguments() -> None:
    assert split_text("./cli.py") == UserText("./cli.py")
    assert split_text("./cli.py:BB,2 -- --bw-net 10") == UserText(
        "./cli.py", "BB,2", ("--bw-net", "10")
    )
    assert split_text("./a b.py -- --name 'two words' $HOME `id` other.py").arguments == (
        *("--name", "two words", "$HOME", "`id`", "other.py"),
    )
    assert split_text("./cli.py --") == UserText("./cli.py", "", ())
    with pytest.raises(BadInputError, match="behind -- a quotation mark is open"):
        split_text("./cli.py -- 'open")


def test_a_path_is_called_like_the_class_else_like_the_file() -> None:
    assert name_of("../My Lab/cern.py") == "own-cern"
    assert name_of("./mine.py:TwoSwitches,2") == "own-twoswitches"
    assert name_of("./cli.py -- --bw-net 10") == "own-cli"
    assert name_of("./---.py") == "own-topology"


def test_flows_name_their_hosts_and_stacks() -> None:
    flows = parse_flows("h1>h2:2xcubic+fast:alpha=100  h3>h1:bbr", ("h1", "h2", "h3"))
    assert [(*flow.pair, flow.stack) for flow in flows] == [
        ("h1", "h2", "cubic"),
        ("h1", "h2", "cubic"),
        ("h1", "h2", "fast:alpha=100"),
        ("h3", "h1", "bbr"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        None,
        "h1-h2:cubic",
        "h1>h2",
        "h1>h9:cubic",
        "h1>h1:cubic",
        "h1>h2:0xcubic",
        "h1>h2:99xcubic h2>h1:2xreno",
        "",
    ],
)
def test_flows_that_cannot_be_understood_are_refused(text: str | None) -> None:
    with refused("flows"):
        parse_flows(text, ("h1", "h2"))
