"""traceroute: its lines, captured in the lab, probes without an answer, and answers of error."""

from __future__ import annotations

import pytest

from farpath.base.errors import LabFailedError
from farpath.tools import traceroute
from tests.support.data import captured


def test_hops_are_read_with_name_address_and_the_rtt_of_each_probe() -> None:
    hops = traceroute.parse(captured("traceroute/cern.txt"))
    assert [hop.number for hop in hops] == list(range(1, 11))
    assert hops[4] == traceroute.Hop(5, ("chicago.esnet",), ("10.5.255.1",), (0.0, 0.0, 0.0))
    assert hops[9].names == ("receiver",)
    assert hops[9].rtts_ms == (164.001, 164.001, 164.001)


def test_probes_may_be_lost_or_answered_by_several_routers_or_with_an_error() -> None:
    silent, two, refused = traceroute.parse(
        "traceroute to receiver (fd00:0:0:3::1), 3 hops max, 80 byte packets\n"
        " 1  * * *\n"
        " 2  a (fd00::ff01)  0.001 ms * b (fd00::ff02)  0.002 ms\n"
        " 3  c (10.3.255.1)  0.001 ms !H  0.001 ms !H *\n"
    )
    assert (str(silent), silent.rtts_ms) == ("*", ())
    assert (str(two), two.addresses, two.rtts_ms) == (
        "a b",
        ("fd00::ff01", "fd00::ff02"),
        (0.001, 0.002),
    )
    assert (str(refused), refused.rtts_ms) == ("c !H", (0.001, 0.001))


def test_a_traceroute_that_did_not_begin_is_a_failed_lab() -> None:
    with pytest.raises(LabFailedError, match="ended before it printed a hop"):
        traceroute.parse("traceroute to receiver (10.9.0.1), 9 hops max, 60 byte packets\n")
