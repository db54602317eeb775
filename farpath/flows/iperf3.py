"""iperf3: command lines and the parser of its JSON.

Plain integers everywhere: iperf3 reads suffixes decimally after -b and in
binary after -w and -l (src/units.c, src/iperf_api.c).
"""

from __future__ import annotations

from farpath.schedule import Flow

BLOCK_BYTES = 131_072


def server_arguments(flow: Flow) -> list[str]:
    """The receiving side of one flow: one test, then exit."""
    return ["iperf3", "--server", "--one-off", "--port", str(flow.port), "--interval", "1", "--json"]


def client_arguments(flow: Flow, address: str) -> list[str]:
    """The sending side of one flow."""
    return [
        "iperf3",
        "--client",
        address,
        "--port",
        str(flow.port),
        "--time",
        f"{flow.stop_s - flow.start_s:.0f}",
        "--interval",
        "1",
        "--congestion",
        flow.stack,
        "--length",
        str(BLOCK_BYTES),
        "--zerocopy",
        "--json",
    ]
