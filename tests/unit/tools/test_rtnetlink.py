"""Qdiscs by rtnetlink: requests, and answers as tc would print them."""

from __future__ import annotations

from farpath.tools import bottleneck, dualpi2, netlink, rtnetlink
from farpath.tools.netlink import HEADER, attribute, attributes
from farpath.tools.tc import marks_of

DUALPI2 = {"limit": 660, "target": 10_000, "coupling_factor": 3, "any_ect": 1, "drop_enqueue": 0}
LINK = {"rate_bps": 10_000_000_000, "limit_bytes": 5_000_000}


def _answer(request: bytes, statistics: bytes) -> bytes:
    """What the kernel answers for the options of a request, with some statistics."""
    body = request[HEADER.size :]
    stats = attribute(rtnetlink.TCA_STATS_BASIC, rtnetlink.BASIC.pack(1514, 1))
    stats += attribute(rtnetlink.TCA_STATS_QUEUE, rtnetlink.QUEUE.pack(2, 3028, 5, 0, 9))
    stats += attribute(rtnetlink.TCA_STATS_APP, statistics)
    body += attribute(rtnetlink.TCA_STATS2, stats)
    return HEADER.pack(HEADER.size + len(body), rtnetlink.RTM_NEWQDISC, 0, 0, 0) + body


def _dualpi2() -> bytes:
    options = dualpi2.options(DUALPI2)
    return rtnetlink.create_request(7, 0x100000, 0x10001, "dualpi2", options)


def test_a_request_names_kind_place_and_options() -> None:
    request = _dualpi2()
    length, _, flags, _, _ = HEADER.unpack_from(request)
    assert length == len(request)
    assert flags & netlink.NLM_F_CREATE
    _, interface, handle, parent, _ = rtnetlink.TCMSG.unpack_from(request, HEADER.size)
    assert (interface, handle, parent) == (7, 0x100000, 0x10001)
    found = dict(attributes(request, HEADER.size + rtnetlink.TCMSG.size))
    assert found[rtnetlink.TCA_KIND] == b"dualpi2\0"


def test_an_answer_reads_as_tc_prints_other_qdiscs() -> None:
    statistics = dualpi2.XSTATS.pack(*range(8), -8, *range(9, 12))
    shown = dualpi2.describe(rtnetlink.parse(_answer(_dualpi2(), statistics)))
    assert (shown["kind"], shown["handle"], shown["parent"]) == ("dualpi2", "10:", "1:1")
    assert shown["options"] == {**DUALPI2, "any_ect": True, "drop_enqueue": False}
    assert (shown["qlen"], shown["backlog"], shown["drops"]) == (2, 3028, 5)
    assert (shown["ecn_mark"], shown["credit"]) == (6, -8)
    assert marks_of(shown) == 6


def test_a_link_shows_its_rate_and_limit_among_its_statistics() -> None:
    request = rtnetlink.change_request(
        7, 0x10000, rtnetlink.TC_H_ROOT, "bottleneck", bottleneck.options(LINK)
    )
    answer = _answer(request, bottleneck.STATISTICS.pack(*LINK.values()))
    shown = bottleneck.describe(rtnetlink.parse(answer))
    assert (shown["kind"], shown["root"], shown["options"]) == ("bottleneck", True, LINK)
    assert HEADER.unpack_from(request)[2] & netlink.NLM_F_CREATE == 0


def test_a_change_of_the_rate_names_no_limit() -> None:
    assert bottleneck.options({"rate_bps": 1}) == attribute(1, (1).to_bytes(8, "little"))


def test_the_kinds_that_tc_does_not_know_are_taken_out_of_its_json() -> None:
    output = (
        '[{"kind":"tbf","root":true,"options":{}},{"kind":"bottleneck","root":true},'
        '{"kind":"dualpi2","options":{[Unknown qdisc, optlen=116] }}]'
    )
    assert [qdisc["kind"] for qdisc in rtnetlink.parse_others(output)] == ["tbf"]
