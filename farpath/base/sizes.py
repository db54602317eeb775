"""Sizes in bytes as text."""

from __future__ import annotations


def size_text(size_bytes: int) -> str:
    """Format a size for people.

    >>> size_text(1_250_000), size_text(31_000)
    ('1.25 MB', '31 kB')
    """
    unit, size = ("MB", 1e6) if size_bytes >= 1e6 else ("kB", 1e3)
    return f"{size_bytes / size:.4g} {unit}"


def memory_text(size_bytes: int) -> str:
    """Format a size of memory for people: in powers of 1024 if it is a whole number of them.

    >>> memory_text(16 << 20), memory_text(64 << 10), memory_text(1_250_000)
    ('16 MiB', '64 KiB', '1.25 MB')
    """
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size_bytes >= 1 << bits and not size_bytes % (1 << bits):
            return f"{size_bytes >> bits} {unit}"
    return size_text(size_bytes)
