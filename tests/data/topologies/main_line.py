"""As tutorials have it: a topology of Mininet's in the main part, with options for all links."""

from functools import partial

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSController
from mininet.topo import LinearTopo

if __name__ == "__main__":
    link = partial(TCLink, bw=20, delay="10ms")
    net = Mininet(topo=LinearTopo(k=3), link=link, controller=OVSController)
    net.start()
    net.pingAll()
    net.stop()
