"""Machine health: whether the machine kept up with a run in real time.

The samples come from /proc, ping and tc; they are summarised and judged by the thresholds
below. Times are real seconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from farpath.base.errors import LabFailedError
from farpath.spec.path import Path
from farpath.spec.protocol import SIDE_RTT_MS
from farpath.tools.ping import Pings
from farpath.tools.proc import CPU_COLUMNS
from farpath.tools.tc import QueueSample

#: Backlog in frames, at both ends of a second, with which the bottleneck was sending
#: throughout that second except for moments.
BUSY_QUEUE_FRAMES = 20

#: Fraction of a second above which a core is too busy for work that must run on time:
#: arriving work waits for the scheduler, at 250 Hz for up to 4 ms.
BUSY_SHARE = 0.9
#: Fraction of a run's seconds that may be so busy: flows that start and end.
BUSY_SECONDS_PART = 0.05
#: Fraction of the time that the hypervisor may give to other guests. No timer fires in it;
#: one per cent of a second is 10 ms, more than the tolerance of the RTT samples.
STEAL_SHARE = 0.01
#: Squeezes per second that are noise. A squeeze is a round of packet processing that its
#: budget cut off (net_rx_action in net/core/dev.c); the rest waits for a kernel thread.
SQUEEZES_PER_S = 10.0
#: Tolerance of the delay in ms: the 2005 paper's pings resolve one millisecond, so each of
#: the lab's two delay lines must keep half of that.
LAG_MS = 1.0
#: Fraction of the RTT by which it may be off before the path is not the planned one.
RTT_PART = 0.1
#: Least tolerance in ms of a lab on the wall clock: two ticks at 250 Hz.
LEAST_FAILING_MS = 8.0
#: Fraction of the pings that may be late, for moments in which the machine was busy elsewhere.
LATE_PINGS_PART = 0.1
#: How early a ping may return, in ms. A timer never fires early, but ping prints microseconds
#: and takes some timestamps in user space and some in the kernel.
EARLY_MS = 0.1
#: Fractions of its rate below which the bottleneck, while packets wait, makes a record
#: doubtful or wrong. tbf loses the tokens that overflow its bucket when a timer is later than
#: LATENESS_S (farpath.spec.qdiscs).
RATE_POOR, RATE_FAILED = 0.98, 0.90
#: Fewest seconds with a queue from which the rate can be measured.
RATE_LEAST_SECONDS = 5


@dataclass(frozen=True)
class MachineSample:
    """The machine's counters at one time.

    ``t_s``: time since the schedule's start in s. ``elapsed_s``: real time since the first
    sample in s. ``cpus``: clock ticks of each core, by its name, in the columns of
    ``farpath.tools.proc.CPU_COLUMNS``. ``dropped``, ``squeezed``: counters of softnet_stat.
    """

    t_s: float
    elapsed_s: float
    cpus: dict[str, list[int]]
    dropped: int
    squeezed: int


def parse_samples(text: str) -> list[MachineSample]:
    """Parse lines that hold a time in s, a space and the counters as JSON.

    The counters are those of ``farpath.tools.proc``. Raises LabFailedError for a broken line.
    """
    samples = []
    for number, line in enumerate(text.splitlines(), start=1):
        t_s, _, counters = line.partition(" ")
        try:
            samples.append(MachineSample(t_s=float(t_s), **json.loads(counters)))
        except (ValueError, TypeError) as error:
            raise LabFailedError(f"line {number} of the machine's samples is broken", line) from (
                error
            )
    return samples


@dataclass(frozen=True)
class Shares:
    """CPU use in one second, as fractions of the time.

    ``busiest``: of the busiest core. ``all``: mean of all cores. ``softirq``: packet
    processing, mean of all cores. ``steal``: time that the hypervisor gave to other guests.
    """

    busiest: float
    all: float
    softirq: float
    steal: float


def _shares(before: MachineSample, after: MachineSample) -> Shares | None:
    """Return the CPU use between two samples; None if no clock tick passed."""
    cores = []
    for name, ticks in after.cpus.items():
        spent = [
            late - early for late, early in zip(ticks, before.cpus.get(name, ticks), strict=False)
        ]
        if sum(spent) > 0:
            cores.append(dict(zip(CPU_COLUMNS, spent, strict=False)))
    if not cores:
        return None
    totals = [sum(core.values()) for core in cores]
    busy = [
        total - core["idle"] - core["iowait"] for core, total in zip(cores, totals, strict=True)
    ]
    return Shares(
        busiest=max(part / total for part, total in zip(busy, totals, strict=True)),
        all=sum(busy) / sum(totals),
        softirq=sum(core["softirq"] for core in cores) / sum(totals),
        steal=sum(core.get("steal", 0) for core in cores) / sum(totals),
    )


def quantile(values: Sequence[float], part: float) -> float:
    """Return the least value that at least a fraction ``part`` of the values do not exceed.

    It is NaN if there are no values.

    >>> quantile([4.0, 1.0, 3.0, 2.0], 0.5)
    2.0
    """
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)]


@dataclass(frozen=True)
class MachineSummary:
    """Summary of the machine's load and timing during a run.

    ``busiest_core_*``, ``all_cores_mean``, ``softirq_mean``, ``steal_mean``: fractions of time.
    ``busy_seconds_part``: fraction of the seconds in which one core was busier than
    ``BUSY_SHARE``. ``lag_*_ms``: RTT of the side path above its nominal RTT; it measures how
    late timers were. ``idle_rtt_*_ms``: least RTT of the idle path, the one with no late
    timer. ``late_pings_part``: fraction of the pings that took longer than a full buffer
    explains by more than ``failing_lateness_ms``. ``rate_part``: throughput of the bottleneck while
    packets waited, as a fraction of its rate; None with too few such seconds.
    """

    seconds: int
    busiest_core_mean: float
    busiest_core_max: float
    busy_seconds_part: float
    all_cores_mean: float
    softirq_mean: float
    steal_mean: float
    softnet_dropped: int
    softnet_squeezed_per_s: float
    lag_median_ms: float
    lag_p99_ms: float
    lag_max_ms: float
    lag_pings: int
    idle_rtt_before_ms: float
    idle_rtt_after_ms: float
    ping_min_ms: float
    ping_max_ms: float
    late_pings_part: float
    rate_part: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers for JSON, rounded; None for those that are not finite."""
        return {
            name: None
            if value is None or not math.isfinite(value)
            else (round(value, 6) if isinstance(value, float) else value)
            for name, value in asdict(self).items()
        }


def rate_part(
    queue: Sequence[QueueSample], machine: Sequence[MachineSample], path: Path
) -> float | None:
    """Return the bottleneck's throughput as a fraction of its rate while packets waited.

    It is the median over the seconds that began and ended with a queue, since a loss within
    one of them may have emptied the queue for a moment. Times are those of the machine's
    samples, which were taken together with the queue's. None with fewer than
    ``RATE_LEAST_SECONDS`` such seconds.
    """
    elapsed_s = {sample.t_s: sample.elapsed_s for sample in machine}
    parts = []
    for before, after in pairwise(queue):
        if before.t_s not in elapsed_s or after.t_s not in elapsed_s:
            continue
        if min(before.backlog_packets, after.backlog_packets) < BUSY_QUEUE_FRAMES:
            continue
        time_s = elapsed_s[after.t_s] - elapsed_s[before.t_s]
        parts.append(8 * (after.bytes - before.bytes) / (time_s * path.rate_bps))
    return median(parts) if len(parts) >= RATE_LEAST_SECONDS else None


def full_rtt_ms(path: Path, buffers: int = 1) -> float:
    """Return the RTT in ms of a ping that waits behind ``buffers`` full bottleneck buffers.

    The ping's own frame is included in each.
    """
    buffer_ms = 8e3 * (path.buffer_bytes + path.frame_bytes) / path.rate_bps
    return path.rtt_ms + path.jitter_ms + buffers * buffer_ms


def failing_lateness_ms(path: Path) -> float:
    """Return by how many ms a path's delay may be off before a run on it fails."""
    return max(RTT_PART * path.rtt_ms, LEAST_FAILING_MS)


def _rtts(pings: Pings) -> list[float]:
    return [reply.rtt_ms for reply in pings.replies]


def summarise_machine(
    path: Path,
    machine: Sequence[MachineSample],
    queue: Sequence[QueueSample],
    lag: Pings,
    pings: Pings,
    idle_before: Pings,
    idle_after: Pings,
    buffers: int = 1,
) -> MachineSummary:
    """Summarise all measurements of the machine during a run.

    ``lag``: pings of the side path. ``buffers``: number of bottlenecks that a ping passes.
    Raises LabFailedError if the counters did not change or no ping came back.
    """
    shares = [share for pair in pairwise(machine) if (share := _shares(*pair))]
    if not shares:
        raise LabFailedError("the machine's counters did not move during the run")
    if not (lag.replies and idle_after.replies and idle_before.replies):
        raise LabFailedError("no ping of the side path or of the idle path came back")
    first, last = machine[0], machine[-1]
    length_s = last.elapsed_s - first.elapsed_s
    lags_ms = [rtt_ms - SIDE_RTT_MS for rtt_ms in _rtts(lag)]
    rtts_ms = _rtts(pings)
    latest_ms = full_rtt_ms(path, buffers) + failing_lateness_ms(path)
    return MachineSummary(
        seconds=len(shares),
        busiest_core_mean=fmean(share.busiest for share in shares),
        busiest_core_max=max(share.busiest for share in shares),
        busy_seconds_part=fmean(share.busiest > BUSY_SHARE for share in shares),
        all_cores_mean=fmean(share.all for share in shares),
        softirq_mean=fmean(share.softirq for share in shares),
        steal_mean=fmean(share.steal for share in shares),
        softnet_dropped=last.dropped - first.dropped,
        softnet_squeezed_per_s=(last.squeezed - first.squeezed) / length_s,
        lag_median_ms=median(lags_ms),
        lag_p99_ms=quantile(lags_ms, 0.99),
        lag_max_ms=max(lags_ms),
        lag_pings=len(lags_ms),
        idle_rtt_before_ms=min(_rtts(idle_before)),
        idle_rtt_after_ms=min(_rtts(idle_after)),
        ping_min_ms=min(rtts_ms, default=math.nan),
        ping_max_ms=max(rtts_ms, default=math.nan),
        late_pings_part=fmean(rtt_ms > latest_ms for rtt_ms in rtts_ms) if rtts_ms else 0.0,
        rate_part=rate_part(queue, machine, path),
    )


@dataclass(frozen=True)
class Judgement:
    """Reasons, one sentence each, why a record is doubtful (``poor``) or wrong (``failed``)."""

    poor: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def judge(summary: MachineSummary, path: Path, buffers: int = 1) -> Judgement:
    """Judge a run by the thresholds of this module.

    A run is wrong if its path was not the planned one: packets were lost between ports, or a
    delay or a rate was off by a tenth. It is doubtful if the machine had too little reserve.
    """
    failing_ms = failing_lateness_ms(path)
    full_ms = full_rtt_ms(path, buffers)
    # With jitter the least RTT of a few pings varies without any drift.
    drift_ms = abs(summary.idle_rtt_after_ms - summary.idle_rtt_before_ms) - 2 * path.jitter_ms
    return Judgement(
        tuple(_poor(summary, path, drift_ms, failing_ms, full_ms)),
        tuple(_failed(summary, path, drift_ms, failing_ms, full_ms)),
    )


def _failed(
    summary: MachineSummary, path: Path, drift_ms: float, failing_ms: float, full_ms: float
) -> Iterable[str]:
    if summary.softnet_dropped:
        yield f"the machine lost {summary.softnet_dropped} packets between ports"
    if summary.lag_median_ms > failing_ms:
        yield (
            f"half of its timers were late by {summary.lag_median_ms:.1f} ms or more over a round "
            f"trip ({failing_ms:g} ms is the most for this path)"
        )
    if drift_ms > failing_ms:
        yield (
            f"the idle path's RTT went from {summary.idle_rtt_before_ms:.1f} to "
            f"{summary.idle_rtt_after_ms:.1f} ms"
        )
    if summary.idle_rtt_before_ms - path.rtt_ms > failing_ms:
        yield f"the idle path's RTT is {summary.idle_rtt_before_ms:.1f} ms, not {path.rtt_ms:g} ms"
    if summary.ping_min_ms < path.least_rtt_ms - EARLY_MS:
        least_ms = path.least_rtt_ms
        yield f"a ping took {summary.ping_min_ms:.3f} ms, less than the path's {least_ms:g} ms"
    if summary.late_pings_part > LATE_PINGS_PART:
        yield (
            f"{summary.late_pings_part:.0%} of the pings took over {failing_ms:g} ms longer than a "
            f"full buffer explains ({full_ms:.1f} ms), up to {summary.ping_max_ms:.1f} ms"
        )
    if summary.rate_part is not None and summary.rate_part < RATE_FAILED:
        yield f"the bottleneck sent {summary.rate_part:.1%} of its rate while packets waited"


def _poor(
    summary: MachineSummary, path: Path, drift_ms: float, failing_ms: float, full_ms: float
) -> Iterable[str]:
    if summary.busy_seconds_part > BUSY_SECONDS_PART:
        yield (
            f"one core was busy for more than {BUSY_SHARE:.0%} in "
            f"{summary.busy_seconds_part:.0%} of the seconds "
            f"(mean of the busiest {summary.busiest_core_mean:.0%})"
        )
    if summary.steal_mean > STEAL_SHARE:
        yield f"the hypervisor took {summary.steal_mean:.1%} of the time for others"
    if summary.softnet_squeezed_per_s > SQUEEZES_PER_S:
        yield f"packet work was cut off {summary.softnet_squeezed_per_s:.0f} times a second"
    if summary.lag_p99_ms > LAG_MS:
        yield (
            f"timers were late: of a round trip's {SIDE_RTT_MS:g} ms one in a hundred took "
            f"{summary.lag_p99_ms:.1f} ms more (median {summary.lag_median_ms:.1f} ms)"
        )
    if LAG_MS < summary.idle_rtt_before_ms - path.rtt_ms <= failing_ms:
        yield f"the idle path's RTT is {summary.idle_rtt_before_ms:.1f} ms, not {path.rtt_ms:g} ms"
    if LAG_MS < drift_ms <= failing_ms:
        yield (
            f"the idle path's RTT was {summary.idle_rtt_before_ms:.1f} ms before and "
            f"{summary.idle_rtt_after_ms:.1f} ms after the traffic"
        )
    if summary.late_pings_part <= LATE_PINGS_PART and summary.ping_max_ms > full_ms + LAG_MS:
        yield f"a ping took {summary.ping_max_ms:.1f} ms, a full buffer explains {full_ms:.1f} ms"
    if summary.rate_part is not None and RATE_FAILED <= summary.rate_part < RATE_POOR:
        yield f"the bottleneck sent {summary.rate_part:.1%} of its rate while packets waited"
