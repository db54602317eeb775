"""Frames: data frames with fixed columns, their hash, and reading them from Parquet files.

``columns`` maps the name of each column to its type: ``str``, ``int`` or ``float``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Protocol

from farpath.base.errors import CheckFailedError

if TYPE_CHECKING:
    import pandas as pd

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


def read_frame(file: FilePath, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read a table from its Parquet file; raises CheckFailedError if it is damaged."""
    import pandas as pd

    try:
        return typed_frame(columns, pd.read_parquet(file))
    except Exception as error:  # pyarrow raises its own types for a damaged file
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CheckFailedError(
            f"{file}: is not a table of samples ({reason}): the record was changed; repeat the run"
        ) from error
