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
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mininet.topo import Topo

from farpath.dropper import BACK, THERE
from farpath.guest.links import Bottleneck, Delay, Sources, card_of, lateness_s
from farpath.plan import BACKGROUND, PINGER, Plan


class Dumbbell(Topo):
    """Two sites, two Open vSwitch switches, one bottleneck."""

    receivers = ("receiver",)
    bottleneck = "s2-eth2"
    dropping: ClassVar[Mapping[str, str]] = {THERE: "s2-eth1", BACK: "s1-eth1"}

    def build(self, plan: Plan) -> None:
        """Lay the dumbbell out; the plan's seed decides which packets are lost.

        An era may give the sender a network card of a rate. The pinger's would never
        hold a packet back and stays infinitely fast, so that it sees the path's RTT.
        """
        path, seed = plan.path, plan.seed
        near, far = self.addSwitch("s1"), self.addSwitch("s2")
        there = Delay(
            *(path.one_way_delay_s, path.loss, seed),
            jitter_s=path.jitter_ms / 1e3,
            reorder=path.reorder,
            duplicate=path.duplicate,
        )
        back = Delay(path.one_way_delay_s, 0.0, seed)
        late_s = lateness_s(plan.settings.clock, path.rate_bps, path.frame_bytes)
        narrow = Bottleneck(path.rate_bps, path.buffer_bytes, path.frame_bytes, late_s)
        self.addLink(near, far, port1=1, port2=1, params1={"queue": there}, params2={"queue": back})
        for name in self.receivers:
            self.addLink(self.addHost(name), far, port2=2, params2={"queue": narrow})
        self.addLink(self.addHost("sender"), near, params1={"queue": card_of(plan)})
        self.addLink(self.addHost(PINGER), near)
        if path.background:
            sources = Sources(path.background.rate_bps)
            self.addLink(self.addHost(BACKGROUND), near, params1={"queue": sources})


TOPOLOGY = Dumbbell
