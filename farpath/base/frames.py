"""Frames: data frames with fixed columns, their hash, and reading them from Parquet files.

``columns`` maps the name of each column to its type: ``str``, ``int`` or ``float``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Protocol

from farpath.base.errors import CheckFailedError, FarpathError, MachineLacksError
from farpath.base.free_memory import available_bytes
from farpath.base.parquet_pages import uncompressed_bytes

if TYPE_CHECKING:
    import pandas as pd
    from pyarrow.parquet import ColumnChunkMetaData, FileMetaData

#: Memory of a number while a table is read, converted and hashed: four copies of 8 bytes.
MEMORY_PER_CELL = 32
#: Largest tables for which the memory of the machine is not checked.
FEW_ROWS = 100_000
#: Largest cell and page header in bytes before compression: names are shorter, numbers have 8.
MOST_CELL_BYTES, MOST_PAGE_BYTES = 128, 1 << 16
_PARQUET_TYPES = {"str": "BYTE_ARRAY", "float": "DOUBLE", "int": "INT64"}
_TYPES = {"str": "object", "float": "float64", "int": "int64"}


class Digest(Protocol):
    """A hash object of hashlib."""

    def update(self, data: bytes, /) -> None:
        """Feed bytes into the hash."""


def typed_frame(
    columns: Mapping[str, str],
    data: Sequence[tuple[object, ...]] | Mapping[str, Any] | pd.DataFrame,
) -> pd.DataFrame:
    """Build a data frame with exactly these columns, in this order and of these types."""
    import pandas as pd

    frame = pd.DataFrame(data, columns=list(columns))
    return frame.astype({column: _TYPES[type_name] for column, type_name in columns.items()})


def add_to_hash(digest: Digest, name: str, columns: Mapping[str, str], frame: pd.DataFrame) -> None:
    """Add a table to a hash, in the format that ``farpath.record.record.fingerprint`` defines."""
    import numpy as np

    digest.update(f"{name} {len(frame)}\n".encode())
    for column, type_name in columns.items():
        digest.update(f"{column} {type_name}\n".encode())
        if type_name == "str":
            digest.update("".join(f"{text}\n" for text in frame[column]).encode())
        elif type_name == "int":
            digest.update(frame[column].to_numpy().astype("<i8").tobytes())
        else:
            values = frame[column].to_numpy().astype("<f8") + 0.0
            values[np.isnan(values)] = np.frombuffer(bytes(6) + b"\xf8\x7f", "<f8")[0]
            digest.update(values.tobytes())


def read_frame(
    file: FilePath, columns: Mapping[str, str], most_rows: int | None = None
) -> pd.DataFrame:
    """Read a table from its Parquet file, after a check of its size.

    ``most_rows``: of its plan; None if the plan sets no bound. Raises CheckFailedError if
    it is damaged or larger, and MachineLacksError for a table that needs more memory than is free.
    """
    from pyarrow import parquet

    if not file.is_file():
        raise CheckFailedError(
            f"{file}: the record lacks this table, or it is no regular file: the record was "
            "changed; repeat the run"
        )
    try:
        with parquet.ParquetFile(file) as table:
            _check_size(file, table.metadata, columns, most_rows)
            read = table.read(columns=list(columns)).to_pandas(ignore_metadata=True)
        return typed_frame(columns, read)
    except FarpathError:
        raise
    except Exception as error:  # pyarrow raises its own types for a damaged file
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CheckFailedError(
            f"{file}: is not a table of samples ({reason}): the record was changed; repeat the run"
        ) from error


def _page_bytes(file: FilePath, chunk: ColumnChunkMetaData) -> int:
    """Return the uncompressed size that the pages of a column state; the footer may state less."""
    # Pages of no values are never read, and their offsets are not set
    if not chunk.num_values:
        return 0
    offsets = (chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
    return uncompressed_bytes(file, min(offsets), chunk.total_compressed_size)


def _check_size(
    file: FilePath, metadata: FileMetaData, columns: Mapping[str, str], most_rows: int | None
) -> None:
    """Check the sizes that a table states: small files can need much memory."""
    rows = metadata.num_rows
    if most_rows is not None and rows > most_rows:
        raise CheckFailedError(
            f"{file}: has {rows:,} rows, and its plan allows at most {most_rows:,}: the record was "
            "changed; repeat the run"
        )
    needed_bytes = MEMORY_PER_CELL * rows * len(columns)
    for group in (metadata.row_group(number) for number in range(metadata.num_row_groups)):
        most_bytes = MOST_CELL_BYTES * group.num_rows + MOST_PAGE_BYTES
        for chunk in (group.column(number) for number in range(group.num_columns)):
            if chunk.path_in_schema not in columns:
                continue
            wanted = _PARQUET_TYPES[columns[chunk.path_in_schema]]
            # Texts of a table without rows have no type
            if (
                (group.num_rows and chunk.physical_type != wanted)
                or chunk.num_values != group.num_rows
                or chunk.total_uncompressed_size > most_bytes
                or _page_bytes(file, chunk) > most_bytes
            ):
                raise CheckFailedError(
                    f"{file}: its column {chunk.path_in_schema} is of another type, or larger than "
                    "its rows can be: the record was changed; repeat the run"
                )
    if rows > FEW_ROWS and needed_bytes > (free_bytes := available_bytes()):
        raise MachineLacksError(
            f"{file}: its {rows:,} rows need {needed_bytes >> 20} MiB of memory, and "
            f"{free_bytes >> 20} are free: free some; if the run was not so large, the record was "
            "changed"
        )
