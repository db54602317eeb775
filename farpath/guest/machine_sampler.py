"""Machine sampler: records the machine's load and timer lateness during a host lab's run."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path as FilePath

from farpath.spec.protocol import LAG_FILE, MACHINE_FILE, SIDE_INTERVAL_S, SIDE_RTT_MS
from farpath.tools import ping
from farpath.tools.commands import run
from farpath.tools.proc import machine_counters

#: The side path: a veth pair between two network namespaces, with a netem delay at each end as
#: on the path itself. For each end: namespace and port, IPv4 address, MAC address.
SIDE = (
    ("lag-a", "192.0.2.1", "02:00:00:00:00:01"),
    ("lag-b", "192.0.2.2", "02:00:00:00:00:02"),
)
#: Number of pings over the side path: more than any run needs, since a signal ends them.
PINGS = 1_000_000


class MachineSampler:
    """Samples CPU load and lost packets, and pings over a side path without other traffic.

    The RTT of these pings is two netem delays and the lateness of the kernel's timers.
    """

    def __init__(self, raw: FilePath) -> None:
        self.began_s = time.monotonic()
        self.output = (raw / MACHINE_FILE).open("w", encoding="ascii")
        self._build()
        (source, _, _), (_, target, _) = SIDE
        with (raw / LAG_FILE).open("wb") as output:
            self.pings = subprocess.Popen(
                [
                    *("ip", "netns", "exec", source),
                    *ping.arguments(target, SIDE_INTERVAL_S, PINGS),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    @staticmethod
    def _build() -> None:
        for name, _, _ in SIDE:
            run("ip", "netns", "add", name)
        ends = [("name", name, "address", mac, "netns", name) for name, _, mac in SIDE]
        run("ip", "link", "add", *ends[0], "type", "veth", "peer", *ends[1])
        for (name, address, _), (_, peer_address, peer_mac) in zip(SIDE, SIDE[::-1], strict=True):
            run("ip", "-n", name, "address", "add", f"{address}/24", "dev", name)
            run("ip", "-n", name, "link", "set", name, "up")
            # Without this the first ping would wait for address resolution.
            neighbour = (peer_address, "lladdr", peer_mac, "nud", "permanent", "dev", name)
            run("ip", "-n", name, "neigh", "replace", *neighbour)
            delay = f"{SIDE_RTT_MS / 2:g}ms"
            run("tc", "-n", name, "qdisc", "add", "dev", name, "root", "netem", "delay", delay)

    def sample(self, t_s: float) -> None:
        """Append one line: the time in the schedule in s, a space, the counters as JSON."""
        counters = machine_counters(
            FilePath("/proc/stat").read_text(encoding="ascii"),
            FilePath("/proc/net/softnet_stat").read_text(encoding="ascii"),
        )
        counters["elapsed_s"] = round(time.monotonic() - self.began_s, 6)
        self.output.write(f"{t_s:.6f} {json.dumps(counters)}\n")

    def close(self) -> None:
        """Stop the pings, which then print their statistics."""
        self.output.close()
        self.pings.send_signal(signal.SIGINT)
        self.pings.wait()
