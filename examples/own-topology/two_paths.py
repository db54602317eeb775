"""A phone with two links of other delays, and a server with one: paths for MPTCP."""

from mininet.topo import Topo


class TwoPaths(Topo):
    """h1 with links to two switches, which both lead to h2."""

    def build(self) -> None:
        """Add hosts, switches and links."""
        phone, server = self.addHost("h1"), self.addHost("h2")
        wifi, lte, core = (self.addSwitch(f"s{number}") for number in (1, 2, 3))
        self.addLink(phone, wifi)
        self.addLink(phone, lte)
        self.addLink(wifi, core, bw=10, delay="10ms", max_queue_size=60)
        self.addLink(lte, core, bw=10, delay="30ms", max_queue_size=60)
        self.addLink(core, server)
