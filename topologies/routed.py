"""The routed path: a dumbbell whose sending site is behind the IP routers of its path.

::

    sender --+                                                         +-- receiver
             s3 -- r1 -- r2 -- ... -- s1 --[delay, loss]->====<-[delay]-- s2 --[rate, buffer]->
    pinger --+                                                         |
                                                                  background

Each router is a network namespace that forwards packets and decreases their TTL, so that
traceroute shows it. Routers are the hops that the path file names, and the receiver is the hop
after the last. All are before the far link: delay, loss, bottleneck and buffer are those of the
dumbbell, and a router answers without the path's delay, wherever the real one stood.

Further senders and reverse flows are as in the dumbbell. Reverse flows have their bottleneck
before the last router::

    r1 -- r2 -- ... <-[rate, buffer]-- s1 --[delay, loss]->====
"""

from __future__ import annotations

from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.topology import Topology
from topologies.dumbbell import host_pairs, wire


def lay_out(plan: Plan) -> Layout:
    """The dumbbell of a plan, with a router for each of its path's hops."""
    return wire(plan, plan.path.hop_names)


TOPOLOGY = Topology(lay_out, host_pairs, takes_senders=True, crosses_hops=True)
