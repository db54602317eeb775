"""Programs with iperf3's interface: udtperf and users' own senders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from farpath.spec.schedule import Flow

#: What a program may report of an interval: times within twice the longest test there is, and
#: counts that a double holds exactly. What is computed of these stays finite, if no interval
#: that is shorter than the last counts.
LATEST_S = 200_000.0
MOST_COUNTED = 1 << 53
SHORTEST_S = 1e-9


def _options(parameters: Mapping[str, str]) -> list[str]:
    return [
        word
        for name, value in parameters.items()
        for word in (f"--{name.replace('_', '-')}", value)
    ]


def server_arguments(
    program: list[str], flow: Flow, interval_s: float, parameters: Mapping[str, str]
) -> list[str]:
    """The receiving side of one flow: one test, then exit."""
    return [
        *program,
        "--server",
        "--one-off",
        "--port",
        str(flow.port),
        "--interval",
        f"{interval_s:g}",
        "--json",
        *_options(parameters),
    ]


def client_arguments(
    program: list[str], flow: Flow, address: str, interval_s: float, parameters: Mapping[str, str]
) -> list[str]:
    """The sending side of one flow."""
    return [
        *program,
        "--client",
        address,
        "--port",
        str(flow.port),
        "--time",
        f"{flow.stop_s - flow.start_s:.0f}",
        "--interval",
        f"{interval_s:g}",
        "--json",
        *_options(parameters),
    ]


def _number(row: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """A value of an interval, which may be any program's; a number, or an exception."""
    value = row[name] if name in row or default is None else default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a number as '{name}'")
    return value


def time_s(row: Mapping[str, Any], name: str) -> float:
    """A time that a program reports; KeyError or TypeError for what is none, or no test's."""
    value = _number(row, name)
    if not 0 <= value <= LATEST_S:
        raise TypeError(f"a number as '{name}' from 0 to {LATEST_S:g} s: it is {value}")
    return value


def count(row: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """A count that a program reports; KeyError or TypeError for what is none or too large."""
    value = _number(row, name, default)
    if not 0 <= value <= MOST_COUNTED:
        raise TypeError(f"a number as '{name}' from 0 to {MOST_COUNTED}: it is {value}")
    return int(value)
