"""Topologies in the lab: each boots as it was laid out, and shares its bottlenecks as known."""

from __future__ import annotations

import dataclasses
import gzip
from typing import Any

import pytest

from farpath.base.errors import CheckFailedError
from farpath.mechanisms.dropper.drops_by_flow import dropper_counts
from farpath.metrics.link import link_summaries
from farpath.metrics.run import per_second, summarise
from farpath.planning.request import RunRequest
from farpath.record.record import Record
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from tests.lab.conftest import RunPlan, sending_ms
from topologies import lay_out

#: Headers of a TCP segment with timestamps beside its payload, in a frame of 1514 bytes.
#: Frames of traceroute -I by version of IP.
TRACEROUTE_BYTES = {4: 74, 6: 94}
PAYLOAD_PART = {4: 1448 / 1514, 6: 1428 / 1514}


def plan_of(**words: str) -> Plan:
    """Flows all at once over 100 Mbit/s and 20 ms, with one bandwidth-delay product of buffer."""
    texts = {"rtt": "20ms", "rate": "100Mbit", "buffer": "250kB", "stack": "reno",
             "schedule": "together", "region": "30s"} | words  # fmt: skip
    return RunRequest(**texts).plan()


def rates_mbps(record: Record, after_s: float = 10.0) -> list[float]:
    """Each flow's mean throughput from a time on."""
    each = per_second(record.samples, record.plan.schedule)
    return [float(value) / 1e6 for value in each.loc[after_s:].mean()]


def mtus_bytes(record: Record) -> dict[str, int]:
    """The MTU of each port as the lab read it back, before and after the traffic."""
    before, after = (
        {link["port"]: link["mtu_bytes"] for link in record.data["readback"][when]["links"]}
        for when in ("before", "after")
    )
    assert before == after
    return before


def delays_ms(record: Record) -> dict[str, float]:
    """The delay of each delay line as the lab read it back: netem's, and that of far links."""
    readback = record.data["readback"]["after"]
    lines_s = {
        qdisc["dev"]: qdisc["options"]["delay"]["delay"]
        for qdisc in readback["qdiscs"]
        if qdisc["kind"] == "netem"
    }
    return {port: 1e3 * delay_s for port, delay_s in (lines_s | readback["far_delays_s"]).items()}


def idle_rtts_ms(record: Record) -> dict[str, float]:
    """Each sender's base RTT, as pings from its own port found it."""
    rtts_ms: dict[str, float] = record.data["readback"]["idle_rtts_ms"]
    return rtts_ms


@pytest.mark.nightly
def test_of_two_reno_flows_the_one_that_is_nearer_gets_more(run_plan: RunPlan) -> None:
    record = run_plan(plan_of(senders="rtt=40ms", region="60s"))
    assert idle_rtts_ms(record) == pytest.approx(
        {"sender": 20 + sending_ms(100), "sender2": 40 + sending_ms(100)}, abs=0.0015
    )
    assert delays_ms(record) == {
        "s1-eth1": 10.0, "s2-eth1": 10.0, "s3-eth1": 10.0, "s1-eth4": 10.0,
    }  # fmt: skip
    near, far = rates_mbps(record)
    print(f"RTT 20 ms: {near:.1f} Mbit/s, RTT 40 ms: {far:.1f} Mbit/s")
    assert near > 1.3 * far
    assert near + far == pytest.approx(100 * PAYLOAD_PART[4], rel=0.03)


@pytest.mark.nightly
def test_of_two_reno_flows_the_one_with_larger_packets_gets_more(run_plan: RunPlan) -> None:
    record = run_plan(plan_of(mtu="9000", senders="mtu=1500", region="60s"))
    assert idle_rtts_ms(record) == pytest.approx(
        dict.fromkeys(["sender", "sender2"], 20 + sending_ms(100)), abs=0.0015
    )
    mtus = mtus_bytes(record)
    assert {port for port, mtu in mtus.items() if mtu == 1500} == {"sender2-eth0", "s1-eth4"}
    assert {mtu for port, mtu in mtus.items() if port not in ("sender2-eth0", "s1-eth4")} == {9000}
    large, small = rates_mbps(record)
    print(f"MTU 9000: {large:.1f} Mbit/s, MTU 1500: {small:.1f} Mbit/s")
    assert large > 1.3 * small
    windows = record.samples.flows.groupby("flow")["snd_wnd_bytes"].max()
    wanted = record.plan.path.window_bytes
    assert windows["flow2"] == pytest.approx(wanted, rel=0.01)
    assert windows["flow1"] == pytest.approx(1.444 * wanted, rel=0.01)


@pytest.mark.nightly
def test_the_long_flow_of_a_parking_lot_gets_less_than_each_that_crosses(
    run_plan: RunPlan,
) -> None:
    record = run_plan(plan_of(topology="parking-lot:3"))
    assert idle_rtts_ms(record) == pytest.approx(
        {
            "sender": 20 + sending_ms(100, links=3),
            **dict.fromkeys(["sender2", "sender3", "sender4"], 20 + sending_ms(100)),
        },
        abs=0.0015,
    )
    long, *crossing = rates_mbps(record)
    print(f"long {long:.1f} Mbit/s, crossing {[round(rate, 1) for rate in crossing]}")
    assert all(long < rate for rate in crossing)
    for rate in crossing:
        assert long + rate == pytest.approx(100 * PAYLOAD_PART[4], rel=0.03)


@pytest.mark.nightly
def test_every_bottleneck_of_a_parking_lot_is_sampled_and_all_is_the_same_every_time(
    run_plan: RunPlan,
) -> None:
    plan = plan_of(topology="parking-lot:2", region="10s")
    record = run_plan(plan)
    assert run_plan(plan).fingerprint == record.fingerprint
    first, second = lay_out(record.plan).bottlenecks
    assert (first, second) == ("s1-eth1", "s2-eth2")
    assert record.queues is not None
    counts = record.queues["link"].value_counts()
    assert dict(counts) == dict.fromkeys(("s1-s2", "s2-s3"), len(record.samples.queue))
    # The crossing flow begins at the second bottleneck, so it carries as much as the first.
    links = {link.link: link for link in link_summaries(record)}
    assert [links[name].frame_utilisation for name in ("s1-s2", "s2-s3")] == pytest.approx(
        [0.9, 0.9], abs=0.1
    )
    assert links["s1-s2"].drops == summarise(record.samples, record.plan).queue_drops


def delay_back_ms(record: Record) -> float:
    """The longest that a ping took beside the path's RTT and the queue towards the receiver."""
    ping, queue = record.samples.ping, record.samples.queue.iloc[: len(record.samples.ping)]
    there_ms = queue["backlog_bytes"].to_numpy() * 8e3 / record.plan.path.rate_bps
    more_ms = ping["rtt_ms"].to_numpy() - record.plan.path.rtt_ms - there_ms
    return float(more_ms[1:].max())


@pytest.mark.nightly
def test_acknowledgements_queue_behind_the_data_of_reverse_flows(run_once: RunPlan) -> None:
    alone = run_once(plan_of())
    both = run_once(plan_of(reverse="reno"))
    none_ms, some_ms = delay_back_ms(alone), delay_back_ms(both)
    print(f"delay back {none_ms:.1f} ms alone, {some_ms:.1f} ms with a reverse flow")
    # A full buffer is 20 ms; within the 10 ms to the queue that changes by a few packets.
    assert none_ms < 2
    assert some_ms > 8
    flows = both.samples.flows.groupby("flow")["throughput_bps"].mean()
    assert flows["reverse1"] > 20e6
    assert list(per_second(both.samples, both.plan.schedule).columns) == ["flow1"]


def test_a_reverse_flow_fills_its_own_bottleneck_and_is_offered_the_window(
    run_once: RunPlan,
) -> None:
    record = run_once(plan_of(reverse="reno"))
    roots = {q["dev"]: q for q in record.data["readback"]["after"]["qdiscs"] if q.get("root")}
    forward_qdiscs, back = roots["s2-eth2"], roots["s1-eth2"]
    assert forward_qdiscs["kind"] == back["kind"] == "bottleneck"
    assert forward_qdiscs["options"]["limit_bytes"] == back["options"]["limit_bytes"] == 250_000
    assert back["drops"] > 0
    assert {"tcp_rmem"} <= {
        name.rpartition(".")[2] for name in record.data["readback"]["after"]["settings"]["sender"]
    }


@pytest.mark.nightly
def test_hosts_of_2004_have_a_card_at_every_sender(run_plan: RunPlan) -> None:
    record = run_plan(plan_of(senders="rtt=40ms", reverse="reno", era="2004", region="10s"))
    roots = {q["dev"]: q for q in record.data["readback"]["after"]["qdiscs"] if q.get("root")}
    for host in ("sender", "sender2", "receiver"):
        assert roots[f"{host}-eth0"]["options"]["rate"]["rate"] == 125_000_000


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("words", "flows"),
    [
        ({"senders": "mtu=1500", "mtu": "9000"}, 2),
        ({"topology": "parking-lot:2"}, 3),
    ],
    ids=str,
)
def test_droppers_see_the_full_packets_of_every_sender(
    run_plan: RunPlan, words: dict[str, str], flows: int
) -> None:
    record = run_plan(plan_of(**words, drop="every:500", region="10s"))
    ((seen, lost),) = counts(record)
    assert lost == seen // 500
    one = run_plan(plan_of(**words, drop=f"packets:1000,flow=flow{flows}", region="10s"))
    retransmits = one.samples.flows.groupby("flow")["retransmits"].sum()
    assert counts(one)[0][1] == 1
    assert retransmits[f"flow{flows}"] >= 1


def counts(record: Record) -> list[tuple[int, int]]:
    """What each dropper saw and lost."""
    return [(counts["seen"], counts["lost"]) for counts in dropper_counts(record)]


@pytest.mark.nightly
def test_a_constant_bit_rate_takes_its_rate_all_the_time(run_plan: RunPlan) -> None:
    record = run_plan(
        plan_of(rate="400Mbit", buffer="1MB", background="cbr:200Mbit", stack="cubic")
    )
    readback = record.data["readback"]
    sent = readback["after"]["background_bytes"] - readback["before"]["background_bytes"]
    assert sent == pytest.approx(200e6 / 8 * 30, rel=0.01)
    (flow,) = rates_mbps(record)
    print(f"flow {flow:.1f} Mbit/s beside 200 Mbit/s on 400 Mbit/s")
    assert flow == pytest.approx(200 * PAYLOAD_PART[4], rel=0.03)


@pytest.mark.nightly
def test_udt_and_tcp_run_from_different_senders(run_plan: RunPlan) -> None:
    plan = plan_of(senders="rtt=40ms", stack="udt+reno", region="10s")
    record = run_plan(plan)
    kinds = {q["dev"]: q["kind"] for q in record.data["readback"]["after"]["qdiscs"]}
    assert kinds["sender-eth0"] == "fq"
    assert "sender2-eth0" not in kinds or kinds["sender2-eth0"] == "noqueue"


def test_a_sender_at_another_rtt_than_asked_fails_the_run(
    run_plan: RunPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Plan, "host_rtt_ms", lambda plan, host: 41.0 if host == "sender2" else plan.path.rtt_ms
    )
    with pytest.raises(CheckFailedError, match=r"RTT from sender2 is 40\.00\d ms, not 41\.00"):
        run_plan(plan_of(senders="rtt=40ms", region="5s"))


def routed_plan(**words: str) -> Plan:
    """One flow of 5 s over the routers of a named path, at a rate that takes little time."""
    texts = {"topology": "routed", "rate": "50Mbit", "stack": "reno", "time": "5s"} | words
    return RunRequest(**texts).plan()


def traceroute_of(record: Record) -> list[str]:
    """What traceroute printed, without the line of its own."""
    text = gzip.decompress((record.directory / "raw" / "traceroute.out.gz").read_bytes()).decode()
    return text.splitlines()[1:]


@pytest.mark.parametrize(
    ("words", "last"),
    [
        ({"path": "caltech"}, " 9  receiver (10.9.0.1)"),
        ({"path": "ufl", "ip": "6"}, "13  receiver (fd00:0:0:d::1)"),
        ({"path": "cern", "background": "none"}, "10  receiver (10.10.0.1)"),
    ],
    ids=str,
)
def test_traceroute_shows_the_named_routers_of_each_path(
    run_plan: RunPlan, words: dict[str, str], last: str
) -> None:
    record = run_plan(routed_plan(**words))
    lines = traceroute_of(record)
    print("\n".join(lines))
    hops = record.plan.path.hop_names
    assert [line.split()[1] for line in lines] == [*hops, "receiver"]
    assert lines[-1].startswith(last)
    readback = record.data["readback"]
    assert [hop["name"] for hop in readback["hops"]] == [*hops, "receiver"]
    *routers_ms, receiver_ms = (hop["rtts_ms"][-1] for hop in readback["hops"])
    assert max(routers_ms) < 0.01
    assert receiver_ms == pytest.approx(
        record.plan.path.rtt_ms + sending_ms(50, 1, TRACEROUTE_BYTES[record.plan.ip_version]),
        abs=0.0015,
    )
    # Routers are silent: before the pings nothing crossed the bottleneck
    roots = {qdisc["dev"]: qdisc for qdisc in readback["before"]["qdiscs"] if qdisc.get("root")}
    assert roots["s2-eth2"]["packets"] == 0


def test_a_routed_path_takes_whatever_the_dumbbell_takes_and_gives_equal_fingerprints(
    run_plan: RunPlan,
) -> None:
    plan = routed_plan(
        path="caltech", reverse="reno", senders="rtt=30ms,mtu=1400", background="10%",
        drop="every:500 every:50,direction=back", era="2004",
    )  # fmt: skip
    first, again = run_plan(plan), run_plan(plan)
    assert first.fingerprint == again.fingerprint
    assert idle_rtts_ms(first) == pytest.approx(
        {"sender": 13.6 + sending_ms(50, links=2), "sender2": 30 + sending_ms(50, links=2)},
        abs=0.01,
    )
    assert [lost for _, lost in counts(first)] == [
        seen // every for (seen, _), every in zip(counts(first), (500, 50), strict=True)
    ]


def test_other_hops_than_asked_fail_the_run(
    run_plan: RunPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = routed_plan(path="caltech")
    monkeypatch.setattr(Path, "hop_names", ("hop1", "elsewhere", *plan.path.hop_names[2:]))
    with pytest.raises(CheckFailedError, match=r"shows the hops hop1, stanford, .*, not hop1, els"):
        run_plan(plan)


@pytest.fixture(scope="module")
def both_versions(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Record]:
    """The same run over IPv4 and IPv6."""
    from farpath.lab.run import run
    from farpath.record.record import load_record

    return {
        version: load_record(
            run(plan_of(ip=str(version), stack="cubic"), tmp_path_factory.mktemp("ip"),
                force=True, watch=lambda _event: None).directory
        )
        for version in (4, 6)
    }  # fmt: skip


def test_ipv6_has_the_base_rtt_and_its_own_headers(both_versions: dict[int, Record]) -> None:
    rates = {version: rates_mbps(record)[0] for version, record in both_versions.items()}
    wanted = PAYLOAD_PART[6] / PAYLOAD_PART[4]
    print(f"IPv4 {rates[4]:.2f} Mbit/s, IPv6 {rates[6]:.2f}, {rates[6] / rates[4]:.4f} times")
    assert rates[6] / rates[4] == pytest.approx(wanted, abs=0.001)
    assert both_versions[6].data["readback"]["idle_rtt_ms"] == pytest.approx(
        20 + sending_ms(100, frame_bytes=118), abs=0.0015
    )


def test_an_ipv6_lab_is_silent_and_has_no_ipv4(both_versions: dict[int, Record]) -> None:
    readback = both_versions[6].data["readback"]
    for when in ("before", "after"):
        for host, ports in readback[when]["addresses"].items():
            (port,) = [port for port in ports if port["ifname"] == f"{host}-eth0"]
            assert [one["family"] for one in port["addr_info"]] == ["inet6"]
            assert "NOARP" in port["flags"]
    # Between network ready and traffic nothing but the pings crossed the bottleneck.
    before = {q["dev"]: q for q in readback["before"]["qdiscs"] if q.get("root")}
    assert before["s2-eth2"]["packets"] == 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    "words",
    [
        {"senders": "rtt=40ms,mtu=1300", "reverse": "reno"},
        {"topology": "parking-lot:2", "era": "2004"},
        {"background": "cbr:20Mbit", "drop": "every:500 every:50,direction=back"},
        {"mtu": "1280"},
    ],
    ids=str,
)
def test_ipv6_carries_everything_that_ipv4_does(run_plan: RunPlan, words: dict[str, Any]) -> None:
    plan = plan_of(**words, ip="6", region="10s")
    record = run_plan(plan)
    if plan.droppers:
        assert [lost for _, lost in counts(record)] == [
            seen // every for (seen, _), every in zip(counts(record), (500, 50), strict=True)
        ]
    routes = record.data["readback"]["after"]["routes"]
    assert all(route[0]["dst"] == "fd00::/64" for route in routes.values())
    windows = dataclasses.asdict(plan.path)["window_bytes"]
    assert record.samples.flows["snd_wnd_bytes"].max() >= 0.99 * windows
