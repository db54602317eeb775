"""Sizes in bytes as text."""

from __future__ import annotations


def size_text(size_bytes: int) -> str:
    """Format a size for people.

    >>> size_text(1_250_000), size_text(31_000)
    ('1.25 MB', '31 kB')
    """
    unit, size = ("MB", 1e6) if size_bytes >= 1e6 else ("kB", 1e3)
    return f"{size_bytes / size:.4g} {unit}"
