"""Progress of programs: a client's virtual time, and programs that poll in a loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from farpath.spec.programs import CLIENT_HOST

#: Real seconds until the first line, and between two.
FIRST_S, AGAIN_S = 20.0, 60.0
#: From this part of a stretch of virtual time on, a loop is named as the cause of its length.
LOOP_PART = 0.5


class ProgramProgress:
    """Says now and then how far the programs of a lab have come, from the lab's events.

    ``say``: called with each line. ``timeout_s``: the client's limit in virtual s.
    """

    def __init__(self, timeout_s: float, say: Callable[[str], None]) -> None:
        self._timeout_s = timeout_s
        self._say = say
        self._began_s = time.monotonic()
        self._due_s = self._began_s + FIRST_S
        self._t_s: float | None = None
        self._silence_s = 0.0
        self._stands = False
        self._lookers: Sequence[Mapping[str, Any]] = ()
        self._said_s = 0.0
        self._said_took_s: Mapping[tuple[str, int], float] = {}

    def watch(self, event: Mapping[str, Any]) -> None:
        """Note an event of the lab, and say how far it is if that is due."""
        if event["event"] == "progress":
            self._t_s, self._silence_s, self._stands = event["t_s"], 0.0, False
            self._lookers = event["lookers"]
        if event["event"] == "waiting":
            self._stands = event["silence_s"] == self._silence_s
            self._silence_s = event["silence_s"]
        if time.monotonic() >= self._due_s:
            self._due_s = time.monotonic() + AGAIN_S
            self._say(f"after {time.monotonic() - self._began_s:.0f} s: {self.text()}")
            self._said_s = self._t_s or 0.0
            self._said_took_s = {_place(one): one["took_s"] for one in self._lookers}

    @property
    def took_s(self) -> float | None:
        """The client's virtual time so far, in s; None if it has not started yet."""
        return None if self._t_s is None else self._t_s + self._silence_s

    def text(self) -> str:
        """Return the client's virtual time, and the reason for the wait since the last line."""
        if self.took_s is None:
            return "the client has not started yet"
        stands = " (programs compute, which takes no virtual time)" if self._stands else ""
        most = f"of at most {self._timeout_s:g} virtual s"
        text = f"{self.took_s:.6g} {most}{stands}"
        loop = self._loop(self._said_s, self._said_took_s)
        return f"{text}; {loop}" if loop else text

    def loop(self) -> str:
        """Return the program that polled in a loop for most of the time; empty for none."""
        return self._loop(0.0, {})

    def _loop(self, since_s: float, before: Mapping[tuple[str, int], float]) -> str:
        def took_s(looker: Mapping[str, Any]) -> float:
            return float(looker["took_s"] - before.get(_place(looker), 0.0))

        least_s = LOOP_PART * ((self._t_s or 0.0) - since_s)
        most = max(self._lookers, key=took_s, default=None)
        if most is None or least_s <= 0 or took_s(most) < least_s:
            return ""
        whose = "the client's" if most["host"] == CLIENT_HOST else "a server's"
        return (
            f"{whose} program '{most['command']}' polls or reads the clock in a loop, "
            f"{most['looks']:,} times so far"
        )


def _place(looker: Mapping[str, Any]) -> tuple[str, int]:
    return str(looker["host"]), int(looker["process"])
