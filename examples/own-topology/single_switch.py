"""Hosts at one switch, each over a cable of 10 Mbit/s and 5 ms, as in Mininet's simpleperf.py."""

from mininet.topo import Topo


class SingleSwitch(Topo):
    """As many hosts as wanted, with loss in per cent on each cable."""

    def build(self, hosts: int = 4, loss: float = 0) -> None:
        """Add a switch and its hosts."""
        switch = self.addSwitch("s1")
        for number in range(1, hosts + 1):
            host = self.addHost(f"h{number}")
            self.addLink(
                *(host, switch), bw=10, delay="5ms", loss=loss, max_queue_size=50, use_htb=True
            )
