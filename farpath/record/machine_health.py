"""What a lab in real time saw of its machine: counters, their summary, its judgement.

Pure: texts of /proc, of ping and of tc in, numbers and sentences out. Times are real.
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

#: A bottleneck with so many frames waiting at both ends of a second was sending
#: throughout, but for moments.
BUSY_QUEUE_FRAMES = 20

#: A core busy for more than this part of a second leaves nothing for what must run on
#: time: work that arrives waits for the scheduler, at 250 Hz for up to 4 ms.
BUSY_SHARE = 0.9
#: So many seconds of a run may be such ones: a run's own start and end of flows.
BUSY_SECONDS_PART = 0.05
#: Time that the hypervisor gave to others is time in which no timer fires; one per cent
#: of a second is 10 ms, more than the RTT's samples may be off.
STEAL_SHARE = 0.01
#: A squeeze is a round of packet work cut off by its budget (net_rx_action in
#: net/core/dev.c); the rest waits for a kernel thread. Ten a second are noise.
SQUEEZES_PER_S = 10.0
#: The 2005 paper's pings resolve one millisecond, and so must the lab's delay lines:
#: half of that each way.
LAG_MS = 1.0
#: Beyond this part of the RTT the path is another than asked for.
RTT_PART = 0.1
#: No lab on the wall clock is held to less than this: one tick at 250 Hz, and one more.
LEAST_FAILING_MS = 8.0
#: So many pings may be such: a moment in which the machine did something else.
LATE_PINGS_PART = 0.1
#: A timer that fires early would be a clock that runs wrong; ping prints microseconds
#: and takes its times in user space and in the kernel, some of them apart.
EARLY_MS = 0.1
#: How far the bottleneck may stay below its rate while packets wait. tbf forgets what a
#: timer later than LATENESS_S (farpath.spec.qdiscs) lets overflow its bucket.
RATE_POOR, RATE_FAILED = 0.98, 0.90
#: Fewer such seconds than this say nothing of the rate.
RATE_LEAST_SECONDS = 5


@dataclass(frozen=True)
class MachineSample:
    """The machine's counters at ``t_s`` of the schedule, ``elapsed_s`` after the first."""

    t_s: float
    elapsed_s: float
    cpus: dict[str, list[int]]
    dropped: int
    squeezed: int


def parse_samples(text: str) -> list[MachineSample]:
    """Lines of a time in s, a blank and :func:`machine_counters` as JSON."""
    samples = []
    for number, line in enumerate(text.splitlines(), start=1):
        t_s, _, said = line.partition(" ")
        try:
            samples.append(MachineSample(t_s=float(t_s), **json.loads(said)))
        except (ValueError, TypeError) as error:
            raise LabFailedError(f"line {number} of the machine's samples is broken", line) from (
                error
            )
    return samples


@dataclass(frozen=True)
class Shares:
    """Parts of one second's time: the busiest core's, all cores', and of all cores.

    ``softirq``: packet work; ``steal``: what the hypervisor gave to other guests.
    """

    busiest: float
    all: float
    softirq: float
    steal: float


def _shares(before: MachineSample, after: MachineSample) -> Shares | None:
    """Shares between two samples; None if no tick passed."""
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
    """The least value that at least ``part`` of the values do not exceed; NaN of none.

    >>> quantile([4.0, 1.0, 3.0, 2.0], 0.5)
    2.0
    """
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)]


@dataclass(frozen=True)
class MachineSummary:
    """What a run's watch found; shares are parts of time, ``lag_*`` RTT beyond nominal.

    ``idle_rtt_*``: the least of the idle path's pings, what it takes when nothing is
    late; lateness itself is the side path's to tell.
    ``busy_seconds_part``: of all seconds, those in which one core was busy for more
    than :data:`BUSY_SHARE`. ``rate_part``: what the bottleneck sent, of its rate,
    while packets waited; None with too few such seconds.
    ``late_pings_part``: pings that took longer, by :func:`failing_lateness_ms`, than a
    full buffer explains.
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
        """Plain numbers for JSON, rounded; what is not defined is None."""
        return {
            name: None
            if value is None or not math.isfinite(value)
            else (round(value, 6) if isinstance(value, float) else value)
            for name, value in asdict(self).items()
        }


def rate_part(
    queue: Sequence[QueueSample], machine: Sequence[MachineSample], path: Path
) -> float | None:
    """What the bottleneck sent, as part of its rate, in seconds that began and ended with a queue.

    Their median, since within one a loss may have emptied the queue for a moment. Time
    is that of the machine's samples, taken with the queue's. None with fewer than
    :data:`RATE_LEAST_SECONDS` such seconds.
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
    """RTT of a ping behind full buffers of bottlenecks, its own frame in each included."""
    buffer_ms = 8e3 * (path.buffer_bytes + path.frame_bytes) / path.rate_bps
    return path.rtt_ms + path.jitter_ms + buffers * buffer_ms


def failing_lateness_ms(path: Path) -> float:
    """By how much a path's delay may be off before it is another path."""
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
    """Everything the watch brought back, in one place.

    ``buffers``: how many bottlenecks a ping passes.
    """
    shares = [found for pair in pairwise(machine) if (found := _shares(*pair))]
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
    """Sentences: what makes a record doubtful, and what makes it wrong."""

    poor: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def judge(found: MachineSummary, path: Path, buffers: int = 1) -> Judgement:
    """What the watch says of a run, by the thresholds of this module.

    Wrong is a path that was not the one asked for: packets lost between ports, a delay
    or a rate off by a tenth. Doubtful is a machine with too little in reserve.
    """
    failing_ms = failing_lateness_ms(path)
    full_ms = full_rtt_ms(path, buffers)
    # With jitter the least of some pings differs by itself.
    drift_ms = abs(found.idle_rtt_after_ms - found.idle_rtt_before_ms) - 2 * path.jitter_ms
    return Judgement(
        tuple(_poor(found, path, drift_ms, failing_ms, full_ms)),
        tuple(_failed(found, path, drift_ms, failing_ms, full_ms)),
    )


def _failed(
    found: MachineSummary, path: Path, drift_ms: float, failing_ms: float, full_ms: float
) -> Iterable[str]:
    if found.softnet_dropped:
        yield f"the machine lost {found.softnet_dropped} packets between ports"
    if found.lag_median_ms > failing_ms:
        yield (
            f"half of its timers were late by {found.lag_median_ms:.1f} ms or more over a round "
            f"trip ({failing_ms:g} ms is the most for this path)"
        )
    if drift_ms > failing_ms:
        yield (
            f"the idle path's RTT went from {found.idle_rtt_before_ms:.1f} to "
            f"{found.idle_rtt_after_ms:.1f} ms"
        )
    if found.idle_rtt_before_ms - path.rtt_ms > failing_ms:
        yield f"the idle path's RTT is {found.idle_rtt_before_ms:.1f} ms, not {path.rtt_ms:g} ms"
    if found.ping_min_ms < path.least_rtt_ms - EARLY_MS:
        least_ms = path.least_rtt_ms
        yield f"a ping took {found.ping_min_ms:.3f} ms, less than the path's {least_ms:g} ms"
    if found.late_pings_part > LATE_PINGS_PART:
        yield (
            f"{found.late_pings_part:.0%} of the pings took over {failing_ms:g} ms longer than a "
            f"full buffer explains ({full_ms:.1f} ms), up to {found.ping_max_ms:.1f} ms"
        )
    if found.rate_part is not None and found.rate_part < RATE_FAILED:
        yield f"the bottleneck sent {found.rate_part:.1%} of its rate while packets waited"


def _poor(
    found: MachineSummary, path: Path, drift_ms: float, failing_ms: float, full_ms: float
) -> Iterable[str]:
    if found.busy_seconds_part > BUSY_SECONDS_PART:
        yield (
            f"one core was busy for more than {BUSY_SHARE:.0%} in {found.busy_seconds_part:.0%} of "
            f"the seconds (mean of the busiest {found.busiest_core_mean:.0%})"
        )
    if found.steal_mean > STEAL_SHARE:
        yield f"the hypervisor took {found.steal_mean:.1%} of the time for others"
    if found.softnet_squeezed_per_s > SQUEEZES_PER_S:
        yield f"packet work was cut off {found.softnet_squeezed_per_s:.0f} times a second"
    if found.lag_p99_ms > LAG_MS:
        yield (
            f"timers were late: of a round trip's {SIDE_RTT_MS:g} ms one in a hundred took "
            f"{found.lag_p99_ms:.1f} ms more (median {found.lag_median_ms:.1f} ms)"
        )
    if LAG_MS < found.idle_rtt_before_ms - path.rtt_ms <= failing_ms:
        yield f"the idle path's RTT is {found.idle_rtt_before_ms:.1f} ms, not {path.rtt_ms:g} ms"
    if LAG_MS < drift_ms <= failing_ms:
        yield (
            f"the idle path's RTT was {found.idle_rtt_before_ms:.1f} ms before and "
            f"{found.idle_rtt_after_ms:.1f} ms after the traffic"
        )
    if found.late_pings_part <= LATE_PINGS_PART and found.ping_max_ms > full_ms + LAG_MS:
        yield f"a ping took {found.ping_max_ms:.1f} ms, a full buffer explains {full_ms:.1f} ms"
    if found.rate_part is not None and RATE_FAILED <= found.rate_part < RATE_POOR:
        yield f"the bottleneck sent {found.rate_part:.1%} of its rate while packets waited"
