"""Programs with iperf3's command line and report: udtperf and users' own senders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from farpath.spec.schedule import Flow

#: Limits of the values that a program may report of an interval: times in s within twice the
#: longest test, and counts that a double holds exactly. With intervals shorter than SHORTEST_S
#: left out, everything computed from these values is finite.
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
    """Return the command of a flow's receiver, which serves one test and exits."""
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
    """Return the command of a flow's sender."""
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
    """Return a number of an interval; raises KeyError or TypeError if there is none."""
    value = row[name] if name in row or default is None else default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a number as '{name}'")
    return value


def time_s(row: Mapping[str, Any], name: str) -> float:
    """Return a time in s of an interval.

    Raises KeyError if it is missing and TypeError if it is no number or out of range.
    """
    value = _number(row, name)
    if not 0 <= value <= LATEST_S:
        raise TypeError(f"a number as '{name}' from 0 to {LATEST_S:g} s: it is {value}")
    return value


def count(row: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """Return a count of an interval.

    Raises KeyError if it is missing and TypeError if it is no number or out of range.
    """
    value = _number(row, name, default)
    if not 0 <= value <= MOST_COUNTED:
        raise TypeError(f"a number as '{name}' from 0 to {MOST_COUNTED}: it is {value}")
    return int(value)
