"""Memory: what the guest of a plan may need at most, known before it boots. Pure.

The guest is given so much, and a machine with less of it free refuses the run
(:func:`farpath.lab.machine.check_memory`). Nothing of it is taken before it is used, but for
the kernel's table of pages, 64 bytes of each 4096.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError
from farpath.spec.stack import IPERF3
from farpath.spec.window import window_of

if TYPE_CHECKING:
    from farpath.spec.plan import Plan

#: What a guest has beside the flows' packets, however few its flows are.
GUEST_BASE_BYTES = 512 << 20
#: Its kernel, Open vSwitch and Mininet; the programs of a flow, two containers; what these
#: keep of a sample until they end. In the lab: 82 MiB, 3.2 MiB, and 6 to 7.4 kB.
GUEST_OWN_BYTES = 128 << 20
FLOW_BYTES = 5 << 20
SAMPLE_BYTES = 12 << 10
#: Of all flows together: a guest of more would need over 12 GB for these alone.
MOST_SAMPLES = 1_000_000
#: What a byte of window costs at most: sent, queued on the path and received, each with its
#: headers.
GUEST_BYTES_PER_WINDOW_BYTE = 4
#: Flows that together hold more than so many windows would have to hold more than their path.
MOST_WINDOWS = 8
#: What TCP has on its way at most, in bandwidth-delay products and buffers: one, two when
#: slow start ends, and as much again while a recovery waits for what was lost twice.
MOST_PATHS = 4


def memory_bytes(plan: Plan) -> int:
    """What a guest may need at most: for itself, its programs, and the packets of all flows.

    Raises BadInputError for more samples than a guest can keep.
    """
    own = GUEST_OWN_BYTES + FLOW_BYTES * len(plan.schedule.all_flows) + SAMPLE_BYTES * samples(plan)
    return max(GUEST_BASE_BYTES, own) + GUEST_BYTES_PER_WINDOW_BYTE * in_flight_bytes(plan)


def samples(plan: Plan) -> int:
    """How many samples all flows have together; BadInputError for too many."""
    total_s = sum(flow.stop_s - flow.start_s for flow in plan.schedule.all_flows)
    count = round(total_s / plan.settings.sample_interval_s)
    if count > MOST_SAMPLES:
        flows = len(plan.schedule.all_flows)
        raise BadInputError(
            f"REGION is {plan.schedule.region_s:g} s, {count:,} samples of {flows} flows: at most "
            f"{MOST_SAMPLES:,} are possible; take a shorter REGION or fewer flows"
        )
    return count


def in_flight_bytes(plan: Plan) -> int:
    """What may be on its way at once, of all flows.

    Every flow's window; of many flows less, since a path holds no more than its
    bandwidth-delay product and its buffer, and what does not arrive halves a window. That
    holds for the congestion controls that farpath has; what a user's own, or a program with
    buffers of its own, holds back is only bounded by windows.
    """
    shared = own = 0
    for flow in plan.schedule.all_flows:
        stack = plan.stack_of(flow)
        if stack.program == IPERF3 and not stack.build:
            shared += window_of(plan, flow)
        else:
            own += window_of(plan, flow)
    return own + min(shared, _shared_most_bytes(plan))


def _shared_most_bytes(plan: Plan) -> int:
    path = plan.path
    rtt_ms = max([path.rtt_ms, *(sender.rtt_ms for sender in plan.senders)])
    held_bytes = round(path.rate_bps * rtt_ms / 8e3) + path.buffer_bytes
    queues = plan.bottlenecks + bool(plan.schedule.reverse)
    return max(MOST_WINDOWS * path.window_bytes, MOST_PATHS * queues * held_bytes)
