"""Changes: rates and delays of links that change in a run, traces of rates, and UP_RATE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.options import PATH, Option, range_text
from farpath.base.sizes import size_text
from farpath.mechanisms.changes.carried import check_carried, link_changes
from farpath.mechanisms.changes.timeline_text import rate_text, rtt_text
from farpath.mechanisms.mechanism import Findings, Mechanism, Output, PathSoFar, Texts
from farpath.mechanisms.quantities import RATE_BPS, default_buffer_bytes, parse_size
from farpath.platforms import platform_of, real_time_option
from farpath.spec.path import BUFFER_BYTES_RANGE, RATE_BPS_RANGE, Path
from farpath.spec.plan import DUMBBELL, Plan
from farpath.spec.settings import HOST, VIRTUAL, VIRTUAL_CLOCK
from topologies import find_topology

_VIRTUAL_TIME = f"use `lab={VIRTUAL}` with `clock={VIRTUAL_CLOCK}`"


def _apply(path: PathSoFar, given: Texts) -> Mapping[str, Any]:
    """Return the way back that is given; a path with one of its own keeps that one's buffer."""
    usual_bps = path.base.up_rate_bps if path.base else 0
    fields = {}
    if "up_rate" in given:
        fields["up_rate_bps"] = RATE_BPS.parse(given["up_rate"], "up_rate")
    rate_bps = fields.get("up_rate_bps", usual_bps)
    if "up_buffer" in given:
        text = given["up_buffer"]
        if not rate_bps:
            raise BadInputError(
                option="up_buffer",
                given=text,
                problem="without `up_rate` the way back has no end of rate, and needs no buffer",
                remedy="give `up_rate` too, or leave `up_buffer` out",
            )
        fields["up_buffer_bytes"] = parse_size(
            text, "up_buffer", BUFFER_BYTES_RANGE, (rate_bps, path.rtt_ms)
        )
    elif rate_bps and not usual_bps:
        fields["up_buffer_bytes"] = default_buffer_bytes(rate_bps, path.rtt_ms, path.mtu_bytes)
    return fields


def _texts(plan: Plan) -> Texts:
    path = plan.path
    if not path.up_rate_bps:
        return {}
    return {
        "up_rate": f"{path.up_rate_bps / 1e6:.12g}Mbit",
        "up_buffer": f"{path.up_buffer_bytes / 1e6:.12g}MB",
    }


def check_links(plan: Plan) -> None:
    """Raise BadInputError for changes that a run does not reach, or that its lab does not have."""
    path, duration_s = plan.path, plan.schedule.duration_s
    for name, changes in (("rate", path.rate_changes), ("rtt", path.rtt_changes)):
        if changes and not changes.period_s and changes.at_s[-1] >= duration_s:
            raise BadInputError(
                option=name,
                problem=(
                    f"it has a change at {changes.at_s[-1]:g} s, but the "
                    f"{'client' if plan.programs else 'run'} ends after {duration_s:g} s"
                ),
                remedy="give an earlier time, or a longer "
                + ("`timeout`" if plan.programs else "`time` or `region`"),
            )
        if changes and plan.settings.clock != VIRTUAL_CLOCK:
            raise BadInputError(
                option=name,
                problem=(
                    f"it has changes with {real_time_option(plan.settings)}, and they are "
                    "exact in virtual time only"
                ),
                remedy=_VIRTUAL_TIME,
            )
    if path.rate_trace and plan.settings.clock != VIRTUAL_CLOCK:
        raise BadInputError(
            option="rate",
            problem=(
                f"it is a trace with {real_time_option(plan.settings)}, and its times "
                "are exact in virtual time only"
            ),
            remedy=_VIRTUAL_TIME,
        )
    if path.rtt_changes and plan.bottlenecks > 1:
        raise BadInputError(
            option="rtt",
            problem=(f"it has changes with `topology={plan.topology}`, where several paths are"),
            remedy=f"use `topology={DUMBBELL}`",
        )
    if path.up_rate_bps and not find_topology(plan.topology).takes_senders:
        raise BadInputError(
            option="up_rate",
            problem=f"`topology={plan.topology}` has no bottleneck towards its senders",
            remedy=f"use `topology={DUMBBELL}`",
        )
    if path.up_rate_bps and platform_of(plan).measures_cpu:
        raise BadInputError(
            option="up_rate",
            problem=f"the checks of `lab={HOST}` know one rate only",
            remedy=f"use `lab={VIRTUAL}`",
        )


def _words(plan: Plan) -> Iterator[str]:
    path = plan.path
    if path.rate_changes:
        yield f"rate {rate_text(path)}"
    if path.rate_trace:
        yield f"rate of a trace of {path.rate_trace[-1] / 1e3:g} s"
    if path.rtt_changes:
        yield f"RTT {rtt_text(path)}"
    if path.up_rate_bps:
        yield f"up {path.up_rate_bps / 1e6:g} Mbit/s, buffer {size_text(path.up_buffer_bytes)}"


def _line_words(path: Path) -> Iterator[str]:
    if path.up_rate_bps:
        yield f"reverse path {path.up_rate_bps / 1e6:g} Mbit/s"


def _examine(output: Output) -> Findings:
    check_carried(output.raw_dir, output.plan)
    return Findings(link_changes(output.raw_dir, output.plan, output.ended_s))


_SEE = "how-to/changing-links.md#the-way-back"
MECHANISM = Mechanism(
    order=10,
    of_programs=True,
    lasts=lambda plan: plan.path.is_changing,
    options={
        "up_rate": Option(
            "Rate towards the senders, where acknowledgements go.",
            "1Mbit",
            "the path's, else none: that direction holds nothing back",
            "bit/s",
            range_text(RATE_BPS_RANGE, "bit/s"),
            see=_SEE,
            group=PATH,
            after="buffer",
            placeholder="RATE",
        ),
        "up_buffer": Option(
            "Buffer of `up_rate`: bytes, or what it sends in a time (50ms, 2xBDP).",
            "64kB",
            "the path's, else a bandwidth-delay product of UP_RATE, at least 100 frames",
            "bytes",
            range_text(BUFFER_BYTES_RANGE, "bytes"),
            see=_SEE,
            group=PATH,
            after="up_rate",
            placeholder="SIZE",
        ),
    },
    apply_path=_apply,
    texts=_texts,
    check=check_links,
    words=_words,
    line_words=_line_words,
    examine=_examine,
)
