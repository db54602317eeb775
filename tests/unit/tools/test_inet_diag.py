"""sock_diag: what is asked of the kernel, and how its answers are taken apart."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from farpath.tools import inet_diag, netlink
from farpath.tools import tcp_info as tcpinfo
from tests.support.sock_diag import FIRST, SECOND, diag_error, diag_message, packed_tcp_info

EXTENSION = b"what a later kernel adds"


def test_a_request_is_the_kernels_structure() -> None:
    request = inet_diag.request(socket.AF_INET)
    assert len(request) == 16 + 56
    assert struct.unpack_from("=IHH", request) == (72, 20, 0x301)
    # family, TCP, struct tcp_info, established connections
    assert struct.unpack_from("=BBBxI", request, 16) == (2, 6, 0b10, 0b10)
    (answer,) = inet_diag.parse_messages(diag_message(FIRST, 5, packed_tcp_info()))
    one = inet_diag.request(socket.AF_INET, answer.identity)
    assert struct.unpack_from("=IHH", one) == (72, 20, 0x1)
    assert one[24:] == answer.identity


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_answers_are_taken_apart(family: int) -> None:
    info = packed_tcp_info(snd_cwnd=10, bytes_acked=1 << 40)
    datagram = diag_message(FIRST, 1, info + EXTENSION, 4, family) + diag_message(SECOND, 2, b"")
    first, second = inet_diag.parse_messages(datagram + diag_error(errno.ENOENT)[:0])
    assert (first.remote_port, first.state, first.cookie) == (FIRST, 4, 1)
    assert first.tcp_info == info + EXTENSION
    assert tcpinfo.bytes_acked(first.tcp_info) == 1 << 40
    assert (second.remote_port, second.tcp_info) == (SECOND, b"")


def test_a_refusal_has_its_number_and_a_cut_message_is_an_error() -> None:
    (refused,) = inet_diag.parse_messages(diag_error(errno.ENOENT))
    assert (refused.message_type, refused.error) == (netlink.NLMSG_ERROR, errno.ENOENT)
    with pytest.raises(ValueError, match="netlink message"):
        list(inet_diag.parse_messages(diag_message(FIRST, 1, packed_tcp_info())[:-4]))
