"""H-TCP as published: PFLDnet 2004 (version 1), draft-leith-tcp-htcp-00 to -06 (2)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ..conftest import RunPlan
from . import traces
from .traces import Epoch

#: Delta_L: how long H-TCP is Reno after a loss.
DELTA_L_S = 1.0
RTT_REF_S = 0.1
#: beta is min RTT / max RTT in this range.
BETA_RANGE = (0.5, 0.8)


def increase(delta_s: float, version: int) -> float:
    """Integral of f over the time since a loss, in packets * s per RTT.

    f is 1 up to Delta_L, then 1 + 10 D + D^2 / 4 (version 1) or + D^2 / 2 (version 2)
    with D = Delta - Delta_L.
    """
    fast_s = max(0.0, delta_s - DELTA_L_S)
    return delta_s + 5 * fast_s**2 + fast_s**3 / (12 if version == 1 else 6)


def worst_deviation(epoch: Epoch, version: int, factor: float) -> float:
    """The largest deviation from the integral, as part of the epoch's whole growth.

    ``factor`` is what f is multiplied by. A sample says only within which 0.1 s the
    loss was found; the moment that fits best is taken.
    """

    def deviation(loss_s: float) -> float:
        expected, worst = float(epoch.window[0]), 0.0
        samples = zip(epoch.t_s, epoch.window, epoch.rtt_s, strict=True)
        for (t_s, _, _), (later_s, window, rtt_s) in pairwise(samples):
            gain = increase(later_s - loss_s, version) - increase(t_s - loss_s, version)
            expected += factor * gain / rtt_s
            worst = max(worst, abs(window - expected))
        return worst

    moments = [epoch.since_s - traces.SAMPLE_S * step / 20 for step in range(21)]
    return min(map(deviation, moments)) / (epoch.window[-1] - epoch.window[0])


@pytest.mark.parametrize(
    ("stack", "version", "rtt_s", "scaled"),
    [
        ("htcp_2004:version=1", 1, 0.1, False),
        ("htcp_2004:version=2", 2, 0.1, False),
        ("htcp_2004:version=2,rtt_scaling=1", 2, 0.2, True),
    ],
)
def test_htcp_2004_grows_as_the_integral_of_its_increase(
    run_plan: RunPlan, stack: str, version: int, rtt_s: float, scaled: bool
) -> None:
    # Tolerance: alpha per window of ACKs is alpha (1 - alpha / 2W) per RTT, up to 2 %
    # less here. RTT scaling, RTT / 100 ms, multiplies f beyond Delta_L only; before
    # that f gives ten packets of a thousand.
    path = traces.narrow_path(rtt_s, 2000, 200)
    epochs = traces.epochs(run_plan, stack, 35.0, path, delayed_ack=False)
    checked = 0
    for epoch, later in pairwise(epochs[1:]):
        beta = epoch.window[0] / epoch.before
        if len(epoch.window) < 30 or not 0.48 < beta < 0.82 or epoch.before < 2000:
            continue
        factor = 2 * (1 - beta) if version == 1 else 1.0
        worst = worst_deviation(epoch, version, factor * (rtt_s / RTT_REF_S if scaled else 1.0))
        print(
            f"{epoch.before} -> {epoch.window[0]} -> {later.before} packets in "
            f"{epoch.t_s[-1] - epoch.since_s:.1f} s: off the integral by {worst:.1%} at worst"
        )
        assert worst < 0.03
        checked += 1
    assert checked >= 2


def test_htcp_2004_keeps_what_fills_the_path_without_its_queue(run_plan: RunPlan) -> None:
    # beta = min RTT / max RTT in 0.5..0.8 once throughput is steady. A buffer of a half
    # and of a tenth of the path: 1 / 1.5, and 1 / 1.1, which is cut to 0.8. Tolerance:
    # a window is seen up to two RTTs of alpha, 2 % of it, after its loss.
    for buffer_packets in (1000, 200):
        path = traces.narrow_path(0.1, 2000, buffer_packets)
        epochs = traces.epochs(run_plan, "htcp_2004", 30.0, path, delayed_ack=False)
        largest_s = max(rtt_s for epoch in epochs[1:] for rtt_s in epoch.rtt_s)
        least_s = min(rtt_s for epoch in epochs for rtt_s in epoch.rtt_s)
        low, high = BETA_RANGE
        predicted = min(max(least_s / largest_s, low), high)
        kept_fraction = [epoch.window[0] / epoch.before for epoch in epochs[-3:]]
        print(f"kept {[f'{part:.3f}' for part in kept_fraction]} / RTTs predict {predicted:.3f}")
        assert kept_fraction == pytest.approx([predicted] * 3, abs=0.02)


@pytest.mark.parametrize("switch", [0, 1])
def test_htcp_2004_halves_when_throughput_has_changed(run_plan: RunPlan, switch: int) -> None:
    # A buffer of a tenth of the path ends slow start at a fifth of the path's rate. At
    # the next loss the rate is five times that, and beta 0.5; without the switch it
    # is 0.8, as at every loss after. Tolerance: as above.
    path = traces.narrow_path(0.1, 2000, 200)
    stack = f"htcp_2004:bandwidth_switch={switch}"
    epochs = traces.epochs(run_plan, stack, 20.0, path, delayed_ack=False)
    kept_fraction = [epoch.window[0] / epoch.before for epoch in epochs[1:3]]
    print(
        "kept at the first two losses after slow start:", [f"{part:.3f}" for part in kept_fraction]
    )
    assert kept_fraction == pytest.approx([0.5 if switch else 0.8, 0.8], abs=0.02)
