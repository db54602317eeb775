"""Stop: where a run is to be stopped, as plain data that gdb's side reads as JSON."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import BadInputError
from farpath.mechanisms.quantities import MOMENT_S

AT, BREAK, PACKET, MARK, DROP, TIMEOUT, WATCH = (
    *("at", "break", "packet", "mark", "drop", "timeout", "watch"),
)
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_WATCH = re.compile(r"(\w+)\.([A-Za-z_][\w.]*)\s*(<=|>=|==|!=|<|>)\s*(-?[0-9]+)")
_PACKET = re.compile(r"(\w+):(seq=)?([0-9]+)")


@dataclass(frozen=True)
class Stop:
    """Where a run is stopped.

    ``kind``: one of the names above. ``at_s``: of ``AT`` its instant, of an event the first instant
    at which it counts, in s from the schedule's start. ``function``: of ``BREAK``. ``flow``: the
    flow whose event it is; empty for any. ``number``: of ``PACKET`` how many packets with data the
    flow has sent, of ``WATCH`` what is compared with. ``sequence``: of ``PACKET``: ``number`` is a
    byte of the flow, from 0. ``field``, ``comparison``: of ``WATCH``.
    """

    kind: str = AT
    at_s: float = 0.0
    function: str = ""
    flow: str = ""
    number: int = 0
    sequence: bool = False
    field: str = ""
    comparison: str = ""

    @property
    def words(self) -> str:
        """The stop for people."""
        of_flow = f" of {self.flow}" if self.flow else ""
        return {
            AT: f"{self.at_s:.9g} s",
            BREAK: f"{self.function}{of_flow}",
            PACKET: f"{'byte' if self.sequence else 'packet'} {self.number}{of_flow}",
            MARK: f"a mark{of_flow}",
            DROP: f"a drop{of_flow}",
            TIMEOUT: f"a retransmission timeout{of_flow}",
            WATCH: f"{self.flow}.{self.field}{self.comparison}{self.number}",
        }[self.kind]

    def to_json(self) -> dict[str, Any]:
        """Return it as an object of JSON."""
        return dataclasses.asdict(self)


def parse_stop(given: Mapping[str, str | bool | None], flows: Sequence[str]) -> Stop:
    """Return the stop that options name.

    ``given``: by option's name its text, or whether a flag was given; all but one are None or
    False, apart from ``at`` beside an event, which then counts from there on. ``flows``: names of
    the run's flows. Raises BadInputError.
    """
    events = [name for name, value in given.items() if name != AT and value]
    at_s = MOMENT_S.parse(str(given[AT]), AT) if given.get(AT) else None
    if len(events) > 1:
        raise BadInputError(
            problem=f"`{events[0]}` and `{events[1]}` are two places to stop",
            remedy="give one of them",
        )
    if not events:
        if at_s is None:
            raise BadInputError(
                problem="nothing says where to stop",
                remedy="give `at=12.34s`, `break=tcp_enter_loss` or another event",
            )
        return Stop(AT, at_s)
    stop = _PARSERS[events[0]](str(given[events[0]]))
    if stop.flow and stop.flow not in flows:
        raise BadInputError(
            option=events[0],
            given=str(given[events[0]]),
            problem=f"the run has no {stop.flow}",
            remedy=f"its flows are {', '.join(flows)}",
        )
    return dataclasses.replace(stop, at_s=at_s or 0.0)


def parse_break(text: str) -> Stop:
    """Return the stop in a function, of one flow if the text ends with it: tcp_ack:flow1."""
    function, _, flow = text.partition(":")
    if not _FUNCTION.fullmatch(function):
        raise BadInputError(
            option=BREAK, given=text, remedy="it must be a function as tcp_ack, or tcp_ack:flow1"
        )
    return Stop(BREAK, function=function, flow=flow)


def parse_packet(text: str) -> Stop:
    """Return the stop at a packet that a flow sends: its n-th with data, or that of a byte."""
    if not (match := _PACKET.fullmatch(text)) or int(match[3]) < (0 if match[2] else 1):
        raise BadInputError(
            option=PACKET,
            given=text,
            remedy="it must be a flow and a number from 1, as flow1:1000, or flow1:seq=1000000",
        )
    return Stop(PACKET, flow=match[1], number=int(match[3]), sequence=bool(match[2]))


def parse_watch(text: str) -> Stop:
    """Return the stop when a field of a flow's sending socket compares so with a number."""
    if not (match := _WATCH.fullmatch(text)):
        raise BadInputError(
            option=WATCH,
            given=text,
            remedy="it must be a flow, a field of struct tcp_sock, a comparison and a number, as "
            "flow1.snd_cwnd<10",
        )
    return Stop(WATCH, flow=match[1], field=match[2], comparison=match[3], number=int(match[4]))


_PARSERS = {
    BREAK: parse_break,
    PACKET: parse_packet,
    MARK: lambda _text: Stop(MARK),
    DROP: lambda _text: Stop(DROP),
    TIMEOUT: lambda _text: Stop(TIMEOUT),
    WATCH: parse_watch,
}
