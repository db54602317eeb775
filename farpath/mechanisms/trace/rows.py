"""Trace rows: the file of a tracer of the guest, as numpy arrays."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from farpath.base.errors import LabFailedError
from farpath.tools.tcp_info import BLOCK, FIELDS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def row_type() -> np.dtype[Any]:
    """Return the NumPy type of a row, packed."""
    import numpy as np

    types = {"B": "u1", "I": "<u4", "Q": "<u8"}
    head = [("tick", "<u4"), ("port", "<u2"), ("tcp_state", "u1"), ("", "u1"), ("cookie", "<u8")]
    return np.dtype([*head, *((name, types[code]) for name, code in FIELDS)])


def parse(data: bytes) -> tuple[dict[str, Any], Iterator[npt.NDArray[np.void]]]:
    """Parse a file of ``tcp_info.Rows.parts``; return its header and an array for each block.

    Raises LabFailedError if the data is cut short or in another format.
    """
    head, newline, rest = data.partition(b"\n")
    try:
        header = json.loads(head)
    except ValueError as error:
        raise LabFailedError("the trace has no header line") from error
    if not newline or not isinstance(header, dict):
        raise LabFailedError("the trace has no header line")
    return header, _blocks(rest)


def _blocks(data: bytes) -> Iterator[npt.NDArray[np.void]]:
    import numpy as np

    at, dtype = 0, row_type()
    while at < len(data):
        try:
            (length,) = BLOCK.unpack_from(data, at)
            rows = zlib.decompress(data[at + BLOCK.size : at + BLOCK.size + length])
            yield np.frombuffer(rows, dtype)
        except (struct.error, zlib.error, ValueError) as error:
            raise LabFailedError(f"the trace is broken after {at} bytes: {error}") from error
        at += BLOCK.size + length
