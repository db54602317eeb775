"""Fork: a topology as a file of its own, in which two senders share a switch and a path."""

from __future__ import annotations

from pathlib import Path as FilePath

#: Of a process that finds the file.
FIND = """
import sys
import topologies
topologies.__path__.append(sys.argv.pop(1))
"""
FORK = '''
"""Fork: two senders at one switch, whose path ends at one receiver."""

from farpath.spec.dropper import BACK, THERE
from farpath.spec.hosts import RECEIVER, SENDER
from farpath.spec.layout import Wiring
from farpath.spec.segments import bottleneck, delay_line, sending_site
from farpath.spec.sites import far_delays_s
from farpath.spec.topology import Topology


def lay_out(plan):
    wiring, delays_s = Wiring(), far_delays_s(plan)
    receiving = 1 if delays_s else 0
    near, far = wiring.switch(1), wiring.switch(2, site=receiving)
    line = delay_line(wiring, plan, near, far, delays_s)
    sending_site(wiring, plan, near, 0)
    wiring.link(wiring.host("sender2", 0, 2), near, plan.path.mtu_bytes)
    receiver = wiring.host(RECEIVER, 3, site=receiving)
    end = wiring.link(receiver, far, plan.path.mtu_bytes, from_other=bottleneck(plan))
    dropping = {THERE: (line.other.name,), BACK: (line.one.name,)}
    return wiring.layout((end.other.name,), dropping)


def host_pairs(_bottlenecks, _senders):
    return ((SENDER, RECEIVER), ("sender2", RECEIVER))


TOPOLOGY = Topology(lay_out, host_pairs)
'''


def add_fork(folder: FilePath) -> None:
    """Write the topology into a directory of topologies."""
    (folder / "fork.py").write_text(FORK)
