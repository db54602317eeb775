"""Record directory: the parts that records of flows and records of programs have in common.

A description (``record.json`` or ``exec.json``), which is written last, and tables as Parquet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, ClassVar

from farpath.base.documents import read_json
from farpath.base.errors import BadInputError, CheckFailedError
from farpath.base.frames import read_frame
from farpath.record.bounds import most_rows
from farpath.record.description import check_hash
from farpath.record.queue_table import further_tables
from farpath.spec.plan import Plan

if TYPE_CHECKING:
    import pandas as pd


def short_fingerprint(fingerprint: str) -> str:
    """Return the digits of a fingerprint that people read, which tell records apart."""
    return fingerprint[:12]


def table_file(directory: FilePath, name: str) -> FilePath:
    """Return the file of a table."""
    return directory / f"{name}.parquet"


def directories_with(directory: FilePath, description: str) -> list[FilePath]:
    """Return the directories of records in a directory, but none in the making.

    ``description``: the name of their description.
    """
    found = [file.parent for file in directory.glob(f"*/{description}")]
    return sorted(record_dir for record_dir in found if not record_dir.name.startswith("."))


def write_tables(directory: FilePath, frames: Mapping[str, pd.DataFrame]) -> None:
    """Write the tables of a record."""
    for name, frame in frames.items():
        frame.to_parquet(table_file(directory, name), index=False)


def require_tables(directory: FilePath, names: Iterable[str], remedy: str) -> None:
    """Raise BadInputError if a record lacks a table."""
    absent = [one.name for name in names if not (one := table_file(directory, name)).is_file()]
    if absent:
        raise BadInputError(
            file=str(directory), problem=f"lacks {', '.join(absent)}", remedy=remedy
        )


@dataclass(frozen=True)
class RecordDirectory:
    """A record in its directory. ``data``: the contents of its description."""

    directory: FilePath
    data: dict[str, Any]

    #: Name of the description, the latest version of its format, and what helps if it was changed.
    DESCRIPTION: ClassVar[str]
    FORMAT: ClassVar[int]
    REMEDY: ClassVar[str]

    @cached_property
    def plan(self) -> Plan:
        """The plan."""
        return Plan.from_dict(self.data["plan"])

    @property
    def fingerprint(self) -> str:
        """The stored SHA-256 over the samples, in hexadecimal."""
        return str(self.data["fingerprint"])

    @property
    def recorded_at(self) -> str:
        """When the record was made, in UTC (ISO 8601); empty if that is unknown."""
        return str(self.data["provenance"].get("recorded_at", ""))

    @cached_property
    def short_flows(self) -> pd.DataFrame | None:
        """The table of short flows, read from disk at first use and checked; None without any.

        Its columns are ``farpath.mechanisms.traffic.short_flow_table.COLUMNS``. Raises
        CheckFailedError if it is not the table that was stored.
        """
        return self._further_table("short_flows")

    def _further_table(self, name: str) -> pd.DataFrame | None:
        """Read a table that only some records have, and check it by its own fingerprint."""
        stored = self.data.get(name)
        if stored is None:
            return None
        table, file = further_tables()[name], table_file(self.directory, name)
        frame = read_frame(file, table.columns, most_rows(self.plan, name))
        if table.fingerprint(frame) != stored["fingerprint"]:
            raise CheckFailedError(f"{file}: the record was changed; repeat the run")
        return frame

    def check_fingerprint(self, computed: str) -> None:
        """Raise CheckFailedError if the fingerprint of the read data is not the stored one."""
        if computed != self.fingerprint:
            raise CheckFailedError(
                f"{self.directory}: the fingerprint of its data is {computed[:12]}..., stored is "
                f"{short_fingerprint(self.fingerprint)}...: {self.REMEDY}"
            )

    @classmethod
    def read(
        cls, directory: FilePath, check: Callable[[Mapping[str, Any]], None]
    ) -> dict[str, Any]:
        """Read the description in a directory.

        ``check``: raises BadInputError for a wrong field. Raises BadInputError if it is missing,
        damaged or of a newer format, and CheckFailedError if its hash is not that of its content.
        """
        file = directory / cls.DESCRIPTION
        data = read_json(file, cls.REMEDY)
        if not isinstance(data, dict) or "format_version" not in data:
            raise BadInputError(
                file=str(file), problem="does not describe a record", remedy=cls.REMEDY
            )
        version = data["format_version"]
        if type(version) is not int or not 1 <= version <= cls.FORMAT:
            raise BadInputError(
                problem=f"{file}: has format version {version!r}, this farpath reads 1 to "
                f"{cls.FORMAT}",
                remedy="use a newer farpath",
            )
        try:
            check(data)
        except BadInputError as error:
            raise BadInputError(file=str(file), problem=error.message, remedy=cls.REMEDY) from error
        check_hash(data, file, cls.REMEDY)
        return data
