"""A trace shows what a stack does between two seconds, and changes nothing of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

from farpath.mechanisms.dropper.mechanism import parse_droppers
from farpath.planning.path_files import path_by_name
from farpath.planning.path_options import resolve_path
from farpath.planning.planner import make_plan
from farpath.planning.request import RunRequest
from farpath.record.record import Record, fingerprint
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions, staggered
from tests.lab.conftest import RunPlan, single_flow, together
from tests.support.paths import SHORT
from tests.support.plans import with_droppers, with_trace

RTT_S = 0.020
PATH = dataclasses.replace(
    resolve_path(rtt="20ms", rate="100Mbit", buffer="1MB"), window_bytes=2_000_000
)


def _rows(record: Record, flow: str = "flow1") -> pd.DataFrame:
    assert record.trace is not None
    return record.trace[record.trace["flow"] == flow].reset_index(drop=True)


SEVEN_REGIONS = make_plan(
    dataclasses.replace(SHORT, rate_bps=200_000_000, loss=1e-4),
    seven_regions("cubic", 2.0),
    1,
    "virtual",
)
AMONG_OTHERS = make_plan(
    path_by_name("caltech"), staggered(["htcp_2004", "udt"], 3.0), 2, "virtual"
)
FROM_THREE_HOSTS = RunRequest(
    rtt="20ms", rate="50Mbit", buffer="2MB", window="300kB", stack="reno+htcp",
    senders="rtt=40ms", reverse="cubic", ip="6", region="5s", schedule="together",
).plan()  # fmt: skip


#: How much times may move where several tracers start, in us.
FEW_US = 5.0


def assert_traced(plain: Record, traced: Record, interval_s: float) -> None:
    """Each TCP flow has its ticks, and nothing else is said of the run."""
    plan = plain.plan
    assert plain.trace is None
    assert traced.trace is not None
    flows = [flow for flow in plan.schedule.all_flows if flow.stack != "udt"]
    for flow in flows:
        steps_s = np.diff(_rows(traced, flow.name)["t_s"])
        passed_over = (steps_s > 1.5 * interval_s).sum()
        print(f"{flow.name}: {len(steps_s) + 1} samples, {passed_over} gaps")
        assert (steps_s > 0.9 * interval_s).all()
        assert passed_over <= 0.001 * len(steps_s)
    assert set(traced.trace["flow"]) == {flow.name for flow in flows}
    untraced = ["flow2 has no trace: udt is none of the kernel's TCP"] if len(flows) == 1 else []
    assert sorted(traced.data["warnings"]) == sorted([*plain.data["warnings"], *untraced])


@pytest.mark.parametrize(
    ("plan", "interval_s"),
    [(SEVEN_REGIONS, 0.01), (AMONG_OTHERS, 0.005)],
    ids=["cubic", "others"],
)
def test_a_trace_leaves_every_sample_as_it_is(
    run_once: RunPlan, plan: Plan, interval_s: float
) -> None:
    plain, traced = run_once(plan), run_once(with_trace(plan, interval_s))
    assert fingerprint(traced.samples) == plain.fingerprint
    assert_traced(plain, traced, interval_s)


def test_tracers_of_three_hosts_move_times_by_microseconds_and_no_packet(
    run_plan: RunPlan,
) -> None:
    # Each tracer is a program more that starts (docs/reference/limitations.md). No packet is lost:
    # where one is, a microsecond can decide which.
    plain, traced = run_plan(FROM_THREE_HOSTS), run_plan(with_trace(FROM_THREE_HOSTS, 0.005))
    before, after = plain.samples, traced.samples
    assert after.queue.equals(before.queue)
    for column in ("retransmits", "cwnd_bytes", "snd_wnd_bytes"):
        assert after.flows[column].equals(before.flows[column])
    moved_us = {
        "flows": float((after.flows["t_s"] - before.flows["t_s"]).abs().max()) * 1e6,
        "rtts": float((after.flows["rtt_us"] - before.flows["rtt_us"]).abs().max()),
        "pings": float((after.ping["rtt_ms"] - before.ping["rtt_ms"]).abs().max()) * 1e3,
    }
    print({name: f"{us:.1f} us" for name, us in moved_us.items()})
    assert max(moved_us.values()) <= FEW_US
    assert_traced(plain, traced, 0.005)


@pytest.mark.nightly
def test_the_finest_trace_makes_another_run_of_the_same_kind(run_once: RunPlan) -> None:
    # Ticks of a millisecond meet the kernel's own, and what is charged then decides who runs
    # first afterwards: single losses fall on other flows (docs/reference/limitations.md).
    plain, traced = run_once(SEVEN_REGIONS), run_once(with_trace(SEVEN_REGIONS, 0.001))
    was, now = (record.samples.flows["throughput_bps"].sum() for record in (plain, traced))
    print(f"throughput of all flows differs by {now / was - 1:.1e}")
    assert now == pytest.approx(was, rel=0.1)


@pytest.mark.nightly
def test_equal_runs_have_equal_traces(run_plan: RunPlan) -> None:
    plan = with_trace(together(["reno", "htcp"], 4.0, dataclasses.replace(SHORT, loss=1e-4)), 0.01)
    first, again = run_plan(plan), run_plan(plan)
    assert first.data["trace"] == again.data["trace"]
    assert set(_rows(first)["ca_state"]) >= {"open", "recovery"}
    assert (_rows(first, "flow2")["delivered_packets"].diff().dropna() >= 0).all()


@pytest.mark.nightly
def test_reno_halves_its_window_after_a_loss_and_grows_by_a_packet_each_rtt(
    run_plan: RunPlan,
) -> None:
    plan = with_droppers(single_flow("reno", 4.0, PATH), parse_droppers("packets:150"))
    rows = _rows(run_plan(with_trace(plan, 0.01)))
    at: Any = (rows["retransmits"] > 0).idxmax()
    before, after = rows.loc[at - 1], rows.loc[at]
    assert (before["ca_state"], after["ca_state"]) == ("open", "recovery")
    assert before["ssthresh_packets"] == -1
    # Reno's law, on the window as it was when the loss was seen, at most a tick later
    halved = int(after["ssthresh_packets"])
    window = before["cwnd_packets"], before["cwnd_packets"] + before["in_flight_packets"]
    assert window[0] // 2 <= halved <= window[1] // 2
    soon = rows[rows["t_s"].between(after["t_s"], after["t_s"] + 2 * RTT_S)]
    assert soon["cwnd_packets"].min() <= halved
    later = rows[(rows["t_s"] > after["t_s"] + 3 * RTT_S) & (rows["t_s"] < after["t_s"] + 1.0)]
    assert set(later["ca_state"]) == {"open"}
    # The path is not full yet: a round trip takes no longer than the idle path's
    assert later["rtt_us"].max() < 1.1e6 * RTT_S
    slope = np.polyfit(later["t_s"], later["cwnd_packets"], 1)[0]
    print(f"{halved} packets after the loss, growth {slope * RTT_S:.3f} packets per RTT")
    assert slope * RTT_S == pytest.approx(1.0, abs=0.05)
    assert rows["retransmits"].iloc[-1] == 1


def test_a_trace_agrees_with_what_iperf3_says_each_second(run_plan: RunPlan) -> None:
    record = run_plan(with_trace(single_flow("cubic", 6.0, PATH), 0.01))
    rows, seconds = _rows(record), record.samples.flows[:-1]
    received = seconds["throughput_bps"].cumsum() / 8
    acked = np.interp(seconds["t_s"] + RTT_S / 2, rows["t_s"], rows["bytes_acked"])
    off = np.abs(acked - received) / received
    print(f"bytes acknowledged are off those taken by up to {off.max():.2%}")
    assert off.iloc[1:].max() < 0.02
    second: Any
    for second in seconds.itertuples():
        close = rows[(rows["t_s"] - RTT_S / 2 - second.t_s).abs() < 2.5 * RTT_S]
        windows = close["cwnd_packets"] * close["mss_bytes"]
        assert windows.min() <= second.cwnd_bytes <= windows.max()
    assert (rows["min_rtt_us"] >= 1e6 * RTT_S - 1).all()
