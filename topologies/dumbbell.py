"""The dumbbell: one bottleneck between a sending and a receiving site.

::

    sender --+                                              +-- receiver
             s1 --[delay, loss]->====<-[delay]-- s2 --[rate, buffer]->
    pinger --+
 background -+

``sender`` runs the flows; ``pinger``, the second host of the sending site, runs
ping, as in the paper (section II.B); ``background``, if the path has such traffic,
sends it through the bottleneck to the receiver's port. Each trunk port delays by half the RTT and
holds whatever is on its way; the port to the receiver is the bottleneck, a rate
and a drop-tail buffer in bytes. Delay and buffer never mix.

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
"""

from __future__ import annotations

from farpath.guest.topology import LaidOut
from farpath.layouts.dumbbell import dumbbell


class Dumbbell(LaidOut):
    """Two sites, two Open vSwitch switches, one bottleneck; more of them if a plan asks."""

    lay_out = staticmethod(dumbbell)


TOPOLOGY = Dumbbell
