"""nftables: rules that drop packets as a plan's droppers say, and their counters.

The rules are at the ingress hook (netdev family) of the switch port behind the delay line. A
packet that they drop never reaches the switch, so it is one that the path lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from farpath.spec.dropper import BACK, BY_TIME, MOST_PACKETS, THERE, Dropper
from farpath.spec.dropping import concerned_flows, counted_above_bytes, drawn_packets
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow

TABLE = "netdev farpath"
#: Counter of packets: numgen starts with 0, and wraps after MOST_PACKETS + 1 packets.
_COUNT = f"numgen inc mod {MOST_PACKETS + 1}"


def _chain(number: int) -> str:
    return f"dropper_{number}"


def _lost(number: int, flow: Flow) -> str:
    """Return the name of the counter of a flow's packets that a dropper drops."""
    return f"lost_{number}_{flow.port}"


def _loss_rules(number: int, dropper: Dropper, plan: Plan) -> list[str]:
    """Return rules that drop a packet, and count it as one of its flow."""
    end = "sport" if dropper.direction == BACK else "dport"
    return [
        f"th {end} {flow.port} counter name {_lost(number, flow)} drop"
        for flow in concerned_flows(dropper, plan)
    ]


def _counted_matches(dropper: Dropper, plan: Plan) -> list[str]:
    """Return the matches of the packets that a dropper counts, one for each MTU."""
    flows = concerned_flows(dropper, plan)
    if dropper.direction == BACK:
        return [f"th sport {{ {_ports(flows)} }}"]
    by_mtu: dict[int, list[Flow]] = {}
    for flow in flows:
        by_mtu.setdefault(plan.flow_mtu_bytes(flow), []).append(flow)
    return [
        f"th dport {{ {_ports(mtu_flows)} }} meta length > {counted_above_bytes(mtu_bytes)}"
        for mtu_bytes, mtu_flows in by_mtu.items()
    ]


def _ports(flows: Iterable[Flow]) -> str:
    return ", ".join(str(flow.port) for flow in flows)


def hook(devices: Sequence[str]) -> str:
    """Return the line of a chain that has the packets which come in at devices."""
    quoted = ", ".join(f'"{device}"' for device in devices)
    device_list = f"device {quoted}" if len(devices) == 1 else f"devices = {{ {quoted} }}"
    return f"type filter hook ingress {device_list} priority 0;"


def _dropped_match(dropper: Dropper, plan: Plan) -> str:
    """Return the match of the packets that a dropper drops; empty if time decides which."""
    if dropper.kind in BY_TIME:
        return ""
    if dropper.kind == "every":
        count = int(dropper.numbers[0])
        return f"numgen inc mod {count} == {count - 1} " if count > 1 else " "
    if dropper.kind == "random" and dropper.numbers[0] == 1.0:
        return " "
    drawn = dropper.positions(plan.seed, drawn_packets(dropper, plan))
    return match_of_numbers(drawn, dropper.cycle_packets)


def match_of_numbers(positions: Sequence[int], cycle_packets: int) -> str:
    """Return the match of the packets with these numbers, from 1, in each cycle of so many.

    >>> match_of_numbers([1, 3], 10), match_of_numbers([], 10)
    ('numgen inc mod 10 { 0, 2 } ', '')
    """
    numbers = ", ".join(str(position - 1) for position in positions)
    return f"numgen inc mod {cycle_packets} {{ {numbers} }} " if numbers else ""


def script(plan: Plan, devices: Mapping[str, Sequence[str]]) -> str:
    """Return the input of ``nft -f -``; ``devices``: the ports of the hooks, by direction.

    A direction without ports is another site's, where the same rules have them.
    """
    lines = [f"table {TABLE} {{"]
    for number, dropper in enumerate(plan.droppers):
        lines.append(f"counter seen_{number} {{}}")
        lines += [f"counter {_lost(number, flow)} {{}}" for flow in concerned_flows(dropper, plan)]
    for number, dropper in enumerate(plan.droppers):
        lines += [f"chain lost_{number} {{", *_loss_rules(number, dropper, plan), "}"]
        lines += [f"chain {_chain(number)} {{", f"counter name seen_{number}"]
        if match := _dropped_match(dropper, plan):
            lines.append(f"{match}goto lost_{number}")
        lines.append("}")
    for direction in (THERE, BACK):
        jumps = [
            f"meta l4proto {{ tcp, udp }} {match} jump {_chain(number)}"
            for number, dropper in enumerate(plan.droppers)
            if dropper.direction == direction
            for match in _counted_matches(dropper, plan)
        ]
        if jumps and devices[direction]:
            lines += [f"chain {direction} {{", hook(devices[direction]), *jumps, "}"]
    return "\n".join([*lines, "}"]) + "\n"


def drop_next(number: int) -> str:
    """Return the command that adds a rule, for a dropper by time: drop the next packet."""
    return f"add rule {TABLE} {_chain(number)} {_COUNT} == 0 goto lost_{number}"


def drop_all(number: int) -> str:
    """Return the command that begins an outage: drop all packets of a dropper from now on."""
    return f"add rule {TABLE} {_chain(number)} goto lost_{number}"


def drop_none(number: int) -> str:
    """Return the commands that end an outage, at once: count the packets, and drop none."""
    chain = f"{TABLE} {_chain(number)}"
    return f"flush chain {chain}\nadd rule {chain} counter name seen_{number}"


def packets_of(output: Any) -> dict[str, int]:
    """Return the packets of each counter by name; ``output``: as of ``parse_counters``."""
    return {
        entry["counter"]["name"]: int(entry["counter"]["packets"])
        for entry in output["nftables"]
        if "counter" in entry
    }


def parse_counters(output: Any, plan: Plan) -> list[dict[str, Any]]:
    """Return the packets that each of a plan's droppers counted, and dropped, also by flow.

    ``output``: the parsed JSON of ``nft -j list counters``.
    """
    packets = packets_of(output)
    counts = []
    for number, dropper in enumerate(plan.droppers):
        lost = {flow.name: packets[_lost(number, flow)] for flow in concerned_flows(dropper, plan)}
        seen = packets[f"seen_{number}"]
        counts.append(
            {"dropper": str(dropper), "seen": seen, "lost": sum(lost.values()), "flows": lost}
        )
    return counts
