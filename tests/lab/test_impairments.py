"""What happens to packets on purpose: droppers, reordering, duplicates, jitter; always the same."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.mechanisms.dropper.mechanism import parse_droppers
from farpath.metrics.change_responses import answers_of
from farpath.planning.path_options import resolve_path
from farpath.planning.request import RunRequest
from farpath.record.record import Record
from farpath.spec.plan import Plan
from tests.lab.conftest import RunPlan, single_flow
from tests.support.plans import with_trace

#: Its window fits into path and buffer: nothing is lost that no dropper takes.
PATH = dataclasses.replace(
    resolve_path(rtt="20ms", rate="100Mbit", buffer="1MB"), window_bytes=400_000
)


def _dropping(drop: str, stack: str = "reno", duration_s: float = 8.0, flows: int = 1) -> Plan:
    plan = single_flow(stack, duration_s, PATH, flows=flows)
    return dataclasses.replace(plan, droppers=parse_droppers(drop))


def _counts(record: Record) -> list[tuple[int, int]]:
    return [
        (counts["seen"], counts["lost"]) for counts in record.data["readback"]["after"]["droppers"]
    ]


def _retransmits(record: Record) -> dict[str, int]:
    totals = record.samples.flows.groupby("flow")["retransmits"].sum()
    return {str(flow): int(total) for flow, total in totals.items()}


@pytest.mark.nightly
@pytest.mark.parametrize("stack", ["reno", "udt"])
def test_each_nth_data_packet_is_lost_exactly(run_plan: RunPlan, stack: str) -> None:
    ((seen, lost),) = _counts(run_plan(_dropping("every:5000", stack)))
    assert lost == seen // 5000 > 2


def test_listed_packets_of_one_flow_hurt_no_other(run_plan: RunPlan) -> None:
    record = run_plan(_dropping("packets:3000,3500,flow=flow2", flows=2))
    assert _counts(record)[0][1] == 2
    assert _retransmits(record) == {"flow1": 0, "flow2": 2}


@pytest.mark.nightly
def test_a_loss_by_time_comes_at_that_time(run_plan: RunPlan) -> None:
    record = run_plan(_dropping("at:3.5s,6.5s"))
    assert _counts(record)[0][1] == 2
    flow = record.samples.flows
    assert [round(t_s) for t_s in flow["t_s"][flow["retransmits"] > 0]] == [4, 7]


def test_an_outage_takes_all_packets_of_its_time_and_the_flow_recovers(run_plan: RunPlan) -> None:
    record = run_plan(_dropping("outage:2.5s,4.5s outage:2.5s,4.5s,direction=back"))
    (seen, lost), (_, _) = _counts(record)
    print(f"lost {lost} of {seen}")
    # What was on its way, and what the retransmission timer sends into the outage
    assert 50 < lost < 400
    rows = record.samples.flows
    silent = rows[(rows["t_s"] - rows["interval_s"] > 2.6) & (rows["t_s"] < 4.4)]
    assert (silent["throughput_bps"] == 0).all()
    (answer,) = answers_of(record)
    assert (answer.at_s, answer.outage_s) == (4.5, 2.0)
    # The timer doubles from 220 ms, so that it fires again within the length of the outage
    assert answer.recovered_s is not None
    assert 0.5 <= answer.recovered_s <= 3.5


@pytest.mark.nightly
def test_a_loss_on_a_far_path_shows_in_the_second_in_which_it_was(run_plan: RunPlan) -> None:
    # A connection of 600 ms begins after almost three seconds, and so do its intervals. The window
    # of 400 kB fills no queue, so the sender learns of the loss a round trip after the dropper met
    # the packet. A sender's interval begins half a round trip after its receiver's.
    far = dataclasses.replace(PATH, rtt_ms=600)
    plan = single_flow("reno", 14.0, far)
    record = run_plan(dataclasses.replace(plan, droppers=parse_droppers("at:9.5s")))
    assert _counts(record)[0][1] == 1
    rows = record.samples.flows
    begin_s = rows["t_s"][0] - rows["interval_s"][0]
    sent_again = rows[rows["retransmits"] > 0]
    assert list(sent_again["retransmits"]) == [1]
    stop_s = sent_again["t_s"].iloc[0] + 0.3
    start_s = stop_s - sent_again["interval_s"].iloc[0]
    print(f"the flow began at {begin_s:.3f} s; sent again from {start_s:.3f} to {stop_s:.3f} s")
    assert 4 * 0.6 < begin_s < 6 * 0.6
    assert start_s < 9.5 + 0.6 <= stop_s


@pytest.mark.nightly
def test_random_and_bursty_losses_come_from_the_seed(run_plan: RunPlan) -> None:
    random = _dropping("random:1e-3")
    record = run_plan(random)
    ((seen, lost),) = _counts(record)
    print(f"random: {lost} of {seen} packets, {1e-3 * seen:.0f} on the average")
    assert lost == len(random.droppers[0].positions(random.seed, seen)) > 0
    burst = _dropping("burst:2e-4,0.5")
    record = run_plan(burst)
    ((seen, lost),) = _counts(record)
    assert lost == len(burst.droppers[0].positions(burst.seed, seen)) > 0
    other = run_plan(dataclasses.replace(burst, seed=2))
    assert other.fingerprint != record.fingerprint


@pytest.mark.nightly
def test_lost_acknowledgements_cost_no_data(run_plan: RunPlan) -> None:
    record = run_plan(_dropping("every:10,direction=back"))
    ((seen, lost),) = _counts(record)
    assert lost == seen // 10 > 1000
    assert sum(_retransmits(record).values()) == 0


def test_a_listed_packet_that_never_comes_fails_the_run(run_plan: RunPlan) -> None:
    with pytest.raises(CheckFailedError, match="never came"):
        run_plan(_dropping("packets:20000", duration_s=2.0))


def test_a_setting_that_the_kernel_does_not_take_or_that_is_a_folder_is_named(
    run_plan: RunPlan,
) -> None:
    def with_setting(name: str, value: str) -> Plan:
        return single_flow(
            "reno", 2.0, dataclasses.replace(PATH, sysctl={**PATH.sysctl, name: value})
        )

    with pytest.raises(BadInputError, match=r"sysctl: the kernel does not take .*tcp_sack=9"):
        run_plan(with_setting("net.ipv4.tcp_sack", "9" * 20))
    with pytest.raises(CheckFailedError, match=r"the kernel has no setting net\.ipv4\.conf"):
        run_plan(with_setting("net.ipv4.conf", "1"))


@pytest.mark.parametrize(
    ("window_bytes", "mtu_bytes"), [(65_536, 1500), (65_536, 9000), (2_000_000, 576)]
)
def test_the_smallest_window_and_mtu_are_what_was_asked(
    run_plan: RunPlan, window_bytes: int, mtu_bytes: int
) -> None:
    path = resolve_path(rtt="20ms", rate="100Mbit", window=str(window_bytes), mtu=str(mtu_bytes))
    record = run_plan(with_trace(single_flow("reno", 3.0, path), 0.001))
    assert record.trace is not None
    # A kernel advertises multiples of its window scale, here up to 1024, and no room that a
    # packet takes which waits to be read
    missing_bytes = window_bytes - record.trace["snd_wnd_bytes"].max()
    assert -0.01 * window_bytes <= missing_bytes <= mtu_bytes + 1024


@pytest.mark.nightly
def test_packets_that_overtake_are_seen_and_none_is_lost(run_plan: RunPlan) -> None:
    path = dataclasses.replace(PATH, reorder=1e-3)
    record = run_plan(single_flow("reno", 8.0, path))
    (queue,) = _netem_to_receiver(record)
    assert queue["options"]["reorder"]["reorder"] == pytest.approx(1e-3, rel=1e-4)
    assert queue["drops"] == 0
    assert sum(_retransmits(record).values()) > 0


@pytest.mark.nightly
def test_packets_that_come_twice_take_the_bottleneck_twice(run_plan: RunPlan) -> None:
    record = run_plan(single_flow("reno", 8.0, dataclasses.replace(PATH, duplicate=0.02)))
    plain = run_plan(single_flow("reno", 8.0, PATH))
    more = _carried(plain) / _carried(record)
    print(f"{more:.4f} times the throughput without duplicates")
    assert more == pytest.approx(1.02, abs=0.004)


@pytest.mark.nightly
def test_jitter_spreads_the_rtt_as_wide_as_asked(run_plan: RunPlan) -> None:
    plan = single_flow("udt", 10.0, dataclasses.replace(PATH, jitter_ms=2.0, rate_bps=50_000_000))
    pings = run_plan(plan).samples.ping["rtt_ms"]
    assert pings.min() >= 18.0
    assert pings.std() > 0.5


def test_a_host_s_jitter_delays_by_half_of_it_on_the_mean_and_keeps_the_order(
    run_plan: RunPlan,
) -> None:
    # A packet of 1500 bytes takes 0.12 ms here, so that many would overtake without order. The
    # pings before the traffic leave from the senders' ports; the record has their median.
    def plan(jitter: str, seed: str = "1") -> Plan:
        return RunRequest(
            rtt="20ms", rate="100Mbit", buffer="1MB", window="400kB", stack="reno+reno",
            senders="rtt=20ms", schedule="together", region="5s", era=f"modern{jitter}", seed=seed,
        ).plan()  # fmt: skip

    still, first, again, other = (
        run_plan(with_trace(each, 0.1))
        for each in (plan(""), plan(":jitter=4ms"), plan(":jitter=4ms"), plan(":jitter=4ms", "2"))
    )
    assert first.fingerprint == again.fingerprint != other.fingerprint
    for host, rtt_ms in first.data["readback"]["idle_rtts_ms"].items():
        more_ms = rtt_ms - still.data["readback"]["idle_rtts_ms"][host]
        print(f"{host}: {more_ms:.2f} ms more / 2")
        assert more_ms == pytest.approx(2.0, abs=1.5)
    assert first.trace is not None
    assert first.trace["reorderings"].max() == 0
    assert first.samples.flows["retransmits"].sum() == 0


def _netem_to_receiver(record: Record) -> list[dict[str, Any]]:
    qdiscs = record.data["readback"]["after"]["qdiscs"]
    return [q for q in qdiscs if q["dev"] == "s1-eth1" and q["kind"] == "netem"]


def _carried(record: Record) -> float:
    """Mean throughput of seconds 3 to 8, in bit/s."""
    flows = record.samples.flows
    return float(flows["throughput_bps"][flows["t_s"].between(2.5, 8.01)].mean())
