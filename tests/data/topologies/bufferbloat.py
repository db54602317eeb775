"""As assignments on full buffers have it: arguments at module level, a class, and a main part."""

import os
import subprocess
from argparse import ArgumentParser
from multiprocessing import Process

from mininet.cli import CLI
from mininet.link import TCLink
from mininet.log import lg
from mininet.net import Mininet
from mininet.node import CPULimitedHost
from mininet.topo import Topo
from mininet.util import dumpNodeConnections

parser = ArgumentParser(description="Full buffers")
parser.add_argument("--bw-host", "-B", type=float, help="Mbit/s of the sender", default=1000)
parser.add_argument("--bw-net", "-b", type=float, help="Mbit/s of the bottleneck", required=True)
parser.add_argument("--delay", type=float, help="ms of a link", required=True)
parser.add_argument("--maxq", type=int, help="packets that wait", default=100)
parser.add_argument("--cong", help="congestion control", default="reno")
args = parser.parse_args()


class BBTopo(Topo):
    def build(self, n=2):
        hosts = [self.addHost("h%d" % (i + 1)) for i in range(n)]
        switch = self.addSwitch("s0")
        self.addLink(hosts[0], switch, bw=args.bw_host, delay="%fms" % args.delay)
        self.addLink(
            switch, hosts[1], bw=args.bw_net, delay="%fms" % args.delay, max_queue_size=args.maxq
        )


def start_iperf(net):
    server = net.get("h2").popen("iperf -s -w 16m")
    client = net.get("h1").popen("iperf -c %s -t 90" % net.get("h2").IP(), shell=True)
    return server, client


def bufferbloat():
    os.system("sysctl -w net.ipv4.tcp_congestion_control=%s" % args.cong)
    subprocess.check_call("rm -f q.txt", shell=True)
    net = Mininet(topo=BBTopo(), host=CPULimitedHost, link=TCLink)
    net.start()
    dumpNodeConnections(net.hosts)
    net.pingAll()
    monitor = Process(target=start_iperf, args=(net,))
    monitor.start()
    CLI(net)
    net.stop()
    subprocess.Popen("pgrep -f webserver.py | xargs kill -9", shell=True).wait()


if __name__ == "__main__":
    lg.setLogLevel("info")
    bufferbloat()
