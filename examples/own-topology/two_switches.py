"""Two switches, two hosts at each: Mininet's topo-2sw-2host.py, with a long link between them.

``topos`` is what ``mn --custom`` reads, too: ``sudo mn --custom two_switches.py --topo far``.
"""

from typing import Any

from mininet.topo import Topo


class TwoSwitches(Topo):
    """Two switches and four hosts; ``trunk`` are options of the link between the switches."""

    def build(self, **trunk: Any) -> None:
        """Add the left half, the right half, and what joins them."""
        left, right = self.addSwitch("s3"), self.addSwitch("s4")
        for name, switch in {"h1": left, "h2": right, "h5": left, "h6": right}.items():
            self.addLink(self.addHost(name), switch, bw=100)
        self.addLink(left, right, **trunk)


topos = {
    "near": lambda: TwoSwitches(bw=20, delay="1ms"),
    "far": lambda: TwoSwitches(bw=20, delay="40ms", max_queue_size=140),
}
