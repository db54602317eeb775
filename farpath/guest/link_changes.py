"""Link changes: carries out at their times what a plan changes of rates and delays.

Each change is read back at once, and the answer of the kernel goes to the host.
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path as FilePath

from farpath.guest.device import DeviceError, Moments
from farpath.guest.network import Network
from farpath.guest.qdiscs import RtnetlinkQdisc
from farpath.guest.system import NS_PER_S
from farpath.guest.tc_process import TcProcess
from farpath.spec.protocol import CHANGES_FILE
from farpath.spec.qdiscs import ChangingQdisc, LinkBottleneck, changes_of


class LinkChangeError(DeviceError):
    """tc did not carry out a change; the text says which."""


class LinkChanges:
    """The changes of this site's ports. ``raw``: where the answers go."""

    def __init__(self, network: Network, raw: FilePath) -> None:
        self.network = network
        self.raw = raw
        self.epoch_ns = 0
        self.changes = {
            port.name: changes
            for port in network.layout.ports
            if network.has(port.node) and (changes := changes_of(port.queue))
        }
        self.links: dict[str, RtnetlinkQdisc] = {}
        self.tcs: dict[str, TcProcess] = {}
        for port, ((_, qdisc), *_) in self.changes.items():
            if isinstance(qdisc, LinkBottleneck):
                self.links[port] = network.link(port)
            else:
                self.tcs[port] = TcProcess(port, network.host_pid(port), ["-r"])
        self.lines: dict[str, list[bytes]] = {port: [] for port in self.changes}

    def moments(self, epoch_ns: int) -> Moments:
        """Return when each port changes, in s from the schedule's start, which is ``epoch_ns``."""
        self.epoch_ns = epoch_ns
        return [
            (at_s, partial(self._change, port, at_s, qdisc))
            for port, changes in self.changes.items()
            for at_s, qdisc in changes
        ]

    def _change(self, port: str, at_s: float, qdisc: ChangingQdisc) -> None:
        if isinstance(qdisc, LinkBottleneck):
            self.links[port].change({"rate_bps": qdisc.rate_bps})
            answer = json.dumps([self.links[port].show()]).encode() + b"\n"
        else:
            answer = self.tcs[port].show(*qdisc.tc_lines(port, "change"))
        done_s = (time.monotonic_ns() - self.epoch_ns) / NS_PER_S
        if not answer:
            raise LinkChangeError(f"tc ended at the change of {port} at {at_s:g} s")
        self.network.set_planned(port, qdisc)
        self.lines[port].append(f"{done_s:.9f} ".encode() + answer)

    def end(self) -> None:
        """End all tc and write the answers, one file for each port."""
        for tc in self.tcs.values():
            tc.close()
        for port, lines in self.lines.items():
            (self.raw / CHANGES_FILE.format(port=port)).write_bytes(b"".join(lines))
