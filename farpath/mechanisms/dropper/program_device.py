"""Droppers of programs: nftables rules that count all packets of TCP and UDP in a direction.

Programs choose their ports and the sizes of their packets themselves, so that every packet counts
in its direction, the first one of a connection too. Drops of queues are not counted by flow.
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from farpath.mechanisms.dropper.device import Droppers
from farpath.spec.dropper import BACK, THERE
from farpath.tools import nftables
from farpath.tools.commands import run_json


def _lost(number: int) -> str:
    """Return the name of the counter of packets that a dropper drops."""
    return f"lost_{number}_all"


class ProgramDroppers(Droppers):
    """The droppers of a plan of programs, and their counters."""

    def start(self, raw: FilePath) -> None:
        """Set the rules."""
        self._run_nft(self._script())

    def _script(self) -> str:
        droppers = list(enumerate(self.plan.droppers))
        lines = [f"table {nftables.TABLE} {{"]
        for number, _ in droppers:
            lines += [f"counter seen_{number} {{}}", f"counter {_lost(number)} {{}}"]
        for number, dropper in droppers:
            lines += [f"chain lost_{number} {{", f"counter name {_lost(number)} drop", "}"]
            lines += [f"chain {nftables._chain(number)} {{", f"counter name seen_{number}"]
            if match := nftables._dropped_match(dropper, self.plan):
                lines.append(f"{match}goto lost_{number}")
            lines.append("}")
        for direction in (THERE, BACK):
            jumps = [
                f"meta l4proto {{ tcp, udp }} jump {nftables._chain(number)}"
                for number, dropper in droppers
                if dropper.direction == direction
            ]
            if jumps:
                hook = nftables.hook(self.ports[direction])
                lines += [f"chain {direction} {{", hook, *jumps, "}"]
        return "\n".join([*lines, "}"]) + "\n"

    def counts(self) -> dict[str, Any]:
        """Return the packets that each dropper counted and dropped."""
        with self._at_switches():
            output = run_json("nft", "-j", "list", "counters", "table", *nftables.TABLE.split())
        packets = nftables.packets_of(output)
        return {
            "droppers": [
                {
                    "dropper": str(dropper),
                    "seen": packets[f"seen_{number}"],
                    "lost": packets[_lost(number)],
                    "flows": {},
                }
                for number, dropper in enumerate(self.plan.droppers)
            ]
        }


DEVICES = (ProgramDroppers,)
