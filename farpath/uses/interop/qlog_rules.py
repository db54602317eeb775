"""Rules over qlog: what RFC 9000 and RFC 9002 demand of a sender, held against its own log.

The lab knows what a log cannot: the RTT of the path. A rule says nothing of a log that lacks what
it needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.uses.interop.qlog import QlogEvent, acknowledged, in_ms

#: The least datagram that each path must carry, and the largest initial window, in bytes (RFC 9000,
#: section 14; RFC 9002, section 7.2).
LEAST_DATAGRAM_BYTES, MOST_INITIAL_BYTES = 1200, 14_720
#: Bytes of the largest datagram that Ethernet carries. Each probe timeout may send two beyond the
#: window, and recovery begins with one (RFC 9002, sections 6.2.4, 7.5 and 7.3.2).
LARGEST_DATAGRAM_BYTES = 1500
#: Later packets after which one is lost, the part of an RTT after which it is, and the RTT before
#: one is measured, in ms (RFC 9002, sections 6.1.1, 6.1.2 and 6.2.2).
PACKET_THRESHOLD, TIME_THRESHOLD, FIRST_RTT_MS = 3, 9 / 8, 333.0
#: Resolution of logs in ms, which is that of timers too (RFC 9002, section 6.1.2).
RESOLUTION_MS = 1.0
#: Frames that ask for no acknowledgement (RFC 9000, section 13.2).
_SILENT = ("ack", "padding", "connection_close")
#: The counts of a finding.
_COUNTS = ("looked_at", "broken")
#: Delay of acknowledgements if none is said, in ms (RFC 9000, section 18.2).
USUAL_ACK_DELAY_MS = 25.0


@dataclass(frozen=True)
class Finding:
    """What a rule found in logs: how often it could be broken and was, and the worst of all.

    ``excess``: by how much it was broken there at most, in the unit of the rule; ``worst``: that in
    words.
    """

    rule: str
    looked_at: int
    broken: int
    excess: float = 0.0
    worst: str = ""


@dataclass(frozen=True)
class Rule:
    """A rule. ``section``: where it is demanded; ``demands``: what, for people.

    ``judge``: takes a log and the RTT of the path in ms, and yields for each time that the rule
    could be broken by how much it was, in a unit of its own, and words for it. More than 0
    broke it.
    """

    name: str
    section: str
    demands: str
    judge: Callable[[Sequence[QlogEvent], float], Iterator[tuple[float, str]]]


def _windows(log: Sequence[QlogEvent]) -> Iterator[float]:
    for event in log:
        if event.name == "metrics_updated" and "congestion_window" in event.data:
            yield float(event.data["congestion_window"])


def _initial_window(log: Sequence[QlogEvent], _rtt_ms: float) -> Iterator[tuple[float, str]]:
    for window in _windows(log):
        yield window - MOST_INITIAL_BYTES, f"{window:,.0f} bytes"
        return


def _least_window(log: Sequence[QlogEvent], _rtt_ms: float) -> Iterator[tuple[float, str]]:
    for window in _windows(log):
        yield 2 * LEAST_DATAGRAM_BYTES - window, f"{window:,.0f} bytes"


def _in_flight(log: Sequence[QlogEvent], _rtt_ms: float) -> Iterator[tuple[float, str]]:
    before, window, timeouts, recovers = 0.0, math.inf, 0, False
    for event in log:
        if event.name != "metrics_updated":
            continue
        last, window = window, float(event.data.get("congestion_window", window))
        recovers = recovers or window < last < math.inf
        timeouts = int(event.data.get("pto_count", timeouts))
        now = float(event.data.get("bytes_in_flight", before))
        if now > before and window < math.inf:
            most = window + 2 * LARGEST_DATAGRAM_BYTES * max(timeouts, 1)
            if recovers:
                most = max(most, before + LARGEST_DATAGRAM_BYTES)
            recovers = False
            yield now - most, f"{now - window:,.0f} bytes over the window"
        before = now


def _rtt(log: Sequence[QlogEvent], rtt_ms: float) -> Iterator[tuple[float, str]]:
    for event in log:
        least_ms = float(event.data.get("min_rtt") or 0)
        # Some logs begin with the RTT that is taken before one is measured
        is_measured = least_ms and not math.isclose(least_ms, FIRST_RTT_MS)
        if event.name == "metrics_updated" and is_measured:
            yield rtt_ms - RESOLUTION_MS - least_ms, f"{least_ms:.3f} ms"


def _packet_numbers(log: Sequence[QlogEvent], _rtt_ms: float) -> Iterator[tuple[float, str]]:
    largest: dict[str, int] = {}
    for event in log:
        if event.name == "packet_sent" and event.packet:
            space, number = event.packet
            last = largest.get(space, -1)
            yield float(last + 1 - number), f"{number} of {space} after {last}"
            largest[space] = max(last, number)


def _acknowledgement(log: Sequence[QlogEvent], _rtt_ms: float) -> Iterator[tuple[float, str]]:
    allowed_ms = USUAL_ACK_DELAY_MS
    waiting: dict[int, float] = {}
    for event in log:
        if event.name == "parameters_set" and event.data.get("owner") == "local":
            allowed_ms = float(event.data.get("max_ack_delay", allowed_ms))
        if event.packet is None or event.packet[0] != "data":
            continue
        kinds = [frame.get("frame_type") for frame in event.frames]
        if event.name == "packet_received" and any(kind not in _SILENT for kind in kinds):
            waiting.setdefault(event.packet[1], event.time_ms)
        elif event.name == "packet_sent":
            named = [one for frame in event.frames for one in acknowledged(frame)]
            for number in [number for number in waiting if any(number in one for one in named)]:
                took_ms = event.time_ms - waiting.pop(number)
                yield took_ms - allowed_ms - RESOLUTION_MS, f"after {took_ms:.1f} ms"


def _loss(log: Sequence[QlogEvent], _rtt_ms: float) -> Iterator[tuple[float, str]]:
    if not any(event.frames for event in log):
        return  # It does not say what was acknowledged
    sent_ms: dict[tuple[str, int], float] = {}
    largest: dict[str, int] = {}
    rtt_ms = FIRST_RTT_MS
    for event in log:
        if event.name == "metrics_updated":
            measured = [float(event.data.get(name) or 0) for name in ("smoothed_rtt", "latest_rtt")]
            rtt_ms = max(measured) or rtt_ms
        if event.packet is None:
            continue
        space, number = event.packet
        if event.name == "packet_sent":
            sent_ms[event.packet] = event.time_ms
        elif event.name == "packet_received":
            named = [one[-1] for frame in event.frames for one in acknowledged(frame)]
            largest[space] = max([largest.get(space, -1), *named])
        elif event.name == "packet_lost" and event.packet in sent_ms:
            later = largest.get(space, -1) - number
            took_ms = event.time_ms - sent_ms[event.packet]
            short_ms = TIME_THRESHOLD * rtt_ms - RESOLUTION_MS - took_ms
            is_late = later >= PACKET_THRESHOLD or (later > 0 and short_ms <= 0)
            words = f"after {took_ms:.0f} ms, with {max(later, 0)} later ones acknowledged"
            yield (0.0 if is_late else 1.0 + max(short_ms, 0.0)), words


def _recovery(log: Sequence[QlogEvent], _rtt_ms: float) -> Iterator[tuple[float, str]]:
    last_ms, before, rtt_ms = None, None, 0.0
    lost_ms = -1.0
    for event in log:
        if event.name == "packet_lost":
            lost_ms = event.time_ms
        if event.name != "metrics_updated":
            continue
        rtt_ms = float(event.data.get("min_rtt") or rtt_ms)
        window = event.data.get("congestion_window", before)
        if before is not None and window < before and event.time_ms - lost_ms <= RESOLUTION_MS:
            if last_ms is not None:
                apart_ms = event.time_ms - last_ms
                yield rtt_ms - RESOLUTION_MS - apart_ms, f"{apart_ms:.1f} ms after another"
            last_ms = event.time_ms
        before = window


RULES = (
    Rule(
        *("initial-window", "RFC 9002, 7.2", "the first window has at most 14,720 bytes"),
        _initial_window,
    ),
    Rule(
        *("least-window", "RFC 9002, 7.2", "no window is below two datagrams of 1200 bytes"),
        _least_window,
    ),
    Rule(
        *("in-flight", "RFC 9002, 7", "what is sent stays within the window, but for probes"),
        _in_flight,
    ),
    Rule(*("min-rtt", "RFC 9002, 5.2", "the least RTT is none below the path's"), _rtt),
    Rule(
        "loss",
        "RFC 9002, 6.1",
        "a packet is lost by later ones that were acknowledged: three, or 9/8 RTT after it",
        _loss,
    ),
    Rule(
        *("recovery", "RFC 9002, 7.3.2", "losses of one round trip reduce the window once"),
        _recovery,
    ),
    Rule(
        *("acknowledgement", "RFC 9000, 13.2.1", "it comes within the delay that was announced"),
        _acknowledgement,
    ),
    Rule(
        *("packet-number", "RFC 9000, 12.3", "each is larger than those before it"),
        _packet_numbers,
    ),
)


def findings(log: Sequence[QlogEvent], rtt_ms: float) -> tuple[Finding, ...]:
    """Return what each rule found in a log over a path of that RTT.

    Raises BadInputError for events whose fields are not those of qlog.
    """
    try:
        log = in_ms(log, rtt_ms)
        return tuple(_finding(rule, log, rtt_ms) for rule in RULES)
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise BadInputError(f"an event has other fields than qlog's: {error}") from error


def _finding(rule: Rule, log: Sequence[QlogEvent], rtt_ms: float) -> Finding:
    chances = list(rule.judge(log, rtt_ms))
    broken = [(excess, words) for excess, words in chances if excess > 0]
    return Finding(rule.name, len(chances), len(broken), *max(broken, default=(0.0, "")))


def together(found: Iterable[Sequence[Finding]]) -> tuple[Finding, ...]:
    """Return what each rule found in several logs; nothing without a log."""
    return tuple(map(_sum, zip(*found, strict=True)))


def _sum(of_rule: Sequence[Finding]) -> Finding:
    worst = max(of_rule, key=lambda one: one.excess)
    looked_at, broken = (sum(getattr(one, name) for one in of_rule) for name in _COUNTS)
    return Finding(worst.rule, looked_at, broken, worst.excess, worst.worst)
