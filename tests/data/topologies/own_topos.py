"""As ``mn --custom`` takes it: Mininet's own topologies with options for all their links."""

from mininet.topo import LinearTopo, SingleSwitchTopo
from mininet.topolib import TreeTopo

OPTIONS = {"bw": 10, "delay": "5ms"}
topos = {
    "star": lambda k=3: SingleSwitchTopo(k, lopts=OPTIONS),
    "line": lambda k, n=1: LinearTopo(k, n, lopts=OPTIONS),
    "tree": lambda depth=2, fanout=2: TreeTopo(depth, fanout, lopts=OPTIONS),
}
