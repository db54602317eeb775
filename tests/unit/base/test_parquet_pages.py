"""Pages of Parquet files: what they say that they hold is known before any is decompressed."""

from __future__ import annotations

from pathlib import Path as FilePath

import pyarrow as pa
import pytest
from pyarrow import parquet

from farpath.base.errors import CheckFailedError
from farpath.base.frames import read_frame
from farpath.base.parquet_pages import uncompressed_bytes

COLUMNS = {"t_s": "float"}
ROWS = 100
#: The most that a page's header can say.
TWO_GIB = (1 << 31) - 1


def number(value: int) -> bytes:
    """A whole number of Thrift's compact protocol, in zigzag."""
    value *= 2
    digits = []
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def write(file: FilePath, **options: object) -> parquet.ColumnChunkMetaData:
    table = pa.table({"t_s": pa.array([float(row % 7) for row in range(ROWS)])})
    parquet.write_table(table, file, **options)
    return parquet.read_metadata(file).row_group(0).column(0)


@pytest.mark.parametrize("compression", ["zstd", "snappy", "none"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_pages_hold_what_the_footer_says_except_their_headers(
    tmp_path: FilePath, compression: str, version: str, dictionary: bool
) -> None:
    file = tmp_path / "table.parquet"
    chunk = write(
        file, compression=compression, data_page_version=version, use_dictionary=dictionary,
        data_page_size=64, write_batch_size=8,
    )  # fmt: skip
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    held = uncompressed_bytes(file, start, chunk.total_compressed_size)
    # Of values in a dictionary only their places, of 3 bits
    assert (7 * 8 if dictionary else 8 * ROWS) <= held < chunk.total_uncompressed_size
    assert len(read_frame(file, COLUMNS, ROWS)) == ROWS


def test_a_page_that_says_more_than_its_rows_can_hold_is_not_decompressed(
    tmp_path: FilePath,
) -> None:
    file = tmp_path / "table.parquet"
    chunk = write(file, compression="zstd", use_dictionary=False, write_statistics=False)
    content = file.read_bytes()
    held = uncompressed_bytes(file, chunk.data_page_offset, chunk.total_compressed_size)
    # A header's first two fields are numbers, of type 5: the page's kind, 0, and its size
    honest, lie = (b"\x15\x00\x15" + number(size) for size in (held, TWO_GIB))
    longer = len(lie) - len(honest)
    before, after = (
        b"\x16" + number(chunk.total_compressed_size + further) for further in (0, longer)
    )
    # The column's size, and that of its group of rows
    assert (content.count(honest), content.count(before)) == (1, 2)
    file.write_bytes(content.replace(honest, lie).replace(before, after))
    with pytest.raises(CheckFailedError, match=r"column t_s is .* larger than its rows can be"):
        read_frame(file, COLUMNS, ROWS)


def test_bytes_that_are_no_pages_are_refused(tmp_path: FilePath) -> None:
    file = tmp_path / "table.parquet"
    for content in (b"PAR1", b"\x15\x00\x15", b"\x15" + b"\xff" * 40, b"\x1e\x00", b"\x00"):
        file.write_bytes(content)
        with pytest.raises((ValueError, LookupError)):
            uncompressed_bytes(file, 0, len(content))
