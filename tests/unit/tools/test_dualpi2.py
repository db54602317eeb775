"""dualpi2 by rtnetlink: requests, and answers as tc would print them."""

from __future__ import annotations

from farpath.tools import dualpi2, netlink
from farpath.tools.netlink import HEADER, attribute, attributes
from farpath.tools.tc import marks_of

OPTIONS = {"limit": 660, "target": 10_000, "coupling_factor": 3, "any_ect": 1, "drop_enqueue": 0}


def _answer() -> bytes:
    """What the kernel answers for the options of a request, with some statistics."""
    request = dualpi2.create_request(7, 0x100000, 0x10001, OPTIONS)
    body = request[HEADER.size :]
    stats = attribute(dualpi2.TCA_STATS_BASIC, dualpi2.BASIC.pack(1514, 1))
    stats += attribute(dualpi2.TCA_STATS_QUEUE, dualpi2.QUEUE.pack(2, 3028, 5, 0, 9))
    xstats = dualpi2.XSTATS.pack(*range(8), -8, *range(9, 12))
    stats += attribute(dualpi2.TCA_STATS_APP, xstats)
    body += attribute(dualpi2.TCA_STATS2, stats)
    return HEADER.pack(HEADER.size + len(body), dualpi2.RTM_NEWQDISC, 0, 0, 0) + body


def test_a_request_names_kind_place_and_options() -> None:
    request = dualpi2.create_request(7, 0x100000, 0x10001, OPTIONS)
    length, _, flags, _, _ = HEADER.unpack_from(request)
    assert length == len(request)
    assert flags & netlink.NLM_F_CREATE
    _, interface, handle, parent, _ = dualpi2.TCMSG.unpack_from(request, HEADER.size)
    assert (interface, handle, parent) == (7, 0x100000, 0x10001)
    found = dict(attributes(request, HEADER.size + dualpi2.TCMSG.size))
    assert found[dualpi2.TCA_KIND] == b"dualpi2\0"


def test_an_answer_reads_as_tc_prints_other_qdiscs() -> None:
    shown = dualpi2.parse(_answer())
    assert (shown["kind"], shown["handle"], shown["parent"]) == ("dualpi2", "10:", "1:1")
    assert shown["options"] == {**OPTIONS, "any_ect": True, "drop_enqueue": False}
    assert (shown["qlen"], shown["backlog"], shown["drops"]) == (2, 3028, 5)
    assert (shown["ecn_mark"], shown["credit"]) == (6, -8)
    assert marks_of(shown) == 6


def test_the_remark_of_tc_is_taken_out_of_its_json() -> None:
    output = (
        '[{"kind":"tbf","root":true,"options":{}},'
        '{"kind":"dualpi2","options":{[Unknown qdisc, optlen=116] }}]'
    )
    assert [qdisc["kind"] for qdisc in dualpi2.parse_others(output)] == ["tbf"]
