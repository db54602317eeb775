"""Memory: an upper bound of the need of a plan's guest, computed before it boots.

The guest gets this much memory, and ``farpath.lab.machine.check_memory`` refuses a run on a
machine with less. The host allocates a page when the guest first uses it. Only the kernel's
page structures, 64 bytes for each page of 4096, are used from the start.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError
from farpath.mechanisms.registry import mechanisms
from farpath.programs.registry import program_of
from farpath.spec.window import largest_window_of
from topologies import lay_out

if TYPE_CHECKING:
    from farpath.spec.plan import Plan
    from farpath.spec.user_network import UserNetwork

#: Least memory of a guest, without the packets of its flows.
GUEST_BASE_BYTES = 512 << 20
#: Kernel, Open vSwitch and Mininet; measured: 82 MiB.
GUEST_OWN_BYTES = 128 << 20
#: Programs and the two containers of a flow; measured: 3.2 MiB.
FLOW_BYTES = 5 << 20
#: Bytes that these programs keep of a sample until they end; measured: 6 to 7.4 kB.
SAMPLE_BYTES = 12 << 10
#: Bytes that tc prints of a bottleneck in a sample; measured: 0.6 kB.
QUEUE_SAMPLE_BYTES = 1 << 10
#: Most samples of all flows together; they need 12 GB in the guest.
MOST_SAMPLES = 1_000_000
#: Most memory for a byte of window: it is sent, queued on the path and received, each time with
#: headers.
GUEST_BYTES_PER_WINDOW_BYTE = 4
#: Most data in flight of all flows, in windows, if the path holds no more.
MOST_WINDOWS = 8
#: Most data of TCP in flight, in bandwidth-delay products plus buffers. A path holds one, and
#: the end of slow start two; a recovery that waits for packets lost twice doubles that.
MOST_PATHS = 4


def memory_bytes(plan: Plan) -> int:
    """Return the most memory in bytes that the guest, its programs and all packets can need.

    Raises BadInputError for more samples than a guest can keep.
    """
    programs_bytes = (
        GUEST_OWN_BYTES
        + FLOW_BYTES * len(plan.schedule.all_flows)
        + SAMPLE_BYTES * sample_count(plan)
        + _queue_samples_bytes(plan)
        + _kept_bytes(plan)
        + sum(mechanism.memory_bytes(plan) for mechanism in mechanisms())
    )
    packets_bytes = GUEST_BYTES_PER_WINDOW_BYTE * in_flight_bytes(plan)
    return max(GUEST_BASE_BYTES, programs_bytes) + packets_bytes


def _kept_bytes(plan: Plan) -> int:
    """Return the most bytes that files of all flows' programs take, such as the qlog of QUIC."""
    stacks = (plan.stack_of(flow) for flow in plan.schedule.all_flows if plan.stacks)
    return sum(program_of(stack).kept_bytes(stack) for stack in stacks)


def _queue_samples_bytes(plan: Plan) -> int:
    """Return the memory of samples of queues that are closer than those of flows."""
    if plan.settings.sample_interval_s >= plan.settings.flow_interval_s:
        return 0
    samples = math.ceil(plan.schedule.duration_s / plan.settings.sample_interval_s)
    return QUEUE_SAMPLE_BYTES * samples * len(lay_out(plan).bottlenecks)


def sample_count(plan: Plan) -> int:
    """Return the number of samples of all flows; raises BadInputError for too many."""
    total_s = sum(flow.stop_s - flow.start_s for flow in plan.schedule.all_flows)
    count = round(total_s / plan.settings.flow_interval_s)
    if count > MOST_SAMPLES:
        flows = len(plan.schedule.all_flows)
        raise BadInputError(
            option="region",
            given=f"{plan.schedule.region_s:g} s",
            problem=(
                f"it gives {count:,} samples of {flows} flows, and at most "
                f"{MOST_SAMPLES:,} are possible"
            ),
            remedy="use a shorter `region` or fewer flows",
        )
    return count


def run_bytes(plan: Plan) -> int:
    """Return the most memory of a run: each of its sites has a guest."""
    return plan.settings.memory_bytes * lay_out(plan).sites


def in_flight_bytes(plan: Plan) -> int:
    """Return the most bytes that all flows can have in flight at once.

    A flow has at most its window in flight. Together, flows have less: a path holds its
    bandwidth-delay product and its buffer, and a lost packet makes TCP reduce its window. That
    is known of farpath's and the kernel's congestion controls. A user's own, and a program with
    its own buffers, is bounded by its window only.
    """
    tcp_bytes = window_bound_bytes = 0
    for flow in plan.schedule.all_flows:
        stack = plan.stack_of(flow)
        program = program_of(stack)
        window_bytes = program.window_bytes(stack) or largest_window_of(plan, flow)
        if program.slows_down(stack):
            tcp_bytes += window_bytes
        else:
            window_bound_bytes += window_bytes
    tcp_bytes += _short_flows_bytes(plan)
    return window_bound_bytes + min(tcp_bytes, _path_bound_bytes(plan))


def _short_flows_bytes(plan: Plan) -> int:
    """Return the most bytes that short flows have in flight.

    That is what they offer in the longest RTT, several times, and windows of the largest.
    """
    short = plan.path.short_flows
    if short is None:
        return 0
    offered_bytes = MOST_PATHS * round(short.rate_bps * plan.drain_s / 8)
    return offered_bytes + MOST_WINDOWS * min(short.most_bytes, plan.path.window_bytes)


def _ways_bytes(plan: Plan, network: UserNetwork) -> int:
    """Return the bytes that the ways of all pairs of hosts hold, as if they shared no link."""
    total_bytes = 0.0
    for pair in plan.pairs:
        shapings = [step.shaping for step in network.way(*pair) if step.shaping.rate_bps]
        highest_bps = max(shaping.rate_bps for shaping in shapings)
        waiting = sum(shaping.buffer_packets for shaping in shapings)
        total_bytes += highest_bps * network.rtt_ms(*pair) / 8e3
        total_bytes += waiting * plan.path.frame_bytes
    return round(total_bytes)


def _path_bound_bytes(plan: Plan) -> int:
    """Return the most bytes that TCP has in flight on a path, however many flows there are."""
    path = plan.path
    if plan.user_network:
        return max(
            MOST_WINDOWS * path.window_bytes, MOST_PATHS * _ways_bytes(plan, plan.user_network)
        )
    highest_bps = max(path.rates_bps)
    capacity_bytes = round(highest_bps * plan.longest_rtt_ms / 8e3) + path.buffer_bytes
    queues = plan.pinged_bottlenecks
    return max(MOST_WINDOWS * path.window_bytes, MOST_PATHS * queues * capacity_bytes)
