"""Mininet topologies of a user's own: the examples run as written, what cannot be is refused."""

from __future__ import annotations

import gzip
import random
from pathlib import Path as FilePath

import pytest

from benchmarks.lab.idle_rtt import PLAIN, draw, idle_pings, judged
from farpath.base.project import BUILD, PROJECT
from farpath.lab.artifacts.user_topologies import PACKAGE
from farpath.lab.user_parts import BuiltParts
from farpath.metrics.run import per_second
from farpath.planning.request import RunRequest
from farpath.record.record import Record, load_record
from farpath.spec.plan import Plan
from farpath.spec.user_network import Cable, Shaping, UserNetwork
from tests.lab.conftest import RunPlan, sending_ms
from tests.support.command_line import Farpath
from tests.support.user_networks import own_plan

EXAMPLES = PROJECT / "examples" / "own-topology"
#: Mininet's own, in the lab's root file system.
OF_MININET = BUILD / "lab" / PACKAGE / "examples"
COURSE = PROJECT / "tests" / "data" / "topologies"
#: Headers of a TCP segment with timestamps beside its payload, in a frame of 1514 bytes.
PAYLOAD_PART = 1448 / 1514


def plan_of(topology: str, flows: str, **words: str) -> Plan:
    """The plan of a run over a topology of the examples."""
    texts = {"topology": str(EXAMPLES / topology), "flows": flows, "time": "8s"} | words
    return RunRequest(**texts).plan(user_parts=BuiltParts("virtual"))


def rates_mbps(record: Record, after_s: float) -> list[float]:
    """Each flow's mean throughput from a time on."""
    each = per_second(record.samples, record.plan.schedule)
    return [float(value) / 1e6 for value in each.loc[after_s:].mean()]


def idle_rtts_ms(record: Record) -> dict[str, float]:
    """The RTT between the hosts of each flow before any traffic."""
    rtts_ms: dict[str, float] = record.data["readback"]["idle_rtts_ms"]
    return rtts_ms


def tc_rates_mbit(record: Record) -> dict[str, float]:
    """The rate of each port that has one, as it was read back."""
    return {
        qdisc["dev"]: qdisc["options"]["rate_bps"] / 1e6
        for qdisc in record.data["readback"]["after"]["qdiscs"]
        if qdisc["kind"] == "bottleneck"
    }


def test_hosts_at_one_switch_share_the_cable_to_their_receiver(run_plan: RunPlan) -> None:
    plan = plan_of("single_switch.py:SingleSwitch,3", "h1>h3:cubic h2>h3:reno")
    record = run_plan(plan)
    assert idle_rtts_ms(record) == pytest.approx(
        dict.fromkeys(["h1-h3", "h2-h3"], 20 + sending_ms(10, links=4)), abs=0.003
    )
    assert set(tc_rates_mbit(record).values()) == {10.0}
    first, second = rates_mbps(record, after_s=2)
    assert first + second == pytest.approx(10 * PAYLOAD_PART, rel=0.02)
    assert record.samples.queue["backlog_packets"].max() <= 50
    assert record.samples.queue["drops"].max() > 0
    assert run_plan(plan).fingerprint == record.fingerprint


@pytest.mark.nightly
def test_two_switches_with_a_long_link_between_them(run_plan: RunPlan) -> None:
    plan = plan_of("two_switches.py:far", "h1>h2:bbr h5>h6:bbr h6>h1:reno", ip="6")
    record = run_plan(plan)
    rtt_ms = 80 + sending_ms(100, 4, 118) + sending_ms(20, 2, 118)
    rtts_ms = dict.fromkeys(["h1-h2", "h5-h6", "h6-h1"], rtt_ms)
    assert idle_rtts_ms(record) == pytest.approx(rtts_ms, abs=0.0015)
    ports = [f"h{number}-eth0" for number in (1, 2, 5, 6)]
    ports += ["s3-eth1", "s3-eth2", "s4-eth1", "s4-eth2"]
    trunk = {"q1-eth1": 20.0, "q1-eth2": 20.0}
    assert tc_rates_mbit(record) == trunk | dict.fromkeys(ports, 100.0)
    first, second, back = rates_mbps(record, after_s=3)
    # Both begin at once, and BBR finds the rate within some twenty round trips
    assert 0.85 < (first + second) / (20 * 1428 / 1514) <= 1.0
    assert 5 < back < 20
    # What waits in a host's own port is read in the host
    assert (record.directory / "raw" / "queue-h1-eth0.txt.gz").is_file()


def test_a_class_of_mininets_own_examples_runs_as_it_is(run_plan: RunPlan) -> None:
    plan = plan_of("linear.py", "h1>h4:cubic h2>h1:cubic", trace="100ms")
    record = run_plan(plan)
    assert idle_rtts_ms(record) == pytest.approx(
        {"h1-h4": 240 + sending_ms(100, links=8), "h2-h1": 120 + sending_ms(100, links=4)},
        abs=0.0035,
    )
    assert (plan.path.rtt_ms, plan.path.rate_bps) == (240.0, 100_000_000)
    long, short = rates_mbps(record, after_s=4)
    assert long > 50
    assert short == pytest.approx(100 * PAYLOAD_PART, rel=0.1)


def test_drawn_ways_pass_the_check_of_their_rtt_and_ten_us_on_one_link_do_not() -> None:
    plan = draw(seed=7, kind=PLAIN, switches=10, ways=8)
    outputs = idle_pings(plan)
    tally = judged(plan, outputs, random.Random(7))
    assert (tally.ways, tally.planted, tally.refused, tally.missed) == (8, 16, [], [])


@pytest.mark.nightly
def test_ways_of_odd_delays_of_none_and_with_losses_run_side_by_side(run_plan: RunPlan) -> None:
    odd, none = Shaping(10_000_000, 100, 5.3), Shaping(10_000_000, 100)
    lossy = Shaping(10_000_000, 100, 5.0, loss=0.1)
    cables = [Cable("s0", 9, "s1", 9, odd, odd)]
    for number, shaping in enumerate((odd, none, lossy)):
        for one, switch in ((f"a{number}", "s0"), (f"b{number}", "s1" if number == 0 else "s0")):
            cables.append(Cable(one, 0, switch, len(cables), shaping, shaping))
    hosts = tuple(f"{side}{number}" for number in range(3) for side in "ab")
    network = UserNetwork(hosts, ("s0", "s1"), tuple(cables))
    plan = own_plan(network, "a0>b0:reno a1>b1:cubic a2>b2:cubic")
    record = run_plan(plan)
    rtts_ms = idle_rtts_ms(record)
    assert rtts_ms["a0-b0"] == pytest.approx(31.8025 + sending_ms(10, 6), abs=0.002)
    assert rtts_ms["a1-b1"] == pytest.approx(sending_ms(10, 4), abs=0.002)
    assert rtts_ms["a2-b2"] == pytest.approx(20.001 + sending_ms(10, 4), abs=0.002)
    sent = (record.directory / "raw" / "ping-idle-a2-b2.out.gz").read_bytes()
    assert f"\n{plan.idle_ping_count} packets transmitted".encode() in gzip.decompress(sent)
    odd_mbps, none_mbps, _ = rates_mbps(record, after_s=1)
    assert odd_mbps == pytest.approx(10 * PAYLOAD_PART, rel=0.1)
    assert none_mbps == pytest.approx(10 * PAYLOAD_PART, rel=0.02)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("simpleperf.py", "host h1 has cpu=0.25: CPULimitedHost is not mapped"),
        ("linuxrouter.py", "host r0 is a LinuxRouter, which is not mapped"),
        ("natnet.py", "host nat1 is a NAT, which is not mapped"),
        ("multilink.py", "no link on the way from h1 to h2 has bw"),
        ("clustercli.py", "has neither a class derived from Mininet's Topo nor a main part that"),
    ],
)
def test_what_cannot_be_mapped_of_mininets_examples_is_refused_by_name(
    farpath: Farpath, file: str, message: str
) -> None:
    ended = farpath("run", f"--topology={OF_MININET / file}", "--flows=h1>h2:cubic")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("farpath: --topology: ")
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_a_script_runs_as_it_is_and_its_red_marks_what_dctcp_sends(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    # enable_ecn of TCLink marks above 30 kB (TCIntf.bwCmds in mininet/link.py)
    out = f"--out={tmp_path}"
    ended = farpath(
        *("run", f"--topology={COURSE / 'script.py'}", "--flows=h2>h1:dctcp h3>h1:dctcp"),
        *("--time=5s", out),
    )
    assert ended.status == 0, ended.err
    (directory,) = (entry for entry in tmp_path.iterdir() if entry.is_dir())
    record = load_record(directory)
    # The delays of the script: 0.1 ms of one link each way, and 0.2 ms of one end of another
    assert idle_rtts_ms(record) == pytest.approx(
        dict.fromkeys(["h2-h1", "h3-h1"], 0.2 + sending_ms(100, links=4)), abs=0.003
    )
    queue = record.samples.queue
    assert queue["marks"].max() > 1000
    # What bears no ECN is dropped there, such as a SYN
    assert queue["drops"].max() < 10
    assert record.data["warnings"] == []
    assert 20_000 < queue["backlog_bytes"].max() < 60_000
    assert sum(rates_mbps(record, after_s=1)) > 90


def test_a_file_with_arguments_of_its_own_runs_with_them(run_plan: RunPlan) -> None:
    text = f"{COURSE / 'bufferbloat.py'} -- --bw-net 1.5 --delay 10 --maxq 20"
    plan = RunRequest(topology=text, flows="h1>h2:reno", time="8s").plan(
        user_parts=BuiltParts("virtual")
    )
    record = run_plan(plan)
    assert idle_rtts_ms(record) == pytest.approx(
        {"h1-h2": 40 + sending_ms(1.5, links=2)}, abs=0.003
    )
    assert sum(rates_mbps(record, after_s=3)) == pytest.approx(1.5 * PAYLOAD_PART, rel=0.03)
    assert record.samples.queue["backlog_packets"].max() == pytest.approx(20, abs=1)
    assert text in record.plan.path.title


def test_draw_shows_the_queues_that_a_run_would_have(farpath: Farpath) -> None:
    topology = f"--topology={EXAMPLES / 'two_switches.py'}:near"
    ended = farpath("draw", "--text", topology, "--flows=h1>h2:cubic h5>h6:bbr")
    assert ended.status == 0
    assert "  s3 -> q1: delay 1 ms\n  q1 -> s3: 20 Mbit/s, buffer 1000 packets" in ended.out
    assert "h5 -> h6, RTT 2 ms, MTU 1500: flow2 bbr" in ended.out
