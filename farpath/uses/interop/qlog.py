"""qlog: what an endpoint says of its own connection, as files of draft-ietf-quic-qlog-quic-events.

Libraries write one of two forms, one JSON object with all events or one object for each event
(JSON-SEQ, RFC 7464), and differ in names of drafts; here they are one. Times and RTTs are in ms.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError

#: The ends of files' names of both forms.
SUFFIXES = (".qlog", ".sqlog")
#: The largest file that is read: some 200,000 packets.
MOST_BYTES = 256 << 20
_SEPARATOR = "\x1e"
#: Names of events and of fields in other drafts, and what they are here.
_EVENTS = {"recovery_metrics_updated": "metrics_updated"}
_FIELDS = {"cwnd": "congestion_window"}
#: Fields with RTTs, and the part of the path's RTT below which none can be in ms.
_RTTS = ("latest_rtt", "min_rtt", "rtt_variance", "smoothed_rtt")
_LEAST_PART = 0.1


@dataclass(frozen=True)
class QlogEvent:
    """An event. ``name``: without the category before the colon; ``data``: its fields."""

    time_ms: float
    name: str
    data: Mapping[str, Any]

    @property
    def packet(self) -> tuple[str, int] | None:
        """Space and number of the packet that it is about; None if it says none."""
        header = self.data.get("header") or {}
        kind = header.get("packet_type", self.data.get("type"))
        number = header.get("packet_number", self.data.get("packet_number"))
        return (space_of(str(kind)), int(number)) if number is not None else None

    @property
    def frames(self) -> list[Mapping[str, Any]]:
        """The frames of the packet that it is about."""
        return [frame for frame in self.data.get("frames") or () if isinstance(frame, dict)]


def space_of(packet_type: str) -> str:
    """Return the space of packet numbers of a packet's type: 0-RTT shares one with 1-RTT.

    RFC 9000, section 12.3.

    >>> space_of("1RTT"), space_of("0RTT"), space_of("one_rtt"), space_of("initial")
    ('data', 'data', 'data', 'initial')
    """
    kind = packet_type.lower().replace("-", "").replace("_", "")
    return kind if kind in ("initial", "handshake", "retry") else "data"


def read_qlog(file: FilePath) -> tuple[QlogEvent, ...]:
    """Return the events of a file in its order; times are from the first one on.

    The last event may be cut off, as the log of a program that was ended. Raises BadInputError for
    a file that is too large or is no qlog.
    """
    if file.stat().st_size > MOST_BYTES:
        raise BadInputError(f"{file.name} is larger than {MOST_BYTES >> 20} MiB")
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        found = [_event(one) for one in _objects(text)]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInputError(f"{file.name} is no qlog: {error}") from error
    if not found:
        raise BadInputError(f"{file.name} has no event")
    start_ms = found[0].time_ms
    return tuple(QlogEvent(one.time_ms - start_ms, one.name, one.data) for one in found)


def in_ms(log: Sequence[QlogEvent], rtt_ms: float) -> Sequence[QlogEvent]:
    """Return a log over a path of that RTT with its RTTs in ms, which some libraries give in s.

    No RTT is below the path's: where the least is below a tenth of it, all are taken as s. Raises
    TypeError or ValueError for one that is no number.
    """
    least = min((float(one.data.get("min_rtt") or rtt_ms) for one in log), default=rtt_ms)
    if least >= _LEAST_PART * rtt_ms:
        return log
    return tuple(dataclasses.replace(one, data=_times_1000(one.data)) for one in log)


def _times_1000(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**data, **{name: 1000 * float(data[name]) for name in _RTTS if data.get(name)}}


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the events of a file's text; raises ValueError for text that has none."""
    if not text.startswith(_SEPARATOR):
        yield from (one for trace in json.loads(text)["traces"] for one in trace["events"])
        return
    header, *lines = filter(str.strip, text.split(_SEPARATOR))
    if "qlog_format" not in json.loads(header):
        raise ValueError("it does not begin with its format")
    for number, line in enumerate(lines, start=1):
        try:
            yield json.loads(line)
        except ValueError:
            if number < len(lines):
                raise


def _event(found: Mapping[str, Any]) -> QlogEvent:
    name = str(found["name"]).rpartition(":")[2]
    data = {_FIELDS.get(field, field): value for field, value in found["data"].items()}
    return QlogEvent(float(found["time"]), _EVENTS.get(name, name), data)


def acknowledged(frame: Mapping[str, Any]) -> Iterator[range]:
    """Yield the packet numbers that an ACK frame names; none of any other frame."""
    if frame.get("frame_type") == "ack":
        for ends in frame.get("acked_ranges") or ():
            yield range(int(ends[0]), int(ends[-1]) + 1)
