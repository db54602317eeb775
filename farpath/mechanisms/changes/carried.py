"""Changes of links in a run: their times as the lab read them back, and the bytes that passed then.

A port's changes are checked one by one: time, and every setting of the qdisc. A bottleneck's
bytes are checked against its changing rate between every two samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.spec.deliveries import OPPORTUNITY_BYTES, opportunities_before
from farpath.spec.ethernet import ETHERNET_HEADER_BYTES
from farpath.spec.layout import Port
from farpath.spec.plan import Plan
from farpath.spec.protocol import CHANGES_FILE
from farpath.spec.qdiscs import Bottleneck, ChangingQdisc, DeliveryBottleneck, changes_of
from farpath.tools import rtnetlink, tc
from topologies import lay_out

#: How late a change may be on the virtual clock, in s. A program's timer may be 50 us late, and
#: tc reads the clock some times, 256 ns each.
LATE_S = 1e-4


def link_changes(raw_dir: FilePath, plan: Plan, ended_s: float | None = None) -> dict[str, Any]:
    """Return the changes of all ports, in order of time, as an entry of the read-back.

    Each has its ``port``, the planned time ``at_s``, ``done_s``, when it had been read back, and
    the ``rate_bps`` or ``delay_ms`` that was read back. Empty for a plan without changes.
    ``ended_s``: when programs ended before the schedule, in s; later changes were not made. Raises
    CheckFailedError if a change was late or is not the planned one.
    """
    changing = [port for port in lay_out(plan).ports if changes_of(port.queue)]
    done = [entry for port in changing for entry in _of_port(raw_dir, port, ended_s)]
    in_order = sorted(done, key=lambda entry: (entry["at_s"], entry["port"]))
    return {"link_changes": in_order} if in_order else {}


def _of_port(raw_dir: FilePath, port: Port, ended_s: float | None) -> Iterator[dict[str, Any]]:
    name = CHANGES_FILE.format(port=port.name)
    try:
        lines = (raw_dir / name).read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise LabFailedError(f"the lab left no {name} in {raw_dir}") from error
    planned = changes_of(port.queue)
    fewest = most = len(planned)
    if ended_s is not None:
        # A change at the moment of the end may have been made or not
        fewest, most = (
            sum(at_s <= end_s for at_s, _ in planned) for end_s in (ended_s - LATE_S, ended_s)
        )
    if not fewest <= len(lines) <= most:
        raise CheckFailedError(f"{port.name} changed {len(lines):,} times in the run, not {most:,}")
    for (at_s, qdisc), line in zip(planned, lines, strict=False):
        done_s, _, answer = line.partition(" ")
        yield _checked(port.name, at_s, float(done_s), qdisc, rtnetlink.parse_json(answer))


def _checked(
    port: str, at_s: float, done_s: float, qdisc: ChangingQdisc, answer: list[dict[str, Any]]
) -> dict[str, Any]:
    """Check one change of a port and return its entry."""
    root: Mapping[str, Any] = next((part for part in answer if part.get("root")), {})
    differences = qdisc.differences(dict(root))
    if not 0 <= done_s - at_s <= LATE_S:
        differences.append(f"it was made at {done_s:.9f} s")
    if differences:
        raise CheckFailedError(
            f"the change of {port} at {at_s:g} s is not as planned: {'; '.join(differences)}"
        )
    value = (
        {"rate_bps": qdisc.rate_of(root)}
        if isinstance(qdisc, Bottleneck)
        else {"delay_ms": 1e3 * root["options"].get("delay", {}).get("delay", 0.0)}
    )
    return {"port": port, "at_s": at_s, "done_s": done_s, **value}


def check_carried(raw_dir: FilePath, plan: Plan) -> None:
    """Raise CheckFailedError if a bottleneck carried more than its changing rate allows.

    The limit is the integral of the rate between two samples and what the bottleneck may send at
    one instant (``burst_bytes``), once more for each change. For a trace it is the opportunities
    between the samples and what earlier ones left.
    """
    if not (plan.path.rate_changes or plan.path.rate_trace):
        return
    samples = tc.parse_samples((raw_dir / "queue.txt").read_text())
    (first, *_), rates = lay_out(plan).bottlenecks, plan.rates
    queue = next(port.queue for port in lay_out(plan).ports if port.name == first)
    if isinstance(queue, DeliveryBottleneck):
        _check_delivered(first, samples, plan)
        return
    assert isinstance(queue, Bottleneck)
    burst_bytes = max(one.burst_bytes for one in (queue, *(one for _, one in queue.changes)))
    late_bytes = max(plan.path.rates_bps) / 8 * LATE_S
    for before, after in pairwise(samples):
        changes = sum(before.t_s <= at_s < after.t_s for at_s, _ in rates.changes)
        allowed = rates.integral(before.t_s, after.t_s) / 8
        most = allowed + (1 + changes) * burst_bytes + 2 * late_bytes
        if after.bytes - before.bytes > most:
            raise CheckFailedError(
                f"{first} carried {after.bytes - before.bytes:,} bytes from {before.t_s:g} to "
                f"{after.t_s:g} s; its rate allows {allowed:,.0f} (within {most - allowed:,.0f})"
            )


def _check_delivered(port: str, samples: Sequence[tc.QueueSample], plan: Plan) -> None:
    # Earlier opportunities may have left a rest, or delivered a part of a large packet
    earlier_bytes = max(OPPORTUNITY_BYTES, plan.path.mtu_bytes)
    for before, after in pairwise(samples):
        opportunities = opportunities_before(
            plan.path.rate_trace, after.t_s + LATE_S
        ) - opportunities_before(plan.path.rate_trace, before.t_s)
        sent_bytes = after.bytes - before.bytes
        sent_bytes -= ETHERNET_HEADER_BYTES * (after.packets - before.packets)
        if sent_bytes > OPPORTUNITY_BYTES * opportunities + earlier_bytes:
            raise CheckFailedError(
                f"{port} delivered {sent_bytes:,} bytes from {before.t_s:g} to {after.t_s:g} s; "
                f"its trace has {opportunities:,} opportunities of {OPPORTUNITY_BYTES} bytes"
            )
