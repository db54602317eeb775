"""As dumbbells of courses on congestion control have it: a class whose delay the main part gives."""

import sys
from functools import partial

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.topo import Topo

from rates import ACCESS_MBIT, BOTTLENECK_MBIT


class DumbbellTopo(Topo):
    def build(self, delay):
        left, right = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(left, right, bw=BOTTLENECK_MBIT, delay="%dms" % delay, max_queue_size=82)
        for number, switch in enumerate((left, left, right, right), start=1):
            self.addLink(self.addHost("h%d" % number), switch, bw=ACCESS_MBIT)


def run(delay):
    net = Mininet(topo=DumbbellTopo(delay), link=partial(TCLink, use_htb=True))
    net.start()
    net.iperf()
    net.stop()


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 21)
