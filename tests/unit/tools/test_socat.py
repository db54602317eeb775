"""socat: what the sources of background traffic are told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from farpath.tools import socat


@given(
    rate_bps=st.integers(100_000, 10_000_000_000),
    mtu_bytes=st.integers(576, 9000),
    ip_version=st.sampled_from([4, 6]),
)
def test_datagrams_make_full_packets_only_and_fit_into_udp(
    rate_bps: int, mtu_bytes: int, ip_version: int
) -> None:
    payload = socat.datagram_bytes(rate_bps, mtu_bytes, ip_version) + socat.UDP_HEADER_BYTES
    room = (mtu_bytes - socat.IP_HEADER_BYTES[ip_version]) // 8 * 8
    assert payload % room == 0
    assert payload + socat.IP_HEADER_BYTES[ip_version] <= socat.LARGEST_PACKET_BYTES


def test_each_source_sends_from_a_port_of_its_own() -> None:
    texts = {" ".join(socat.arguments(number, 1_000_000, 1500, "10.0.0.9")) for number in range(4)}
    assert len({text.split("sourceport=")[1].split(",")[0] for text in texts}) == 4


def test_the_source_of_an_ipv6_path_is_told_an_address_in_brackets() -> None:
    assert "UDP6:[fd00::ffff]:9," in socat.arguments(0, 10**8, 1500, "fd00::ffff", 6)[-1]
