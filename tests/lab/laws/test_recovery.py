"""How the window goes through a loss: as in Linux 2.4 (ERA=2004:recovery=2.4), and as today."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from farpath.mechanisms.dropper.mechanism import parse_droppers
from farpath.planning.path_options import resolve_path
from farpath.spec.plan import Plan
from tests.support.plans import with_droppers, with_trace

from ..conftest import RunPlan, single_flow

TODAY, OF_2_4 = "2004", "2004:recovery=2.4"
#: It holds 830 packets of 1500 bytes, a fifth of them on the way and the others in its buffer.
PATH = resolve_path(rtt="20ms", rate="100Mbit", buffer="1MB")
#: The dropper takes one packet that ends slow start, before the path is full, and another one
#: later. So it alone decides what is lost, and no receiver's window holds a flow back.
SLOW_START_ENDS, LATER = 400, 6000


def _plan(stack: str, era: str, drop: str) -> Plan:
    plan = with_droppers(single_flow(stack, 6.0, PATH, era=era), parse_droppers(drop))
    return with_trace(plan, 0.002)


def _trace(run_once: RunPlan, stack: str, era: str, drop: str) -> pd.DataFrame:
    trace = run_once(_plan(stack, era, drop)).trace
    assert trace is not None
    return trace


@pytest.mark.parametrize(
    ("stack", "era", "least_fraction"),
    [
        # Rate halving: an ACK for each packet that arrives, a packet off the window for two ACKs
        ("scalable_2004", OF_2_4, 0.5),
        ("reno_2004", OF_2_4, 0.5),
        # RFC 6937: in proportion to what arrives, down to ssthresh
        ("scalable_2004", TODAY, 0.875),
        ("reno_2004", TODAY, 0.5),
    ],
)
def test_one_lost_packet_takes_its_part_of_the_window(
    run_once: RunPlan, stack: str, era: str, least_fraction: float
) -> None:
    rows = _trace(run_once, stack, era, f"packets:{SLOW_START_ENDS},{LATER}")
    assert (rows["ca_state"] == "loss").sum() == 0
    assert rows["retransmits"].iloc[-1] == 2
    recovery = rows[(rows["ca_state"] == "recovery") & (rows["retransmits"] == 2)]
    before = rows.loc[recovery.index[0] - 1]
    least = rows.loc[recovery.index[0] : recovery.index[-1] + 1, "cwnd_packets"].min()
    window, ssthresh = before["cwnd_packets"], recovery["ssthresh_packets"].iloc[0]
    soon = rows["cwnd_packets"][recovery.index[-1] + round(4 * before["rtt_us"] / 2000)]
    print(
        f"window {window}, ssthresh {ssthresh}, least {least} / {least_fraction * window:.0f}, "
        f"four RTTs later {soon}"
    )
    # Four packets more or less: those that bring recovery about are no longer in flight when it
    # begins, and in a tick of 2 ms the window moves by eight.
    assert least == pytest.approx(least_fraction * window, abs=12)
    # Slow start takes the window back to ssthresh, which is the stack's own
    assert soon == pytest.approx(ssthresh, rel=0.05)


@pytest.mark.parametrize(("era", "times_out"), [(OF_2_4, True), (TODAY, False)])
def test_a_packet_that_is_lost_again_waits_for_a_timeout_as_it_did_in_2_4(
    run_once: RunPlan, era: str, times_out: bool
) -> None:
    # The later packet is sent again once three behind it have arrived: after those that are in
    # flight then, and up to two that limited transmit (RFC 3042) lets go.
    once = f"packets:{SLOW_START_ENDS},{LATER}"
    alone = _trace(run_once, "reno_2004", era, once)
    at = int((alone["retransmits"] == 2).to_numpy().argmax())
    in_flight = int(alone["unacked_packets"][at - 1])
    again = ",".join(str(LATER + in_flight + offset) for offset in range(-2, 4))
    rows = _trace(run_once, "reno_2004", era, f"{once},{again}")
    timeouts = int((rows["ca_state"] == "loss").sum())
    print(f"{in_flight} packets in flight, {timeouts} ticks after a timeout")
    assert rows["retransmits"].iloc[-1] >= 2 + 6
    assert (timeouts > 0) is times_out


def test_without_losses_the_window_is_that_of_today(run_plan: RunPlan) -> None:
    limited = dataclasses.replace(PATH, window_bytes=400_000)
    windows = []
    for era in (TODAY, OF_2_4):
        rows = run_plan(single_flow("htcp_2004", 4.0, limited, era=era)).samples.flows
        assert rows["retransmits"].sum() == 0
        windows.append(list(rows["cwnd_bytes"]))
    assert windows[0] == windows[1]
