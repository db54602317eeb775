"""Pages of a Parquet column: the size that each states after decompression.

A reader reserves that much and decompresses into it before any check, whatever the file's footer
says. Source: https://github.com/apache/parquet-format (PageHeader in parquet.thrift), written in
Thrift's compact protocol (thrift-compact-protocol.md in apache/thrift).
"""

from __future__ import annotations

import mmap
from pathlib import Path as FilePath

#: Fields of PageHeader, each an i32.
_UNCOMPRESSED_FIELD, _COMPRESSED_FIELD = 2, 3
#: Types of the compact protocol, from 1 on; 0 ends a struct.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_DOUBLE_BYTES = 8
#: A list's size that says that the size follows as a number.
_LONG = 15
#: Most bytes of a number of 64 bits, 7 bits in each.
_MOST_VARINT_BYTES = 10


def uncompressed_bytes(file: FilePath, start: int, compressed_bytes: int) -> int:
    """Return the sum of the sizes of a column's pages after decompression, by their own headers.

    ``start``: offset of the first page. ``compressed_bytes``: of all pages with their headers.
    Raises ValueError or LookupError if there are no such pages.
    """
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        total, position = 0, start
        while position < start + compressed_bytes:
            header = _Reader(data, position)
            sizes = header.struct()
            uncompressed, compressed = sizes[_UNCOMPRESSED_FIELD], sizes[_COMPRESSED_FIELD]
            if min(uncompressed, compressed) < 0:
                raise ValueError("a page's header has a negative size")
            total += uncompressed
            position = header.position + compressed
    return total


class _Reader:
    """A reader of values in the compact protocol, from a position on."""

    def __init__(self, data: mmap.mmap, position: int) -> None:
        self.data = data
        self.position = position

    def byte(self) -> int:
        self.position += 1
        return self.data[self.position - 1]

    def varint(self) -> int:
        number = 0
        for shift in range(0, 7 * _MOST_VARINT_BYTES, 7):
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
        raise ValueError("a page's header has a number that does not end")

    def zigzag(self) -> int:
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def struct(self) -> dict[int, int]:
        """Read a struct; return its fields that are i32, by their numbers."""
        found: dict[int, int] = {}
        field = 0
        while head := self.byte():
            step, kind = head >> 4, head & 0x0F
            field = field + step if step else self.zigzag()
            if kind == _I32:
                found[field] = self.zigzag()
            elif kind not in (_TRUE, _FALSE):
                self.skip(kind)
        return found

    def skip(self, kind: int) -> None:
        if kind in (_TRUE, _FALSE, _BYTE):
            self.byte()
        elif kind in (_I16, _I32, _I64):
            self.varint()
        elif kind == _DOUBLE:
            self.position += _DOUBLE_BYTES
        elif kind == _BINARY:
            size = self.varint()
            self.position += size
        elif kind in (_LIST, _SET):
            head = self.byte()
            size = head >> 4 if head >> 4 != _LONG else self.varint()
            self.skip_each(size, head & 0x0F)
        elif kind == _MAP:
            if size := self.varint():
                kinds = self.byte()
                self.skip_each(size, kinds >> 4, kinds & 0x0F)
        elif kind == _STRUCT:
            self.struct()
        else:
            raise ValueError("a page's header has a value of no known type")

    def skip_each(self, size: int, *kinds: int) -> None:
        for _ in range(size):
            for kind in kinds:
                self.skip(kind)
