"""Captures of programs: the capturer, whose files have a room of their own."""

from __future__ import annotations

from farpath.guest.device import Site
from farpath.mechanisms.capture.device import Capturer
from farpath.spec.program_captures import with_room


class ProgramCapturer(Capturer):
    """The capturer of a lab of programs."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.plan = with_room(site.plan)


DEVICES = (ProgramCapturer,)
