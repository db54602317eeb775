"""Packet ring: a packet socket whose packets the kernel writes to memory that is shared with it.

The kernel notes each packet's time itself and wakes nobody, and no timer belongs to the ring
(TPACKET_V2 in Documentation/networking/packet_mmap.rst; TPACKET_V3 has a timer, which would be an
event more in a run).
"""

from __future__ import annotations

import ctypes
import mmap
import socket
import struct
from collections.abc import Iterator

from farpath.spec.capture import slot_bytes

#: From linux/if_packet.h, linux/if_ether.h and asm-generic/socket.h.
SOL_PACKET, PACKET_RX_RING, PACKET_STATISTICS, PACKET_VERSION = 263, 5, 6, 10
TPACKET_V2 = 1
TP_STATUS_KERNEL, TP_STATUS_USER = 0, 1
ETH_P_ALL = 3
SO_ATTACH_FILTER = 26
#: struct tpacket2_hdr: status, length, captured length, offsets, s and ns.
_HEADER = struct.Struct("=IIIHHII")
_STATUS = struct.Struct("=I")
#: BPF's instruction that returns a constant, the bytes to keep of a packet (linux/filter.h).
_RETURN = 0x06
NS_PER_S = 1_000_000_000


class _Filter(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def open_socket() -> socket.socket:
    """Open a packet socket in this network namespace; it receives nothing until it is bound."""
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)


class PacketRing:
    """The packets of one port, with the first ``snap_bytes`` of each."""

    def __init__(self, packets: socket.socket, port: str, snap_bytes: int, slots: int) -> None:
        self.socket = packets
        instruction = ctypes.create_string_buffer(struct.pack("=HBBI", _RETURN, 0, 0, snap_bytes))
        program = _Filter(1, ctypes.addressof(instruction))
        packets.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, bytes(program))
        packets.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        self.slot_bytes = slot_bytes(snap_bytes)
        block_bytes = max(self.slot_bytes, mmap.PAGESIZE)
        self.ring_bytes = slots * self.slot_bytes
        request = struct.pack(
            "=IIII", block_bytes, self.ring_bytes // block_bytes, self.slot_bytes, slots
        )
        packets.setsockopt(SOL_PACKET, PACKET_RX_RING, request)
        self.memory = mmap.mmap(packets.fileno(), self.ring_bytes)
        self.at = 0
        packets.bind((port, ETH_P_ALL))

    def packets(self) -> Iterator[tuple[int, bytes, int]]:
        """Yield the packets that wait: the time in ns of the real-time clock, bytes, length."""
        memory, at = self.memory, self.at
        while True:
            status, length, kept, offset, _, s, ns = _HEADER.unpack_from(memory, at)
            if not status & TP_STATUS_USER:
                break
            start = at + offset
            yield s * NS_PER_S + ns, memory[start : start + kept], length
            _STATUS.pack_into(memory, at, TP_STATUS_KERNEL)
            at = (at + self.slot_bytes) % self.ring_bytes
        self.at = at

    def counts(self) -> tuple[int, int]:
        """Return the packets since the last call, and those of them that found no free slot."""
        packets, dropped = struct.unpack(
            "=II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        )
        return packets, dropped
