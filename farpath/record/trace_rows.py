"""Trace rows: what a tracer of the guest left, as numpy arrays."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from farpath.base.errors import LabFailedError
from farpath.tools.tcp_info import BLOCK, FIELDS


def row_type() -> np.dtype[Any]:
    """A row as numpy has it, packed."""
    types = {"B": "u1", "I": "<u4", "Q": "<u8"}
    head = [("tick", "<u4"), ("port", "<u2"), ("tcp_state", "u1"), ("", "u1"), ("cookie", "<u8")]
    return np.dtype([*head, *((name, types[kind]) for name, kind in FIELDS)])


def parse(data: bytes) -> tuple[dict[str, Any], Iterator[npt.NDArray[np.void]]]:
    """What the tracer wrote of itself, and its rows, an array for each block.

    The form is that of ``farpath.tools.tcp_info.Rows.parts``.

    Raises :class:`LabFailedError` for data that is cut short or none of these.
    """
    head, newline, rest = data.partition(b"\n")
    try:
        about = json.loads(head)
    except ValueError as error:
        raise LabFailedError("the trace does not say what it is of") from error
    if not newline or not isinstance(about, dict):
        raise LabFailedError("the trace does not say what it is of")
    return about, _blocks(rest)


def _blocks(data: bytes) -> Iterator[npt.NDArray[np.void]]:
    at, kind = 0, row_type()
    while at < len(data):
        try:
            (length,) = BLOCK.unpack_from(data, at)
            rows = zlib.decompress(data[at + BLOCK.size : at + BLOCK.size + length])
            yield np.frombuffer(rows, kind)
        except (struct.error, zlib.error, ValueError) as error:
            raise LabFailedError(f"the trace is broken after {at} bytes: {error}") from error
        at += BLOCK.size + length
