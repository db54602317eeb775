"""Metrics as the paper defines them: pure functions of samples.

Source: Cottrell et al., *Characterization and Evaluation of TCP and UDP-based Transport on Real
Networks*, SLAC, 2005, section IV.A: with the average throughput mu and its standard deviation s,
stability is S = s / mu and fairness F = (sum mu_i)^2 / (n sum mu_i^2). S is the coefficient of
variation, and F is Jain's fairness index.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from farpath.mechanisms.draw.mechanism import regions_of
from farpath.spec.changes import Timeline
from farpath.spec.labels import stacks_label
from farpath.spec.plan import Plan
from farpath.spec.schedule import Region, Schedule

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Samples

Array = npt.NDArray[np.float64]

#: Throughput in the table of flows: at the receiver, and as the sending program counts it.
RECEIVED, SENT = "throughput_bps", "sent_bps"

#: The paper's figures smooth throughput over this time (section IV.A).
SMOOTHING_S = 5
#: A region's peak is the largest mean over this time: longer than the oscillation of a window on
#: the study's paths, shorter than the time in which Reno fills one.
PEAK_S = 10


def stability(throughputs_bps: npt.ArrayLike) -> float:
    """Return S = s / mu, at least 0 (constant); NaN if mu is 0 or with fewer than two values.

    s is the sample standard deviation (n - 1); the paper does not say which. With the 120 values of
    its shortest region the two differ by 0.4 %.

    >>> round(stability([2.0, 4.0, 6.0]), 3)
    0.5
    """
    values = np.asarray(throughputs_bps, dtype=np.float64)
    mean = float(values.mean()) if values.size else 0.0
    return standard_deviation(values) / mean if mean > 0 else math.nan


def utilisation(throughput_bps: float, rate_bps: float) -> float:
    """Return the part of a bottleneck's rate that arrived as payload.

    ``rate_bps``: its mean over the same time (``Plan.rates.mean``), so that the result is payload
    over what the link could carry, also where the rate changes.

    >>> utilisation(30e6, 40e6)
    0.75
    """
    return throughput_bps / rate_bps


def standard_deviation(values: npt.ArrayLike) -> float:
    """Return the sample standard deviation (n - 1) of the values that are not NaN.

    It is NaN with fewer than two such values.

    >>> standard_deviation([2.0, 4.0, 6.0, float("nan")])
    2.0
    """
    array = np.asarray(values, dtype=np.float64)
    defined = array[~np.isnan(array)]
    return float(defined.std(ddof=1)) if defined.size > 1 else math.nan


def fairness(means_bps: npt.ArrayLike) -> float:
    """Return F = (sum mu_i)^2 / (n sum mu_i^2), from 1/n to 1; NaN if all mu_i are 0.

    >>> fairness([100.0, 100.0]), fairness([100.0, 0.0]), fairness([3.0, 1.0])
    (1.0, 0.5, 0.8)
    """
    values = np.asarray(means_bps, dtype=np.float64)
    squares = float(np.square(values).sum())
    if squares == 0:
        return math.nan
    return float(values.sum()) ** 2 / (values.size * squares)


def smoothed(throughputs_bps: npt.ArrayLike, seconds: int = SMOOTHING_S) -> Array:
    """Return the centred running mean over ``seconds``; at the ends over the values there are.

    >>> smoothed([0.0, 3.0, 6.0, 9.0], 3).tolist()
    [1.5, 3.0, 6.0, 7.5]
    """
    values = np.asarray(throughputs_bps, dtype=np.float64)
    window = np.ones(seconds)
    middle = slice((seconds - 1) // 2, (seconds - 1) // 2 + values.size)
    sums = np.convolve(values, window)[middle]
    counts: Array = np.convolve(np.ones(values.size), window)[middle]
    return sums / counts


def peak(throughputs_bps: npt.ArrayLike, seconds: int = PEAK_S) -> float:
    """Return the largest mean over ``seconds``, or over all values if they are fewer; at least one.

    >>> peak([0.0, 4.0, 8.0, 0.0], 2), peak([3.0], 2)
    (6.0, 3.0)
    """
    values = np.asarray(throughputs_bps, dtype=np.float64)
    window = np.ones(min(seconds, values.size))
    return float(np.convolve(values, window, mode="valid").max()) / window.size


def smoothed_flows(
    flows_bps: pd.DataFrame, schedule: Schedule, seconds: int = SMOOTHING_S
) -> pd.DataFrame:
    """Smooth each flow's column of ``per_second`` within the flow's own time.

    So no flow sends before it starts, or after it stops. Bits that arrive in the second after the
    stop are left as they are.
    """
    middles_s = flows_bps.index.to_numpy(dtype=np.float64) - 0.5
    curves = flows_bps.copy()
    for flow in schedule.flows:
        present = (middles_s > flow.start_s) & (middles_s < flow.stop_s)
        curves.loc[present, flow.name] = smoothed(flows_bps.loc[present, flow.name], seconds)
    return curves


def flow_per_second(rows: pd.DataFrame, seconds: int, column: str = RECEIVED) -> Array:
    """Return a flow's bits in each second, received or sent.

    The first interval counts in the second that holds its middle, and each further one a step
    later. A second holds a whole number of intervals but for microseconds: by its own middle one
    that lies across two seconds alike would count now in the one and now in the other.
    """
    lengths_s = rows["interval_s"].to_numpy(dtype=np.float64)
    starts_s = rows["t_s"].to_numpy(dtype=np.float64) - lengths_s
    if not starts_s.size:
        return np.zeros(seconds)
    bits = rows[column].to_numpy(dtype=np.float64) * lengths_s
    steps = max(1, round(1 / float(lengths_s.max())))
    first = math.floor((starts_s[0] + lengths_s[0] / 2) * steps)
    at = (first + np.rint((starts_s - starts_s[0]) * steps).astype(np.int64)) // steps
    inside = (at >= 0) & (at < seconds)
    counted = np.bincount(at[inside], weights=bits[inside], minlength=seconds)
    return counted.astype(np.float64)


def per_second(samples: Samples, schedule: Schedule, column: str = RECEIVED) -> pd.DataFrame:
    """Return the throughput in bit/s of each flow (column) in each second of the schedule.

    ``column``: of the table of flows, received or sent bits. The index is the end of
    the second: 1, 2, ... For the second in which an interval counts see ``flow_per_second``. A
    short last interval holds what arrived after the sender stopped; its bits count in the second
    after. Seconds without a sample are 0.
    """
    import pandas as pd

    seconds = round(schedule.duration_s)
    flows = {
        flow.name: flow_per_second(
            samples.flows[samples.flows["flow"] == flow.name], seconds, column
        )
        for flow in schedule.flows
    }
    return pd.DataFrame(flows, index=pd.RangeIndex(1, seconds + 1, name="t_s"))


def seconds_above_rate(flows_bps: pd.DataFrame, plan: Plan) -> int:
    """Return in how many seconds of ``per_second`` flows got more than the bottleneck's rate.

    Receivers read in order. What comes behind a lost packet is read once that has arrived again, so
    that a second may hold what crossed the bottleneck before. An interval counts in the second that
    holds its middle, so the highest rate within half a second of a second bounds it. 0 with several
    bottlenecks, whose flows have no one rate, and with a rate that comes from a trace.
    """
    if plan.bottlenecks > 1 or plan.path.rate_trace:
        return 0
    total = flows_bps.sum(axis="columns").to_numpy(dtype=np.float64)
    return sum(
        bool(bits > _highest(plan.rates, float(end_s) - 1.5, float(end_s) + 0.5))
        for bits, end_s in zip(total, flows_bps.index, strict=True)
    )


def _highest(values: Timeline, start_s: float, stop_s: float) -> float:
    """Return the largest value that holds at some time of a stretch."""
    changes = (value for at_s, value in values.changes if start_s < at_s <= stop_s)
    return max([values.at(start_s), *changes])


def aggregate(samples: Samples, schedule: Schedule) -> pd.Series[float]:
    """Return the throughput in bit/s of all flows together in each second."""
    return per_second(samples, schedule).sum(axis="columns")


@dataclass(frozen=True)
class RegionSummary:
    """One region: aggregate throughput, stability S and fairness F of its flows.

    ``seconds``: its length. ``peak_bps``: the largest aggregate over ten seconds of it, or over all
    of a shorter region. ``rtt_*``: least, largest and standard deviation of the RTTs of the
    answered pings sent within it.
    """

    number: int
    seconds: float
    flows: tuple[str, ...]
    mean_bps: float
    std_bps: float
    stability: float
    fairness: float
    flow_means_bps: tuple[float, ...]
    rtt_max_ms: float
    peak_bps: float
    rtt_min_ms: float
    rtt_std_ms: float

    @property
    def newest_share(self) -> float:
        """The newest flow's mean throughput over an equal share of all flows'."""
        return self.flow_means_bps[-1] * len(self.flow_means_bps) / sum(self.flow_means_bps)


@dataclass(frozen=True)
class Summary:
    """The metrics of one run that tables print and claims are judged by.

    ``rate_bps``, ``base_rtt_ms``: the rate of the path's bottleneck, and the RTT of the idle path.
    ``stability`` and throughputs: over the one-second aggregates of the whole schedule.
    ``fairness_min``, ``fairness_max``: over regions of several flows. ``rtt_*``: of the answered
    pings (``rtt_p99_ms``: their 99th percentile). ``queue_max_*``: the largest sampled backlog.
    ``queue_drops``: packets that the bottleneck dropped. ``queue_marks``: packets that its active
    queue marked by ECN; None without one. ``queue_link``: of several bottlenecks the link that
    these are of (``farpath.metrics.link``); None with one. ``retransmits``: segments sent again.
    ``sent_mean_bps``, ``sent_stability``: mean and S of what the sending programs handed to their
    hosts, as a sending iperf reports it; None if unknown. ``cpu_percent``: the CPU time of all
    sending programs, in per cent of one core, while any flow was there. ``mhz_per_mbps``: their
    clock cycles per bit received. Both are None where CPU is not counted.
    """

    schedule: str
    path_name: str
    stack: str
    era: str
    clock: str
    region_s: float
    seed: int
    rate_bps: float
    base_rtt_ms: float
    mean_bps: float
    std_bps: float
    stability: float
    fairness_min: float
    fairness_max: float
    rtt_std_ms: float
    rtt_min_ms: float
    rtt_p99_ms: float
    rtt_max_ms: float
    pings: int
    pings_lost: int
    queue_max_bytes: int
    queue_max_packets: int
    queue_drops: int
    retransmits: int
    regions: tuple[RegionSummary, ...]
    cpu_percent: float | None = None
    mhz_per_mbps: float | None = None
    sent_mean_bps: float | None = None
    sent_stability: float | None = None
    queue_marks: int | None = None
    queue_link: str | None = None

    @property
    def utilisation(self) -> float:
        """Throughput over the bottleneck's rate; NaN with several, which have no one rate."""
        return math.nan if self.queue_link else utilisation(self.mean_bps, self.rate_bps)

    def as_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists and numbers for JSON; undefined values are None.

        ``queue_link`` is there with several bottlenecks only.
        """
        values = {key: _plain(value) for key, value in dataclasses.asdict(self).items()}
        if self.queue_link is None:
            del values["queue_link"]
        return values

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        """Return the inverse of ``as_dict``; numbers that are None there are NaN again.

        Raises BadInputError naming the first field that is missing or of another type, and
        KeyError without regions.
        """
        from farpath.base.validation import validated

        filled = _with_nan(cls, data)
        filled["regions"] = [_with_nan(RegionSummary, region) for region in filled["regions"]]
        return validated(cls, filled)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _with_nan(cls: type, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dataclass's fields with NaN for each float that was written as None."""
    numbers = {field.name for field in dataclasses.fields(cls) if field.type == "float"}
    return {
        key: math.nan if value is None and key in numbers else value for key, value in data.items()
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def region_summary(flows_bps: pd.DataFrame, ping: pd.DataFrame, region: Region) -> RegionSummary:
    """Summarise one region of ``per_second``, and its RTTs from ``ping``.

    A second belongs to the region that holds its middle, a ping to the region in which it was sent.
    F counts the flows that are present throughout; the aggregate counts the bits of every flow.
    """
    middles_s = flows_bps.index.to_numpy(dtype=np.float64) - 0.5
    inside = flows_bps[(middles_s >= region.start_s) & (middles_s < region.stop_s)]
    total = inside.sum(axis="columns").to_numpy(dtype=np.float64)
    means = [float(inside[name].mean()) for name in region.flows]
    pings = ping[(ping["t_s"] >= region.start_s) & (ping["t_s"] < region.stop_s)]
    rtt_ms = pings["rtt_ms"].to_numpy(dtype=np.float64)
    return RegionSummary(
        number=region.number,
        seconds=region.stop_s - region.start_s,
        flows=region.flows,
        mean_bps=float(total.mean()),
        std_bps=standard_deviation(total),
        stability=stability(total),
        fairness=fairness(means),
        flow_means_bps=tuple(means),
        rtt_max_ms=_extreme(list(rtt_ms), max),
        peak_bps=peak(total),
        rtt_min_ms=_extreme(list(rtt_ms), min),
        rtt_std_ms=standard_deviation(rtt_ms),
    )


def _extreme(values: Sequence[float], choose: Callable[[Sequence[float]], float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    return float(choose(defined)) if defined else math.nan


def cpu_figures(
    cpu: Mapping[str, float] | None, total_bps: Array, plan: Plan
) -> tuple[float | None, float | None]:
    """Return CPU in per cent of a core and MHz per Mbit/s, from ``readback.cpu`` of a record.

    ``senders_s``: CPU time of all sending programs. ``mhz``: the frequency of the cores. Both
    results are None if CPU was not counted.
    """
    if not cpu:
        return None, None
    present_s = sum(region.stop_s - region.start_s for region in regions_of(plan))
    megabits = float(total_bps.sum()) / 1e6
    cycles = cpu["senders_s"] * cpu["mhz"]
    return 100 * cpu["senders_s"] / present_s, cycles / megabits if megabits else None


def summarise(
    samples: Samples,
    plan: Plan,
    cpu: Mapping[str, float] | None = None,
    queue_link: str | None = None,
) -> Summary:
    """Return all metrics of a run.

    ``cpu``: ``readback.cpu`` of its record, if it has one. ``queue_link``: the link that
    ``samples.queue`` is of, if there are several bottlenecks.
    """
    flows_bps = per_second(samples, plan.schedule)
    sent = per_second(samples, plan.schedule, SENT).sum(axis="columns", skipna=False).to_numpy()
    total = flows_bps.sum(axis="columns").to_numpy(dtype=np.float64)
    regions = tuple(region_summary(flows_bps, samples.ping, region) for region in regions_of(plan))
    shared = [region.fairness for region in regions if len(region.flows) > 1]
    rtt_ms = samples.ping["rtt_ms"].to_numpy(dtype=np.float64)
    answered = list(rtt_ms[~np.isnan(rtt_ms)])
    queue = samples.queue
    counted = samples.flows["flow"].isin([flow.name for flow in plan.schedule.flows])
    drops = queue["drops"].to_numpy()
    marks = queue["marks"].to_numpy() if "marks" in queue and len(queue) else None
    cpu_percent, mhz_per_mbps = cpu_figures(cpu, total, plan)
    return Summary(
        schedule=plan.schedule.name,
        path_name=plan.path.name,
        stack=stacks_label(plan.schedule),
        era=plan.era.name,
        clock=plan.settings.clock,
        region_s=plan.schedule.region_s,
        seed=plan.seed,
        rate_bps=float(plan.rates.mean),
        base_rtt_ms=float(plan.path.rtt_ms),
        mean_bps=float(total.mean()),
        std_bps=standard_deviation(total),
        stability=stability(total),
        fairness_min=_extreme(shared, min),
        fairness_max=_extreme(shared, max),
        rtt_std_ms=standard_deviation(rtt_ms),
        rtt_min_ms=_extreme(answered, min),
        rtt_p99_ms=float(np.percentile(answered, 99)) if answered else math.nan,
        rtt_max_ms=_extreme(answered, max),
        pings=int(rtt_ms.size),
        pings_lost=int(np.isnan(rtt_ms).sum()),
        queue_max_bytes=int(queue["backlog_bytes"].max()) if len(queue) else 0,
        queue_max_packets=int(queue["backlog_packets"].max()) if len(queue) else 0,
        queue_drops=int(drops[-1] - drops[0]) if len(queue) else 0,
        retransmits=int(samples.flows["retransmits"][counted].sum()),
        regions=regions,
        cpu_percent=cpu_percent,
        mhz_per_mbps=mhz_per_mbps,
        sent_mean_bps=_known(float(sent.mean())),
        sent_stability=_known(stability(sent)),
        queue_marks=None if marks is None else int(marks[-1] - marks[0]),
        queue_link=queue_link,
    )
