#!/usr/bin/env python
"""As MiniEdit exports a network: built, and then started part by part."""

from subprocess import call

from mininet.cli import CLI
from mininet.link import TCLink
from mininet.log import info, setLogLevel
from mininet.net import Mininet
from mininet.node import Controller, Host, OVSKernelSwitch


def myNetwork():  # noqa: N802
    net = Mininet(topo=None, build=False, ipBase="10.0.0.0/8")

    info("*** Adding controller\n")
    c0 = net.addController(name="c0", controller=Controller, protocol="tcp", port=6633)

    info("*** Add switches\n")
    s1 = net.addSwitch("s1", cls=OVSKernelSwitch)
    s2 = net.addSwitch("s2", cls=OVSKernelSwitch, dpid="0000000000000002")

    info("*** Add hosts\n")
    h1 = net.addHost("h1", cls=Host, ip="10.0.0.1", defaultRoute=None)
    h2 = net.addHost("h2", cls=Host, ip="10.0.0.2", defaultRoute=None)

    info("*** Add links\n")
    net.addLink(h1, s1)
    s1s2 = {"bw": 10, "delay": "15ms", "loss": 0, "max_queue_size": 40, "jitter": ""}
    net.addLink(s1, s2, cls=TCLink, **s1s2)
    net.addLink(s2, h2)

    info("*** Starting network\n")
    net.build()
    for controller in net.controllers:
        controller.start()
    net.get("s1").start([c0])
    net.get("s2").start([c0])
    call(["echo", "built"])
    CLI(net)
    net.stop()


if __name__ == "__main__":
    setLogLevel("info")
    myNetwork()
