"""nft: rules that drop a plan's packets, and what their counters say.

Rules stand where a switch takes in what has left the delay line, before the switch sees
it (the netdev family's ingress hook), so a packet dropped here is one that the path lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from farpath.spec.dropper import BACK, MOST_PACKETS, THERE, Dropper
from farpath.spec.dropping import concerned_flows, counted_above_bytes, horizon_packets
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow

TABLE = "netdev farpath"
#: numgen begins with 0, and after so many packets begins anew.
_COUNT = f"numgen inc mod {MOST_PACKETS + 1}"
#: nftables draws chances as whole numbers below this.
_CHANCES = 1_000_000_000


def _chain(number: int) -> str:
    return f"dropper_{number}"


def _concerned(dropper: Dropper, plan: Plan) -> list[str]:
    """The matches of the packets that a dropper counts: one for each size of full ones."""
    flows = concerned_flows(dropper, plan)
    if dropper.direction == BACK:
        return [f"th sport {{ {_ports(flows)} }}"]
    by_mtu: dict[int, list[Flow]] = {}
    for flow in flows:
        by_mtu.setdefault(plan.flow_mtu_bytes(flow), []).append(flow)
    return [
        f"th dport {{ {_ports(alike)} }} meta length > {counted_above_bytes(mtu_bytes)}"
        for mtu_bytes, alike in by_mtu.items()
    ]


def _ports(flows: Iterable[Flow]) -> str:
    return ", ".join(str(flow.port) for flow in flows)


def _hook(devices: Sequence[str]) -> str:
    quoted = ", ".join(f'"{device}"' for device in devices)
    where = f"device {quoted}" if len(devices) == 1 else f"devices = {{ {quoted} }}"
    return f"type filter hook ingress {where} priority 0;"


def _lost(dropper: Dropper, plan: Plan) -> str:
    """The match of those that it drops; empty where time decides."""
    if dropper.kind == "at":
        return ""
    if dropper.kind == "every":
        count = int(dropper.numbers[0])
        return f"numgen inc mod {count} == {count - 1} " if count > 1 else " "
    if dropper.kind == "random":
        chances = round(dropper.numbers[0] * _CHANCES)
        return f"numgen random mod {_CHANCES} < {chances} " if chances < _CHANCES else " "
    most = MOST_PACKETS
    if dropper.kind == "burst":
        most = horizon_packets(plan)
    places = ", ".join(str(place - 1) for place in dropper.positions(plan.seed, most))
    return f"{_COUNT} {{ {places} }} " if places else ""


def script(plan: Plan, devices: Mapping[str, Sequence[str]]) -> str:
    """What ``nft -f -`` is told; ``devices``: the ports that packets of a direction reach."""
    lines = [f"table {TABLE} {{"]
    for number, _ in enumerate(plan.droppers):
        lines += [f"counter seen_{number} {{}}", f"counter lost_{number} {{}}"]
    for number, dropper in enumerate(plan.droppers):
        lines += [f"chain {_chain(number)} {{", f"counter name seen_{number}"]
        if match := _lost(dropper, plan):
            lines.append(f"{match}counter name lost_{number} drop")
        lines.append("}")
    for direction in (THERE, BACK):
        jumps = [
            f"meta l4proto {{ tcp, udp }} {concerned} jump {_chain(number)}"
            for number, dropper in enumerate(plan.droppers)
            if dropper.direction == direction
            for concerned in _concerned(dropper, plan)
        ]
        if jumps:
            lines += [f"chain {direction} {{", _hook(devices[direction]), *jumps, "}"]
    return "\n".join([*lines, "}"]) + "\n"


def drop_next(number: int) -> str:
    """A rule more, for a dropper by time: the first packet from now on."""
    return f"add rule {TABLE} {_chain(number)} {_COUNT} == 0 counter name lost_{number} drop"


def counted(said: Any, droppers: Iterable[Dropper]) -> list[dict[str, str | int]]:
    """For each dropper what it saw and dropped, of ``nft -j list counters``."""
    found = {
        entry["counter"]["name"]: int(entry["counter"]["packets"])
        for entry in said["nftables"]
        if "counter" in entry
    }
    return [
        {"dropper": str(dropper), "seen": found[f"seen_{number}"], "lost": found[f"lost_{number}"]}
        for number, dropper in enumerate(droppers)
    ]
