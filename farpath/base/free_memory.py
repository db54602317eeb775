"""Memory: how much this machine has left."""

from __future__ import annotations

from pathlib import Path as FilePath


def available_bytes() -> int:
    """Return the memory and swap in bytes that programs may still take."""
    return parse_available_bytes(FilePath("/proc/meminfo").read_text(encoding="ascii"))


def parse_available_bytes(meminfo: str) -> int:
    r"""Return the available memory and swap in bytes from /proc/meminfo (proc_meminfo(5)).

    >>> parse_available_bytes("MemTotal: 9 kB\nMemAvailable: 2 kB\nSwapFree: 1 kB")
    3072
    """
    rows = dict(line.split(":", 1) for line in meminfo.splitlines() if ":" in line)
    names = ("MemAvailable", "SwapFree")
    return sum(int(rows.get(name, "0 kB").split()[0]) << 10 for name in names)
