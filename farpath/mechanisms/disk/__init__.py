"""Parsers of SOURCE and SINK: the disks that sending programs read and receiving ones write."""

from __future__ import annotations

from farpath.base.errors import BadInputError
from farpath.mechanisms.quantities import RATE_BPS, SIZE_BYTES
from farpath.spec.disk import CACHE_BYTES_RANGE, Disk

KIND = "disk:"
#: What lies between program and disk, by the option.
CACHES = {"SOURCE": "readahead", "SINK": "writeback"}
EXAMPLES = {
    "SOURCE": f"{KIND}445MB/s,readahead=2MB",
    "SINK": f"{KIND}200MB/s,writeback=64MB",
}
#: Read-ahead is that of Linux unless it is set (VM_READAHEAD_PAGES in include/linux/mm.h).
#: Write-back depends on a host's memory there; without any, programs write at the disk's rate.
DEFAULT_BYTES = {"SOURCE": 128 << 10, "SINK": 0}


def parse_disk(text: str, option: str) -> Disk:
    """Parse ``disk:445MB/s`` or ``disk:445MB/s,readahead=2MB``; ``option``: SOURCE or SINK.

    Raises BadInputError for anything else.

    >>> parse_disk("disk:445MB/s,readahead=2MB", "SOURCE")
    Disk(rate_bps=3560000000, cache_bytes=2000000)
    """
    cache = CACHES[option]
    rate, *words = text.strip().removeprefix(KIND).split(",")
    if not text.strip().startswith(KIND) or not rate or len(words) > 1:
        raise BadInputError(
            f"{option} is '{text}': it must be a disk's rate, and {cache} if given, as in "
            f"{EXAMPLES[option]}"
        )
    cache_bytes = DEFAULT_BYTES[option]
    if words:
        name, equals, size = words[0].partition("=")
        if name.strip() != cache or not equals:
            raise BadInputError(
                f"{option} has '{words[0]}': what can be set of its disk is {cache}, as in "
                f"{EXAMPLES[option]}"
            )
        cache_bytes = SIZE_BYTES.parse(size, f"{option}: {cache}", CACHE_BYTES_RANGE)
    return Disk(RATE_BPS.parse(rate, f"{option}: rate"), cache_bytes)


def disk_text(disk: Disk | None, option: str) -> str | None:
    """Return the shortest text that ``parse_disk`` parses to a disk; None for none.

    >>> disk_text(Disk(3_560_000_000, 2_000_000), "SOURCE"), disk_text(Disk(800, 0), "SINK")
    ('disk:445MB/s,readahead=2MB', 'disk:0.0001MB/s')
    """
    if disk is None:
        return None
    text = f"{KIND}{disk.rate_bps / 8e6:.12g}MB/s"
    if disk.cache_bytes == DEFAULT_BYTES[option]:
        return text
    return f"{text},{CACHES[option]}={disk.cache_bytes / 1e6:.12g}MB"
