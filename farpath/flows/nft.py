"""nft: rules that drop a plan's packets, and what their counters say.

Rules stand where a switch takes in what has left the delay line, before the switch sees
it (the netdev family's ingress hook), so a packet dropped here is one that the path lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from farpath.dropper import BACK, MOST_PACKETS, THERE, Dropper, horizon_packets
from farpath.plan import Plan

TABLE = "netdev farpath"
#: numgen begins with 0, and after so many packets begins anew.
_COUNT = f"numgen inc mod {MOST_PACKETS + 1}"
#: nftables draws chances as whole numbers below this.
_CHANCES = 1_000_000_000


def _chain(number: int) -> str:
    return f"dropper_{number}"


def _concerned(dropper: Dropper, plan: Plan) -> str:
    """The match of the packets that a dropper counts."""
    flows = [flow for flow in plan.schedule.flows if dropper.flow in ("", flow.name)]
    ports = ", ".join(str(flow.port) for flow in flows)
    if dropper.direction == BACK:
        return f"th sport {{ {ports} }}"
    return f"th dport {{ {ports} }} meta length > {plan.path.mtu_bytes // 2}"


def _lost(dropper: Dropper, plan: Plan) -> str:
    """The match of those that it drops; empty where time decides."""
    if dropper.kind == "at":
        return ""
    if dropper.kind == "every":
        count = int(dropper.numbers[0])
        return f"numgen inc mod {count} == {count - 1} " if count > 1 else " "
    if dropper.kind == "random":
        return f"numgen random mod {_CHANCES} < {round(dropper.numbers[0] * _CHANCES)} "
    most = MOST_PACKETS
    if dropper.kind == "burst":
        most = horizon_packets(plan.path, plan.schedule.duration_s)
    places = ", ".join(str(place - 1) for place in dropper.positions(plan.seed, most))
    return f"{_COUNT} {{ {places} }} " if places else ""


def script(plan: Plan, devices: Mapping[str, str]) -> str:
    """What ``nft -f -`` is told; ``devices``: the port that packets of a direction reach."""
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
            f"meta l4proto {{ tcp, udp }} {_concerned(dropper, plan)} jump {_chain(number)}"
            for number, dropper in enumerate(plan.droppers)
            if dropper.direction == direction
        ]
        if jumps:
            hook = f'type filter hook ingress device "{devices[direction]}" priority 0;'
            lines += [f"chain {direction} {{", hook, *jumps, "}"]
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
