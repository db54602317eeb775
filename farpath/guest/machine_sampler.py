"""What a lab on the machine's own kernel watches of the machine while traffic runs."""

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

#: The side path: a cable between two network namespaces of its own, each end a delay
#: line of netem's, as on the path itself.
SIDE = (
    ("lag-a", "192.0.2.1", "02:00:00:00:00:01"),
    ("lag-b", "192.0.2.2", "02:00:00:00:00:02"),
)
PINGS = 1_000_000


class MachineSampler:
    """Samples of load and lost packets, and pings over a path that nothing else uses.

    These pings take two netem delays; what they take longer is how late the
    kernel's timers are.
    """

    def __init__(self, raw: FilePath) -> None:
        self.began_s = time.monotonic()
        self.output = (raw / MACHINE_FILE).open("w", encoding="ascii")
        self._build()
        (source, _, _), (_, target, _) = SIDE
        with (raw / LAG_FILE).open("wb") as said:
            self.pings = subprocess.Popen(
                [
                    *("ip", "netns", "exec", source),
                    *ping.arguments(target, SIDE_INTERVAL_S, PINGS),
                ],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    @staticmethod
    def _build() -> None:
        for name, _, _ in SIDE:
            run("ip", "netns", "add", name)
        ends = [("name", name, "address", mac, "netns", name) for name, _, mac in SIDE]
        run("ip", "link", "add", *ends[0], "type", "veth", "peer", *ends[1])
        for (name, address, _), (_, far_address, far_mac) in zip(SIDE, SIDE[::-1], strict=True):
            run("ip", "-n", name, "address", "add", f"{address}/24", "dev", name)
            run("ip", "-n", name, "link", "set", name, "up")
            # Without this the first ping would wait for its neighbour's address
            neighbour = (far_address, "lladdr", far_mac, "nud", "permanent", "dev", name)
            run("ip", "-n", name, "neigh", "replace", *neighbour)
            delay = f"{SIDE_RTT_MS / 2:g}ms"
            run("tc", "-n", name, "qdisc", "add", "dev", name, "root", "netem", "delay", delay)

    def sample(self, t_s: float) -> None:
        """Append one line: time of the schedule, blank, the machine's counters then."""
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
