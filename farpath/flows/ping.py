"""ping (iputils): command line and parser."""

from __future__ import annotations


def arguments(target: str, interval_s: float, count: int) -> list[str]:
    """Pings with their time and three decimals of a millisecond (-3)."""
    return ["ping", "-n", "-D", "-3", "-i", f"{interval_s:g}", "-c", str(count), target]
