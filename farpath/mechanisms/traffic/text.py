"""Other traffic of a path: the meaning of BACKGROUND for a path of some rate."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.base.units import NUMBERS, Quantity
from farpath.base.words import parse_words
from farpath.mechanisms import quantities
from farpath.programs.catalog import catalogue, entry_by_name
from farpath.programs.iperf3.program import MAINLINE
from farpath.spec.background import PART_RANGE, RATE_BPS_RANGE, Background
from farpath.spec.path import Path
from farpath.spec.short_flows import (
    ALPHA_RANGE,
    DEFAULT_MOST_BYTES,
    SIZE_BYTES_RANGE,
    SURGE_ALPHA,
    SURGE_LEAST_BYTES,
    USUAL_CONGESTION,
    ShortFlows,
    least_of_mean,
)

#: Background of a path that has none of its own: number of sources, and their mean on and off
#: periods in s.
DEFAULT_SOURCES = 4
DEFAULT_PERIOD_S = 20.0
#: Prefixes of traffic at a constant bit rate, and of short TCP flows.
CONSTANT = "cbr:"
SHORT_FLOWS = "tcp:"
#: Parameters of short flows.
_PARAMETERS = ("rate", "size", "alpha", "least", "most", "cc")
_EXAMPLE = "tcp:10% or tcp:10%,size=100kB,alpha=1.2"
_ALPHA = Quantity("an exponent", "1.2", NUMBERS, "", ALPHA_RANGE, float)


@dataclass(frozen=True)
class ShortFlowsRequest:
    """Short flows as an option gives them: with ``part``, a fraction of a rate, as their rate."""

    part: float | None
    flows: ShortFlows

    def of_rate(self, rate_bps: int) -> ShortFlows:
        """Return the short flows on a path of a rate; raises BadInputError for too many."""
        offered_bps = self.flows.rate_bps if self.part is None else round(self.part * rate_bps)
        if offered_bps > PART_RANGE[1] * rate_bps:
            raise BadInputError(
                option="background",
                given=f"{SHORT_FLOWS}{offered_bps}",
                problem=f"that is {offered_bps / rate_bps:.0%} of the rate of {rate_bps} bit/s",
                remedy=f"it must be at most {PART_RANGE[1]:.0%}",
            )
        if offered_bps < RATE_BPS_RANGE[0]:
            raise BadInputError(
                option="background",
                given=f"{SHORT_FLOWS}{offered_bps}",
                problem=f"short flows offer at least {RATE_BPS_RANGE[0]} bit/s",
                remedy="give a larger fraction, or none",
            )
        return dataclasses.replace(self.flows, rate_bps=offered_bps)


@dataclass(frozen=True)
class OtherTraffic:
    """Other traffic as BACKGROUND gives it.

    ``background``: a constant bit rate, or the fraction of the rate that on/off sources take, 0
    for none. ``short_flows``: None for none.
    """

    background: float | Background = 0.0
    short_flows: ShortFlowsRequest | None = None


def parse_other_traffic(text: str) -> OtherTraffic:
    """Parse BACKGROUND: none, or on/off sources and short flows, joined by a plus.

    Raises BadInputError for any other text.

    >>> parse_other_traffic("25%").background
    0.25
    >>> parse_other_traffic("tcp:10%").short_flows.part
    0.1
    """
    background: float | Background | None = None
    short: ShortFlowsRequest | None = None
    for part in map(str.strip, text.split("+") if SHORT_FLOWS in text else [text]):
        if part.startswith(SHORT_FLOWS):
            if short:
                raise BadInputError(
                    option="background", given=text, remedy=f"give {SHORT_FLOWS} once"
                )
            short = _parse_short_flows(part)
        elif background is not None:
            raise BadInputError(
                option="background",
                given=text,
                remedy="give one traffic that is unresponsive, as in 25%+tcp:10%",
            )
        else:
            background = _parse_background(part)
    return OtherTraffic(background or 0.0, short)


def _parse_background(text: str) -> float | Background:
    if text.startswith(CONSTANT):
        rate_bps = quantities.RATE_BPS.parse(text.removeprefix(CONSTANT), "background: cbr")
        return Background.constant(rate_bps)
    if text.strip().lower() == "none":
        return 0.0
    return quantities.FRACTION.parse(text, "background", PART_RANGE)


def _parse_short_flows(text: str) -> ShortFlowsRequest:
    """Parse short flows: a fraction of the rate or a rate, and parameters, each once."""
    words = text.removeprefix(SHORT_FLOWS)
    if "=" not in words.partition(",")[0]:
        words = f"rate={words}"
    values, _ = parse_words(words, "background", text, _EXAMPLE, _PARAMETERS)
    if "rate" not in values:
        raise BadInputError(
            option="background",
            given=text,
            problem="how much is missing",
            remedy=f"write it as in {_EXAMPLE}",
        )
    part_of_rate, rate_bps = _parse_amount(values["rate"])
    return ShortFlowsRequest(
        part_of_rate,
        ShortFlows(
            rate_bps,
            *_parse_sizes(text, values),
            _congestion(values.get("cc", USUAL_CONGESTION)),
        ),
    )


def _parse_amount(text: str) -> tuple[float | None, int]:
    """Return the fraction of a rate that a text gives, or None and the rate; 1 has no unit."""
    name = "background: tcp"
    if text.endswith("%") or not text[-1].isalpha():
        return quantities.FRACTION.parse(text, name, PART_RANGE), RATE_BPS_RANGE[0]
    return None, quantities.RATE_BPS.parse(text, name)


def _parse_sizes(text: str, values: dict[str, str]) -> tuple[int, int, float]:
    """Return the bounds in bytes and the exponent of sizes; a mean size decides the least."""
    if "size" in values and "least" in values:
        raise BadInputError(
            option="background", given=text, remedy="give size (the mean) or least, not both"
        )
    sizes = {
        name: quantities.SIZE_BYTES.parse(values[name], f"background: {name}", SIZE_BYTES_RANGE)
        for name in ("size", "least", "most")
        if name in values
    }
    alpha = SURGE_ALPHA
    if "alpha" in values:
        alpha = _ALPHA.parse(values["alpha"], "background: alpha")
    most = sizes.get("most", DEFAULT_MOST_BYTES)
    least = sizes.get("least", SURGE_LEAST_BYTES)
    if "size" in sizes:
        try:
            least = least_of_mean(sizes["size"], most, alpha)
        except BadInputError as error:
            raise BadInputError(
                option="background", given=text, problem=error.problem, remedy=error.remedy
            ) from error
    if least > most:
        raise BadInputError(
            option="background",
            given=text,
            problem=f"the least size, {least} bytes, is above the largest, {most} bytes",
            remedy="give a larger most",
        )
    return least, most, alpha


def _congestion(name: str) -> str:
    """Return the kernel's name of a congestion control; raises BadInputError for any but its own.

    Modules of farpath's own are loaded with the parameters of a run's stacks.
    """
    names = [entry.name for entry in catalogue().values() if entry.kind == MAINLINE]
    if name not in names or entry_by_name(name).variant_of:
        raise BadInputError(
            option="background",
            problem=f"cc is '{name}'",
            remedy=f"it must be one of the kernel's own, {', '.join(sorted(names))}",
        )
    return name


def resolve_background(
    path: Path | None, rate_bps: int, request: float | Background | None
) -> Background | None:
    """Return the on/off sources of a path whose rate is ``rate_bps``.

    ``request``: a constant bit rate, or the fraction of the rate that they take; None keeps the
    path's fraction. Raises BadInputError for a fraction too small, and for a rate too large.
    """
    background = _scaled_background(path, rate_bps, request)
    if request and background is None:
        raise BadInputError(
            option="background",
            given=f"{request:g}",
            problem=(
                f"of the rate of {rate_bps} bit/s that is less than the least that a "
                f"source sends, {RATE_BPS_RANGE[0]} bit/s"
            ),
            remedy="give a larger fraction, or none",
        )
    return background


def _scaled_background(
    path: Path | None, rate_bps: int, request: float | Background | None
) -> Background | None:
    """As ``resolve_background``, but None if no source can send as little as the fraction."""
    if isinstance(request, Background):
        if request.rate_bps > PART_RANGE[1] * rate_bps:
            raise BadInputError(
                option="background",
                given=f"{CONSTANT}{request.rate_bps}",
                problem=(
                    f"that is {request.rate_bps / rate_bps:.0%} of the rate of {rate_bps} bit/s"
                ),
                remedy=f"it must be at most {PART_RANGE[1]:.0%}",
            )
        return request
    usual = path.background if path else None
    if request is None:
        if path is None or usual is None or rate_bps == path.rate_bps:
            return usual
        request = usual.mean_rate_bps / path.rate_bps
    pattern = usual or Background(
        DEFAULT_SOURCES, RATE_BPS_RANGE[0], DEFAULT_PERIOD_S, DEFAULT_PERIOD_S
    )
    return Background.taking(request, rate_bps, pattern.sources, pattern.on_s, pattern.off_s)


def resolve_short_flows(
    path: Path | None, rate_bps: int, request: OtherTraffic | None
) -> ShortFlows | None:
    """Return the short flows of a path whose rate is ``rate_bps``.

    Without a request they keep their fraction of the rate.
    """
    if request is not None:
        return request.short_flows.of_rate(rate_bps) if request.short_flows else None
    if path is None or path.short_flows is None or rate_bps == path.rate_bps:
        return path.short_flows if path else None
    part = path.short_flows.rate_bps / path.rate_bps
    return ShortFlowsRequest(part, path.short_flows).of_rate(rate_bps)


def other_traffic_text(path: Path) -> str:
    """Return the text of BACKGROUND that gives a path's other traffic.

    >>> from farpath.planning.path_files import path_by_name
    >>> other_traffic_text(path_by_name("ufl"))
    '0.1'
    """
    traffic, short = path.background, path.short_flows
    texts = []
    if traffic and traffic == Background.constant(traffic.rate_bps):
        texts.append(f"{CONSTANT}{traffic.rate_bps}bit")
    elif traffic:
        texts.append(repr(traffic.mean_rate_bps / path.rate_bps))
    if short:
        sizes = f"least={short.least_bytes},most={short.most_bytes},alpha={short.alpha!r}"
        texts.append(f"{SHORT_FLOWS}rate={short.rate_bps}bit,{sizes},cc={short.congestion}")
    return "+".join(texts) or "none"
