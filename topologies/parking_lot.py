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
traffic of the path goes the long way. Droppers stand behind the delay lines, on the row's side
towards receivers, on the senders' side towards these.
"""

from __future__ import annotations

from farpath.guest.topology import LaidOut
from farpath.layouts.parking_lot import parking_lot


class ParkingLot(LaidOut):
    """Switches in a row with a bottleneck between each and the next."""

    lay_out = staticmethod(parking_lot)


TOPOLOGY = ParkingLot
