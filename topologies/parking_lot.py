"""The parking lot: bottlenecks in a row, one way through all, one across each.

With two bottlenecks::

                     receiver2               receiver3
                         |                       |
    sender --+           |                       |
             s4 ===== s1 --[rate, buffer]-> s2 --[rate, buffer]-> s3 -- receiver
    pinger --+        ||                    ||
                      s5                    s6
                      |                     |
                   sender2               sender3

(``receiver2`` is at s2 and ``receiver3`` at s3: behind the bottleneck that ``sender2`` and
``sender3`` cross.) ``=====`` are delay lines, half the path's RTT in each direction and its
loss towards the row. So all ways have one base RTT, and what the long one gets less is
because of its bottlenecks. Every sending host is behind a delay line, which lets go of its
packets before they queue (topologies/dumbbell.py says why).

All bottlenecks have the path's rate and buffer. Nothing queues in the other direction. Other
traffic of the path goes the long way, short flows from ``server`` beside ``sender`` to ``client``
beside ``receiver``. Droppers stand behind the delay lines, on the row's side
towards receivers, on the senders' side towards these.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from farpath.spec.dropper import BACK, THERE
from farpath.spec.hosts import RECEIVER, SENDER, Pair, Sender, numbered
from farpath.spec.layout import Layout, Wiring
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import nic_qdisc, processor_qdisc
from farpath.spec.segments import (
    background_source,
    bottleneck,
    delay_line,
    sending_site,
    short_flow_client,
    short_flow_server,
)
from farpath.spec.sites import far_delays_s
from farpath.spec.topology import Topology

#: Where a picture has the first switch of the row, and the rows below it.
_FIRST = 2.0
_RECEIVERS, _DELAYS, _SENDERS = -1.0, 1.3, 2.3


def lay_out(plan: Plan) -> Layout:
    """Bottlenecks in a row: one way through all of them, and one across each."""
    wiring = Wiring()
    mtu_bytes = plan.path.mtu_bytes
    row = [wiring.switch(_FIRST + place) for place in range(plan.bottlenecks + 1)]
    bottlenecks = []
    for one, other in pairwise(row):
        link = wiring.link(one, other, mtu_bytes, from_one=bottleneck(plan))
        bottlenecks.append(link.one.name)
    there, back = [], []
    # A dropper counts the packets of all ports of a direction, so these are at one site.
    is_divided = all(dropper.direction == THERE for dropper in plan.droppers)
    delays_s = far_delays_s(plan) if is_divided else None

    def site_of(number: int) -> int:
        """The first two senders share a site, since both send to the row's first switch."""
        return max(1, number - 1) if delays_s else 0

    def access(number: int, column: float, height: float) -> str:
        """A switch before the row, and the delay lines between."""
        switch = wiring.switch(column, height, site_of(number))
        entry = row[max(0, number - 2)]
        line = delay_line(wiring, plan, switch, entry, delays_s)
        there.append(line.other.name)
        back.append(line.one.name)
        return switch

    home = access(1, _FIRST - 1, 0.0)
    sending_site(wiring, plan, home, _FIRST - 2, site_of(1))
    background_source(wiring, plan, row[0], _FIRST, _RECEIVERS)
    end = _FIRST + plan.bottlenecks + 1
    wiring.link(wiring.host(RECEIVER, end), row[-1], mtu_bytes)
    for number in range(2, plan.bottlenecks + 2):
        column = _FIRST + number - 2
        switch = access(number, column, _DELAYS)
        sender = wiring.host(numbered(SENDER, number), column, _SENDERS, site_of(number))
        card, processor = nic_qdisc(plan, sender), processor_qdisc(plan)
        wiring.link(sender, switch, mtu_bytes, from_one=card, from_other=processor)
        receiver = wiring.host(numbered(RECEIVER, number), column + 1, _RECEIVERS)
        wiring.link(receiver, row[number - 1], mtu_bytes)
    short_flow_server(wiring, plan, home, _FIRST - 2, 2.0, site_of(1))
    short_flow_client(wiring, plan, row[-1], end, 1.0)
    return wiring.layout(
        bottlenecks=tuple(bottlenecks), dropping={THERE: tuple(there), BACK: tuple(back)}
    )


def host_pairs(bottlenecks: int, _senders: Sequence[Sender]) -> tuple[Pair, ...]:
    """Return the pairs of sender and receiver: the long way's, then one for each bottleneck.

    >>> host_pairs(2, ())
    (('sender', 'receiver'), ('sender2', 'receiver2'), ('sender3', 'receiver3'))
    """
    return tuple(
        (numbered(SENDER, number), numbered(RECEIVER, number))
        for number in range(1, bottlenecks + 2)
    )


#: One bottleneck would be a dumbbell.
TOPOLOGY = Topology(lay_out, host_pairs, bottlenecks=range(2, 9), default_bottlenecks=3)
