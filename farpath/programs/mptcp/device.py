"""MPTCP's program: no device, but ``guest/`` has what its flows run."""

from __future__ import annotations

from farpath.guest.device import Device

DEVICES: tuple[type[Device], ...] = ()
