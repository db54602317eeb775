"""Topology: what a file of ``topologies/`` states of the topology that it wires."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from farpath.spec.hosts import Pair, Sender
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan


@dataclass(frozen=True)
class Topology:
    """A topology's wiring, its hosts, and which options of a run it takes.

    ``lay_out``: wires the topology for a plan. ``host_pairs``: returns the pairs of sender and
    receiver for a number of bottlenecks and further senders; the first pair is ``sender`` and
    ``receiver``. ``bottlenecks``: the numbers of bottlenecks that it may have, and
    ``default_bottlenecks`` the one that it has if none is given. ``takes_senders``: whether a
    run may add further senders (SENDERS) and reverse flows (REVERSE). ``crosses_hops``: whether
    packets cross the routers that a path names as its hops; a path of others has none.
    ``is_of_file``: whether it wires the network of a user's file, which names it (``./mine.py``);
    its pairs are those of the run's flows.
    """

    lay_out: Callable[[Plan], Layout]
    host_pairs: Callable[[int, Sequence[Sender]], tuple[Pair, ...]]
    bottlenecks: range = range(1, 2)
    default_bottlenecks: int = 1
    takes_senders: bool = False
    crosses_hops: bool = False
    is_of_file: bool = False
