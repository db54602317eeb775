"""Transfer: flows that end with a number of bytes, in equal blocks that iperf3 sends and counts."""

from __future__ import annotations

#: Payload that each flow may be told to send, in bytes.
TRANSFER_BYTES_RANGE = (1, 10**11)
#: Sizes of a block in bytes: iperf3's own for TCP, and one that is worth a call of the kernel.
MOST_BLOCK_BYTES, LEAST_BLOCK_BYTES = 131_072, 1_000


def block_bytes(transfer_bytes: int) -> int:
    """Return the largest size of a block, in bytes, of which a transfer holds a whole number.

    A receiving iperf3 counts whole blocks only (Nrecv in src/net.c).

    >>> block_bytes(100_000_000), block_bytes(14_600)
    (125000, 14600)
    """
    most = min(transfer_bytes, MOST_BLOCK_BYTES)
    return next(size for size in range(most, 0, -1) if transfer_bytes % size == 0)


def has_blocks(transfer_bytes: int) -> bool:
    """Whether a transfer is one block, or several that are not too small.

    >>> has_blocks(1), has_blocks(1_000_003)
    (True, False)
    """
    return transfer_bytes <= MOST_BLOCK_BYTES or block_bytes(transfer_bytes) >= LEAST_BLOCK_BYTES
