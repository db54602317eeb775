"""``farpath show`` of captures: those of a record, or files of other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError

if TYPE_CHECKING:
    from farpath.report.capture_report import Captures

#: Default directory of pictures and pages.
GRAPHS = FilePath("graphs")
#: Places of a record that stand for both hosts, the client's first.
_CLIENT, _SERVER = "sender", "receiver"


def show_captures(
    places: Sequence[FilePath], graph: str, connection: str, span: str, out: FilePath, as_json: bool
) -> None:
    """Print the connections of captures; with a graph, also draw one of them."""
    from farpath.report.capture_report import Question, capture_report

    report = capture_report(captures_at(places), Question(graph, connection, span))
    report.write(out)
    report.print(out, as_json)


def captures_at(places: Sequence[FilePath]) -> Captures:
    """Return the captures at these places: a record's, or one or two files.

    Raises BadInputError for a record without captures, and for a record beside a file.
    """
    from farpath.report.capture_report import Captures

    if len(places) == 1 and places[0].is_dir():
        return _of_record(places[0])
    for place in places:
        if place.is_dir():
            raise BadInputError(
                problem=f"{place} is a directory", remedy="give one record, or one or two captures"
            )
    if len(places) > 2:
        raise BadInputError(
            problem=f"{len(places)} captures were given", remedy="give one, or those of both hosts"
        )
    return Captures(places[0].name, tuple(places))


def _of_record(directory: FilePath) -> Captures:
    from farpath.mechanisms.capture.capture_files import captured_files
    from farpath.mechanisms.mechanism import Recorded
    from farpath.record.program_record import EXEC_FILE, load_program_record
    from farpath.record.record import load_record
    from farpath.record.service_record import UP_FILE
    from farpath.report.capture_report import Captures

    if (directory / UP_FILE).is_file():
        raise BadInputError(
            problem=f"{directory} is a record of services, which has no captures",
            remedy="give a record of `farpath run` or `farpath exec`, or a capture",
        )
    record: Recorded
    if (directory / EXEC_FILE).is_file():
        record = load_program_record(directory)
    else:
        record = load_record(directory)
    files = captured_files(record)
    if not files:
        raise BadInputError(
            problem=f"{directory} has no captures",
            remedy="make the run again with `capture=sender,receiver`: its packets are the same",
        )
    client = files.get(_CLIENT) or next(iter(files.values()))
    server = files.get(_SERVER, client)
    return Captures(
        directory.resolve().name, (client,) if server == client else (client, server), True
    )
