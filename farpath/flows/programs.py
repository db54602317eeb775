"""Programs with iperf3's interface: udtperf and users' own senders."""

from __future__ import annotations

from collections.abc import Mapping

from farpath.schedule import Flow


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
