"""ECN of programs: no device; which ports their connections have is known to them alone."""

from __future__ import annotations

from farpath.guest.device import Device

DEVICES: tuple[type[Device], ...] = ()
