"""Capturer: a program that writes the packets of some ports of its site to files.

It is run as ``python3 -S -m`` with this module. It reads its configuration from stdin as one line
of JSON (``farpath.spec.capture.CapturerConfig``) and then does as ``farpath.guest.ticks``
says. Its files are in memory: a file system of the host would wait for the machine's disk.

The kernel notes when a packet passed a port, without reading the clock in a way that takes time,
since it is in an interrupt then (timer_read in arch/um/kernel/time.c).
"""

from __future__ import annotations

import os
import socket
import sys

from farpath.guest.system import monotonic_ns_of
from farpath.guest.ticks import Ticks
from farpath.mechanisms.capture.guest.packet_ring import PacketRing
from farpath.spec.capture import INTERVAL_NS, CapturerConfig, RingConfig
from farpath.tools import pcapng


class Writer:
    """Writes the packets of one ring to its file; times count from the schedule's start."""

    def __init__(self, config: RingConfig) -> None:
        packets = socket.socket(fileno=config.descriptor)
        self.ring = PacketRing(packets, config.port, config.snap_bytes, config.slots)
        # A file object would ask for the file's state, and its next change would read the clock
        self.file = os.open(config.file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
        self._write(pcapng.head(config.port, config.place, config.snap_bytes))
        self.left_bytes = config.most_bytes
        self.written = self.missed = self.last_ns = 0

    def write(self, start_ns: int) -> None:
        """Write the packets that wait, as long as there is room.

        ``start_ns``: the schedule's start by the real-time clock.
        """
        blocks = []
        for time_ns, data, length in self.ring.packets():
            if time_ns < start_ns:
                continue
            self.last_ns = time_ns - start_ns
            block = pcapng.packet(self.last_ns, data, length)
            if len(block) > self.left_bytes:
                self.missed += 1
                continue
            self.left_bytes -= len(block)
            blocks.append(block)
        if blocks:
            self.written += len(blocks)
            self._write(b"".join(blocks))

    def close(self) -> None:
        """Write how many packets there were, and close the file."""
        _, without_slot = self.ring.counts()
        missed = self.missed + without_slot
        self._write(pcapng.statistics(self.last_ns, self.written + missed, missed))
        os.close(self.file)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self.file, left) :]


def main() -> None:
    """Capture as the configuration on stdin says."""
    config = CapturerConfig.from_json(sys.stdin.buffer.readline())
    writers = [Writer(ring) for ring in config.rings]
    ticks = Ticks(last_in_line=True)
    real_offset_ns = monotonic_ns_of(0)
    begin_ns = ticks.await_start()
    start_ns = begin_ns - real_offset_ns
    for _ in ticks.until_end(begin_ns, INTERVAL_NS):
        for writer in writers:
            writer.write(start_ns)
    for writer in writers:
        writer.close()


if __name__ == "__main__":
    main()
