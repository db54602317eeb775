"""The dumbbell: one bottleneck between a sending and a receiving site.

::

    sender --+                                              +-- receiver
             s1 --[delay, loss]->====<-[delay]-- s2 --[rate, buffer]->
    pinger --+                                   |
                                            background

``sender`` runs the flows; ``pinger``, the second host of the sending site, runs
ping, as in the paper (section II.B); ``background``, if the path has such traffic,
sends it through the bottleneck to the receiver's port. Each direction of the trunk delays by half
the RTT, on a far link between two sites or by netem on its ports; the port to the receiver is the
bottleneck, a rate and a drop-tail buffer in bytes. Delay and buffer never mix.

The delay comes first because netem lets go of a packet's sending socket, as a
network card does once a packet has left. With the bottleneck first, TCP small
queues (net/ipv4/tcp_output.c) would see the path's buffer as its own host's and
keep it empty.

Droppers stand where a trunk's packets arrive, behind the delay line: towards the receiver
before the bottleneck, towards the sender before its switch.

Further senders share the path. One of the path's RTT is at the first one's switch; one that
is farther away is behind a switch of its own and delay lines of half the difference, on the
switches' ports, so that its own port has nothing to let go of. A sender's port, both ends
of its cable, has the sender's MTU::

    sender ----------------------------------+
                                             s1 --[delay, loss]-> ...
    sender2 -- s3 --[more delay]->====<-[more delay]--+

Flows in the other direction, from ``receiver`` to the senders, make the path symmetric:
a bottleneck of the same rate and buffer is before the sending site, so that each direction's
acknowledgements queue behind the other's data. Such data is delayed on s2's trunk port first,
which lets go of it::

    sender --+                                                                 receiver --+
             s3 <-[rate, buffer]-- s1 --[delay, loss]->====<-[delay]-- s2 --[rate, buffer]->
    pinger --+

So it is too if the path has a rate of its own towards the senders, which then is the second
bottleneck's, and if the hosts run programs of a user's. With these loss, jitter, reordering and
duplicates are on the way back as well.

Short flows, if the path has such, come from ``server`` at the sending site and go to ``client``,
which shares the bottleneck with ``receiver``: a switch more is between it and them::

                        s2 --[rate, buffer]-> s3 --+-- receiver
                                                   +-- client
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from farpath.spec.dropper import BACK, THERE
from farpath.spec.hosts import RECEIVER, SENDER, Pair, Sender
from farpath.spec.layout import Layout, Port, Wiring
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import NetemDelay, nic_qdisc, processor_qdisc
from farpath.spec.segments import (
    background_source,
    bottleneck,
    bottleneck_back,
    delay_line,
    sending_site,
    short_flow_client,
    short_flow_server,
)
from farpath.spec.sites import far_delays_s
from farpath.spec.topology import Topology

#: Where a picture has the first switch of the path; hosts and switches before it lie left.
_NEAR = 3.0
#: Columns between two routers: no labels are between them.
_BETWEEN_ROUTERS = 0.4


def lay_out(plan: Plan) -> Layout:
    """One bottleneck between a sending and a receiving site, or one in each direction."""
    return wire(plan)


def wire(plan: Plan, hops: Sequence[str] = ()) -> Layout:
    """Return the dumbbell of a plan.

    ``hops``: names of routers between the sending site's hosts and the path (topologies/routed.py).
    """
    wiring = Wiring()
    mtu_bytes = plan.path.mtu_bytes
    delays_s = far_delays_s(plan)
    receiving = 1 if delays_s else 0
    near, far = wiring.switch(_NEAR), wiring.switch(_NEAR + 1, site=receiving)
    trunk = delay_line(wiring, plan, near, far, delays_s)
    answering = nic_qdisc(plan, RECEIVER) if plan.sends_both_ways else None
    behind = _NEAR + (3 if plan.path.short_flows else 2)
    receiver = wiring.host(RECEIVER, behind, site=receiving)
    if plan.path.short_flows:
        edge = wiring.switch(_NEAR + 2, site=receiving)
        end = wiring.link(edge, far, mtu_bytes, from_other=bottleneck(plan))
        wiring.link(receiver, edge, mtu_bytes, from_one=answering)
        short_flow_client(wiring, plan, edge, _NEAR + 3, 1.0, receiving)
    else:
        end = wiring.link(receiver, far, mtu_bytes, from_one=answering, from_other=bottleneck(plan))
    bottlenecks = [end.other.name]
    home, column = near, _NEAR
    back = bottleneck_back(plan)
    if hops:
        column = _NEAR - 1 - len(hops) * _BETWEEN_ROUTERS
        home = wiring.switch(column)
        row = [
            wiring.router(hop, column + place * _BETWEEN_ROUTERS)
            for place, hop in enumerate(hops, start=1)
        ]
        for one, other in pairwise([home, *row]):
            wiring.link(one, other, mtu_bytes)
        bottlenecks += _names(wiring.link(row[-1], near, mtu_bytes, from_other=back).other)
    elif back:
        home, column = wiring.switch(_NEAR - 1), _NEAR - 1
        bottlenecks += _names(wiring.link(near, home, mtu_bytes, from_one=back).one)
    sending_site(wiring, plan, home, column - 1)
    background_source(wiring, plan, far, _NEAR + 1, 1.0, receiving)
    for place, sender in enumerate(plan.senders):
        _add_sender(wiring, plan, sender, home, 2.0 + place)
    short_flow_server(wiring, plan, home, column - 1, 2.0 + len(plan.senders))
    return wiring.layout(
        bottlenecks=tuple(bottlenecks),
        dropping={THERE: (trunk.other.name,), BACK: (trunk.one.name,)},
    )


def _names(port: Port) -> list[str]:
    """Return the name of a port that is a bottleneck; of any other nothing."""
    return [port.name] if port.queue else []


def _add_sender(wiring: Wiring, plan: Plan, sender: Sender, home: str, row: float) -> None:
    """A further sender, behind a switch and delay lines of its own if it is farther away."""
    column = wiring.nodes[home].column - 1
    extra_s = (sender.rtt_ms - plan.path.rtt_ms) / 2e3
    switch = home
    if extra_s:
        extra = NetemDelay(extra_s, 0.0)
        switch = wiring.switch(column, row)
        column -= 1
        wiring.link(switch, home, plan.path.mtu_bytes, from_one=extra, from_other=extra)
    host = wiring.host(sender.name, column, row)
    card, processor = nic_qdisc(plan, sender.name), processor_qdisc(plan)
    wiring.link(host, switch, sender.mtu_bytes, from_one=card, from_other=processor)


def host_pairs(_bottlenecks: int, senders: Sequence[Sender]) -> tuple[Pair, ...]:
    """Return the pairs of sender and receiver: every sender sends to the one receiver."""
    return ((SENDER, RECEIVER), *((sender.name, RECEIVER) for sender in senders))


TOPOLOGY = Topology(lay_out, host_pairs, takes_senders=True)
