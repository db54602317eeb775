"""QUIC: parameters of its stacks that a path decides, and the rules of runs with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from farpath.base.errors import BadInputError
from farpath.spec.era import MODERN
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.settings import HOST, VIRTUAL
from farpath.spec.stack import QUIC, Stack

#: Smallest MTU: datagrams of 1200 bytes must pass (RFC 9000, section 14), below the headers of
#: IPv6 and UDP, and IPv6 has none below this (RFC 8200, section 5).
LEAST_MTU_BYTES = 1280
#: Windows of flow control hold what the path and its buffer hold, this many times: the window of
#: slow start doubles beyond both before a loss is known (RFC 9002, section 7.3.1).
PATHS_IN_WINDOW = 4
#: The largest window that the stacks take.
MOST_WINDOW_BYTES = 1 << 30


def fitted_quic(stack: Stack, path: Path, defaults: Mapping[str, str]) -> Stack:
    """Set the parameters of a QUIC stack that were left out, so that packets fill the path's MTU.

    ``defaults``: of all its parameters. The window is the default's, or what the path needs if that
    is more. Raises BadInputError for packets that the path cannot carry, and for BBR that may not
    pace.
    """
    if path.mtu_bytes < LEAST_MTU_BYTES:
        raise BadInputError(
            f"STACK: {stack.label} needs an MTU of at least {LEAST_MTU_BYTES} bytes (RFC 9000, "
            f"section 14), and path {path.name} has {path.mtu_bytes}: raise MTU"
        )
    if int(stack.parameters.get("mtu", 0)) > path.mtu_bytes:
        raise BadInputError(
            f"STACK: mtu of {stack.name} is {stack.parameters['mtu']}, but path {path.name} allows "
            f"{path.mtu_bytes} (mtu_bytes): lower mtu, or raise MTU"
        )
    held_bytes = round(max(path.rates_bps) * max(path.rtts_ms) / 8e3) + path.buffer_bytes
    window_bytes = max(int(defaults["window"]), PATHS_IN_WINDOW * held_bytes)
    fitting = {
        "mtu": str(path.mtu_bytes),
        "window": str(min(window_bytes, MOST_WINDOW_BYTES)),
    }
    complete = {**defaults, **fitting, **stack.parameters}
    if complete["cc"] == "bbr" and complete.get("pacing") == "0":
        raise BadInputError(
            f"STACK: {stack.label} has cc=bbr and pacing=0, and BBR sends at a rate: leave one of "
            "them out"
        )
    return dataclasses.replace(stack, parameters=complete)


def check_quic(plan: Plan) -> None:
    """Raise BadInputError for a lab or hosts in which QUIC does not run."""
    quic = next((stack for stack in plan.stacks if stack.program == QUIC), None)
    if quic is None:
        return
    if plan.settings.lab == HOST:
        raise BadInputError(
            f"STACK has {quic.label} and LAB is '{HOST}': its programs are built for the virtual "
            f"lab; use LAB={VIRTUAL}"
        )
    if plan.era.name != MODERN.name:
        raise BadInputError(
            f"STACK has {quic.label} and ERA is '{plan.era.name}': QUIC is of 2021 (RFC 9000), and "
            "its programs run on today's hosts; leave ERA out"
        )


def qlog_bytes(plan: Plan) -> int:
    """Return the most bytes that the qlogs of all flows take."""
    stacks = (plan.stack_of(flow) for flow in plan.schedule.all_flows if plan.stacks)
    return sum(int(stack.parameters["qlog"]) << 20 for stack in stacks if stack.program == QUIC)
