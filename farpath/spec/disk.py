"""Disk: what programs of an end host read from or write to, as a rate.

The kernel module ``disk`` (images/kernel/devices) is that disk. Storage is a rate here, and what
lies between a program and the disk is a number of bytes: no seeks, no file system and no bus that
disk and network share.
"""

from __future__ import annotations

from dataclasses import dataclass

#: The most that is read ahead, or waits to be written, in bytes.
CACHE_BYTES_RANGE = (0, 1 << 40)


@dataclass(frozen=True)
class Disk:
    """The disk of each sending or of each receiving host.

    ``rate_bps``: at which it reads or writes, in bit/s. ``cache_bytes``: how far a disk that is
    read may be ahead of the program (read-ahead), or one that is written behind it (write-back).
    """

    rate_bps: int
    cache_bytes: int
