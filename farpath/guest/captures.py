"""Captures: starts the program that captures packets at this site's places."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path as FilePath

from farpath.guest import packet_ring, system
from farpath.guest.network import Network, network_namespace
from farpath.guest.tick_program import TickProgram
from farpath.spec import capture_sizes
from farpath.spec.capture import CapturerConfig, RingConfig
from farpath.spec.plan import Plan
from farpath.spec.protocol import CAPTURES_DIR

#: Room for the first and last blocks of all files.
ENDS_BYTES = 1 << 20


def start_capturer(plan: Plan, network: Network, raw: FilePath) -> Iterator[TickProgram]:
    """Start the capturer of this site; there is none if the plan captures nothing here.

    One program captures at all places, each by a socket in the network namespace of that place:
    several that wake at one tick would change what runs when. ``raw``: where it writes, in memory
    for files of any size.
    """
    ports = capture_sizes.ports(network.layout)
    here = [one for one in plan.captures if network.has(ports[one.place].node)]
    if not here:
        return
    directory = raw / CAPTURES_DIR
    directory.mkdir()
    size_bytes = sum(capture_sizes.most_bytes(plan, one) for one in here)
    system.mount("tmpfs", "tmpfs", str(directory), f"size={size_bytes + ENDS_BYTES}")
    with ExitStack() as sockets:
        rings = []
        for one in here:
            port = ports[one.place]
            with network_namespace(network.pid(port.node)):
                opened = sockets.enter_context(packet_ring.open_socket())
            rings.append(
                RingConfig(
                    descriptor=opened.fileno(),
                    port=port.name,
                    place=one.place,
                    file=str(directory / one.file),
                    snap_bytes=one.snap_bytes,
                    most_bytes=capture_sizes.most_bytes(plan, one),
                    slots=capture_sizes.slots(plan),
                )
            )
        yield TickProgram(
            "the capturer",
            "farpath.guest.capturer",
            raw / f"captures-{network.site}.err",
            CapturerConfig(tuple(rings)).to_json(),
            [ring.descriptor for ring in rings],
        )
