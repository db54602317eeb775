"""Page loads: what the clients of ``web`` print, curl's times and the qlog of an HTTP/3 client.

curl's times are those of its ``--write-out``. The events of qlog are those of
draft-ietf-quic-qlog-quic-events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import LabFailedError

_MARK = re.compile(r"page (?P<version>[0-9.]+) (?P<what>begins|ends) (?P<time_s>[0-9.]+)")
#: Streams of requests are those of the client that go both ways (RFC 9000, 2.1).
_STREAM_KINDS, _REQUEST_KIND = 4, 0


@dataclass(frozen=True)
class PageLoad:
    """The load of a page over a version of HTTP, its times in s since the client's start.

    ``handshake_s``: when the first connection could carry a request. ``first_byte_s``: when the
    first answer began. ``load_s``: when the last object was there. ``connections``: opened ones.
    """

    version: str
    handshake_s: float
    first_byte_s: float
    load_s: float
    connections: int

    @property
    def name(self) -> str:
        """The version for people."""
        return f"HTTP/{self.version}"


def parse(text: str) -> tuple[PageLoad, ...]:
    """Return the page loads of a client's output; raises LabFailedError if it is damaged."""
    loads, version, begin_s = [], "", 0.0
    lines: list[str] = []
    for line in text.splitlines():
        mark = _MARK.fullmatch(line)
        if mark is None:
            # Records of JSON-SEQ begin with a separator (RFC 7464), at which lines end too
            lines += [line] if line else []
        elif mark["what"] == "begins":
            version, begin_s, lines = mark["version"], float(mark["time_s"]), []
        elif mark["version"] == version:
            loads.append(_page_load(version, float(mark["time_s"]) - begin_s, lines))
    if not loads:
        raise LabFailedError("the client loaded no page", text[-2000:])
    return tuple(loads)


def _page_load(version: str, load_s: float, lines: Sequence[str]) -> PageLoad:
    try:
        if lines and lines[0].startswith("{"):
            return _of_qlog(version, load_s, [json.loads(line) for line in lines])
        return _of_curl(version, load_s, [line.split() for line in lines])
    except (KeyError, IndexError, ValueError) as error:
        raise LabFailedError(
            f"the client's times over HTTP/{version} are damaged", "\n".join(lines[-20:])
        ) from error


def _of_curl(version: str, load_s: float, rows: Sequence[Sequence[str]]) -> PageLoad:
    """Return a load by the lines of curl's transfers; raises ValueError without a connection."""
    transfers = [row[1:] for row in rows if row[:1] == ["transfer"]]
    spoken = {row[0] for row in transfers}
    if spoken != {version}:
        raise ValueError(f"curl spoke HTTP/{', HTTP/'.join(sorted(spoken))}")
    opened = [row for row in transfers if int(row[1])]
    return PageLoad(
        version,
        min(float(row[2]) for row in opened),
        min(float(row[3]) for row in opened),
        load_s,
        sum(int(row[1]) for row in opened),
    )


def _of_qlog(version: str, load_s: float, events: Sequence[dict[str, Any]]) -> PageLoad:
    """Return a load by the events of one connection; raises ValueError without an answer."""
    packets = [event for event in events if str(event.get("name", "")).startswith("transport:pack")]
    sent = [one for one in packets if one["name"] == "transport:packet_sent"]
    requests = [one for one in sent if one["data"]["header"]["packet_type"] == "1RTT"]
    answers = [
        one
        for one in packets
        if one["name"] == "transport:packet_received"
        and any(map(_is_answer, one["data"]["frames"]))
    ]
    return PageLoad(
        version,
        min(one["time"] for one in requests) / 1e3,
        min(one["time"] for one in answers) / 1e3,
        load_s,
        1,
    )


def _is_answer(frame: dict[str, Any]) -> bool:
    kind = int(frame["stream_id"]) % _STREAM_KINDS if frame["frame_type"] == "stream" else None
    return kind == _REQUEST_KIND
