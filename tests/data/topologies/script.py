#!/usr/bin/env python
"""As most scripts have it: a Mininet(), its nodes and links one by one, no class of a topology."""

from mininet.cli import CLI
from mininet.link import TCLink
from mininet.log import info, setLogLevel
from mininet.net import Mininet
from mininet.node import Controller, OVSKernelSwitch


def star(rate_mbit=100):
    net = Mininet(controller=Controller, link=TCLink, switch=OVSKernelSwitch, autoSetMacs=True)
    info("*** Adding controller, hosts and switch\n")
    net.addController("c0")
    h1 = net.addHost("h1", ip="10.0.0.1/24")
    h2 = net.addHost("h2", ip="10.0.0.2/24")
    h3 = net.addHost("h3", ip="10.0.0.3/24", mac="00:00:00:00:00:03")
    s1 = net.addSwitch("s1")
    net.addLink(h1, s1, bw=rate_mbit, enable_ecn=True)
    net.addLink("h2", "s1", bw=rate_mbit, delay="0.1ms")
    link = TCLink(h3, s1, bw=rate_mbit)
    link.intf1.config(delay="0.2ms")
    h1.cmd("sysctl -w net.ipv4.tcp_ecn=1")
    net.start()
    h1.cmd("iperf -s &")
    h2.cmd("iperf -c", h1.IP(), "-t 10 &")
    s1.cmd("tc qdisc show dev s1-eth1")
    CLI(net)
    net.stop()


if __name__ == "__main__":
    setLogLevel("info")
    star()
