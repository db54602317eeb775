"""The dumbbell's layout; topologies/dumbbell.py draws and explains it."""

from __future__ import annotations

from farpath.dropper import BACK, THERE
from farpath.guest.links import Delay, card_of
from farpath.layout import Layout, Wiring
from farpath.layouts.parts import bottleneck, delay_back, delay_there, sending_site
from farpath.plan import Plan
from farpath.spec.hosts import RECEIVER, Sender

#: Where a picture has the first switch of the path; hosts and switches before it lie left.
_NEAR = 3.0


def dumbbell(plan: Plan) -> Layout:
    """One bottleneck between a sending and a receiving site, or one in each direction.

    The plan's seed decides which packets are lost.
    """
    wiring = Wiring()
    mtu_bytes = plan.path.mtu_bytes
    near, far = wiring.switch(_NEAR), wiring.switch(_NEAR + 1)
    there = delay_there(plan, plan.seed)
    trunk = wiring.link(near, far, mtu_bytes, from_one=there, from_other=delay_back(plan))
    answering = card_of(plan, RECEIVER) if plan.schedule.reverse else None
    receiver = wiring.host(RECEIVER, _NEAR + 2)
    end = wiring.link(receiver, far, mtu_bytes, from_one=answering, from_other=bottleneck(plan))
    bottlenecks = [end.other.name]
    home, column = near, _NEAR
    if plan.schedule.reverse:
        home, column = wiring.switch(_NEAR - 1), _NEAR - 1
        back = wiring.link(near, home, mtu_bytes, from_one=bottleneck(plan))
        bottlenecks.append(back.one.name)
    sending_site(wiring, plan, home, column - 1)
    row = 3.0 if plan.path.background else 2.0
    for place, sender in enumerate(plan.senders):
        _add_sender(wiring, plan, sender, home, row + place)
    return wiring.layout(
        bottlenecks=tuple(bottlenecks),
        dropping={THERE: (trunk.other.name,), BACK: (trunk.one.name,)},
    )


def _add_sender(wiring: Wiring, plan: Plan, sender: Sender, home: str, row: float) -> None:
    """A further sender, behind a switch and delay lines of its own if it is farther away."""
    column = wiring.nodes[home].column - 1
    extra_s = (sender.rtt_ms - plan.path.rtt_ms) / 2e3
    switch = home
    if extra_s:
        extra = Delay(extra_s, 0.0, plan.seed)
        switch = wiring.switch(column, row)
        column -= 1
        wiring.link(switch, home, plan.path.mtu_bytes, from_one=extra, from_other=extra)
    host = wiring.host(sender.name, column, row)
    wiring.link(host, switch, sender.mtu_bytes, from_one=card_of(plan, sender.name))
