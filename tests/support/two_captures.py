"""Captures of two runs at places, written from the packets that a test gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from farpath.tools import pcapng
from farpath.uses.diff.first_packet import Captured, Place
from tests.support.packet_files import Sent

#: Ethernet addresses of the host that opens connections, and of the other one.
CLIENT_MAC, SERVER_MAC = bytes.fromhex("020000000002"), bytes.fromhex("020000000001")
#: A packet at a time in ns: a segment of TCP, or the bytes of any frame.
Frame = Sent | tuple[int, bytes]


def ethernet(from_client: bool, kind: int = 0x0800) -> bytes:
    """Return a header of Ethernet."""
    ends = (SERVER_MAC, CLIENT_MAC) if from_client else (CLIENT_MAC, SERVER_MAC)
    return b"".join(ends) + kind.to_bytes(2, "big")


def write_capture(file: FilePath, frames: Sequence[Frame]) -> None:
    """Write a capture as the lab does."""
    blocks = [pcapng.head("port", "place", 128)]
    for frame in frames:
        time_ns, data, length = _frame(frame)
        blocks.append(pcapng.packet(time_ns, data, length))
    end_ns = _frame(frames[-1])[0] if frames else 0
    blocks.append(pcapng.statistics(end_ns, len(frames), 0))
    file.write_bytes(b"".join(blocks))


def _frame(frame: Frame) -> tuple[int, bytes, int]:
    if isinstance(frame, Sent):
        data = ethernet(frame.from_client) + frame.ip()
        return frame.time_ns, data, len(data) + frame.length
    time_ns, data = frame
    return time_ns, data, len(data)


def place_of(
    directory: FilePath,
    name: str,
    a: Sequence[Frame],
    b: Sequence[Frame],
    is_host: bool = True,
    sends_first: bool = True,
) -> Place:
    """Return a place with the captures of two runs."""
    captured = []
    for run, frames in (("a", a), ("b", b)):
        file = directory / f"{name}-{run}.pcapng"
        write_capture(file, frames)
        captured.append(Captured(name, file, sends_first))
    return Place(name, captured[0], captured[1], is_host)
