"""Captures: the program that captures packets at this site's places."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from farpath.guest import system
from farpath.guest.device import Site
from farpath.guest.network import network_namespace
from farpath.guest.tick_program import TickDevice, TickProgram
from farpath.mechanisms.capture.guest import packet_ring
from farpath.spec import capture_sizes
from farpath.spec.capture import Capture, CapturerConfig, RingConfig
from farpath.spec.protocol import CAPTURES_DIR

#: Room for the first and last blocks of all files.
ENDS_BYTES = 1 << 20


def captures_at(site: Site) -> list[Capture]:
    """Return the plan's captures at a site."""
    ports = capture_sizes.ports(site.layout)
    return [one for one in site.plan.captures if site.has(ports[one.place].node)]


class Capturer(TickDevice):
    """The capturer of a site.

    One program captures at all places, each by a socket in the network namespace of that place:
    several that wake at one tick would change what runs when.
    """

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether the plan captures something at a site."""
        return bool(captures_at(site))

    def start_programs(self) -> Iterator[TickProgram]:
        """Start the capturer, which writes to memory: files may have any size."""
        plan, here = self.plan, captures_at(self.site)
        ports = capture_sizes.ports(self.site.layout)
        directory = self.raw / CAPTURES_DIR
        directory.mkdir()
        size_bytes = sum(capture_sizes.most_bytes(plan, one) for one in here)
        system.mount("tmpfs", "tmpfs", str(directory), f"size={size_bytes + ENDS_BYTES}")
        with ExitStack() as sockets:
            rings = []
            for one in here:
                port = ports[one.place]
                with network_namespace(self.network.pid(port.node)):
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
                "farpath.mechanisms.capture.guest.capturer",
                self.raw / f"captures-{self.site.number}.err",
                CapturerConfig(tuple(rings)).to_json(),
                [ring.descriptor for ring in rings],
            )


DEVICES = (Capturer,)
