"""A row of switches with a host at each: the class of Mininet's own linearbandwidth.py.

The example gives its links a rate and a delay when it makes the network. A topology has them in
``lopts``, the options of each link without options of its own.
"""

from mininet.examples.linearbandwidth import LinearTestTopo

topos = {"linear": lambda hosts=4: LinearTestTopo(hosts, lopts={"bw": 100, "delay": "30ms"})}
