"""Captures of a run: files of packets, which are checked and moved into its record."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import LabFailedError
from farpath.mechanisms.mechanism import Recorded
from farpath.spec import capture_sizes
from farpath.spec.plan import Plan
from farpath.spec.protocol import CAPTURES_DIR
from farpath.tools import pcapng
from topologies import lay_out

NAME = "captures"


@dataclass(frozen=True)
class CapturedFile:
    """One file of packets.

    ``port``: interface. ``packets``: in the file. ``missed``: packets that passed and are not in
    it.
    """

    file: FilePath
    port: str
    snap_bytes: int
    packets: int
    missed: int

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of record.json that describes the file."""
        return {
            "port": self.port,
            "snap_bytes": self.snap_bytes,
            "packets": self.packets,
            "missed": self.missed,
        }


def from_raw(raw_dir: FilePath, plan: Plan) -> dict[str, CapturedFile]:
    """Return a run's captures by place; raises LabFailedError if one is missing or cut short."""
    if not plan.captures:
        return {}
    ports = capture_sizes.ports(lay_out(plan))
    captured = {}
    for one in plan.captures:
        file = raw_dir / CAPTURES_DIR / one.file
        try:
            with file.open("rb") as stream:
                stream.seek(-pcapng.STATISTICS_BYTES, 2)
                counts = pcapng.parse_end(stream.read())
        except OSError as error:
            raise LabFailedError(f"the lab left no capture of {one.place} in {file}") from error
        except LabFailedError as error:
            raise LabFailedError(f"{one.file}: {error.message}") from error
        port = ports[one.place].name
        captured[one.place] = CapturedFile(
            file, port, one.snap_bytes, counts.packets, counts.missed
        )
    return captured


def missed_packets(captured: Mapping[str, CapturedFile]) -> list[str]:
    """Return a warning for each capture that lacks packets."""
    return [
        f"the capture of {place} lacks {one.missed:,} packets of {one.packets + one.missed:,}: "
        "there were more than it had room for"
        for place, one in captured.items()
        if one.missed
    ]


def captured_files(record: Recorded) -> dict[str, FilePath]:
    """Return the files of captured packets of a record, by place."""
    files = {one.place: one.file for one in record.plan.captures}
    return {
        place: record.directory / CAPTURES_DIR / files[place] for place in record.data.get(NAME, {})
    }


def capture_lines(record: Recorded) -> list[str]:
    """Return a line for each capture with its file and its packets."""
    return [
        f"capture     {file} ({record.data[NAME][place]['packets']:,} packets)"
        for place, file in captured_files(record).items()
    ]


def write(captured: Mapping[str, CapturedFile], directory: FilePath) -> None:
    """Copy the files into a record's directory."""
    (directory / CAPTURES_DIR).mkdir()
    for one in captured.values():
        shutil.copyfile(one.file, directory / CAPTURES_DIR / one.file.name)
