"""BACKGROUND: what its texts mean for a path, and which are refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.mechanisms.traffic.sent_traffic import check_background
from farpath.mechanisms.traffic.text import other_traffic_text
from farpath.planning.path_options import resolve_path
from farpath.planning.request import RunRequest
from farpath.spec.background import on_periods, sent_bytes
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.short_flows import ShortFlows


def _path(background: str, rate: str = "100Mbit") -> Path:
    return resolve_path(rtt="50ms", rate=rate, background=background)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("tcp:10%", ShortFlows(10_000_000)),
        ("tcp:0.1", ShortFlows(10_000_000)),
        ("tcp:5Mbit", ShortFlows(5_000_000)),
        ("tcp:rate=5Mbit,most=1MB", ShortFlows(5_000_000, most_bytes=1_000_000)),
        ("tcp:10%, size=100kB, alpha=1.2", ShortFlows(10_000_000, 23_746, alpha=1.2)),
        ("tcp:10%,size=10kB,most=10kB", ShortFlows(10_000_000, 10_000, 10_000)),
        ("tcp:10%,least=2kB,cc=reno", ShortFlows(10_000_000, 2_000, congestion="reno")),
    ],
)
def test_short_flows_have_the_given_rate_and_sizes(text: str, short: ShortFlows) -> None:
    path = _path(text)
    assert (path.short_flows, path.background) == (short, None)
    assert path.sources["short_flows"] == "given"


def test_both_kinds_of_other_traffic_are_joined_by_a_plus() -> None:
    path = _path("cbr:20Mbit+tcp:10%")
    assert path.background is not None
    assert path.short_flows is not None
    assert (path.background.rate_bps, path.short_flows.rate_bps) == (20_000_000, 10_000_000)
    assert _path("tcp:10%+5%") == _path("5%+tcp:10%")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tcp:", "rate needs a value"),
        ("tcp:size=1MB", "how much is missing"),
        ("tcp:10%,sizes=1MB", "'sizes' is none of rate, size, alpha, least, most, cc"),
        ("tcp:10%,alpha=1,alpha=2", "alpha is given twice"),
        ("tcp:95%", "between 0 and 0.9"),
        ("tcp:95Mbit", "it must be at most 90%"),
        ("tcp:0.01%", "at least 100000 bit/s"),
        ("tcp:10%,size=1MB,least=1kB", "not both"),
        ("tcp:10%,size=20MB", "another largest size"),
        ("tcp:10%,least=20MB", "give a larger most"),
        ("tcp:10%,alpha=20", "between 0.1 and 10"),
        ("tcp:10%,alpha=1%", "'%' is no unit of an exponent"),
        ("tcp:10%,cc=htcp_2004", "one of the kernel's own"),
        ("tcp:10%,cc=udt", "one of the kernel's own"),
        ("tcp:10%+tcp:5%", "give tcp: once"),
        ("5%+tcp:10%+cbr:1Mbit", "give one traffic that is unresponsive"),
    ],
)
def test_another_text_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=r"(?i)background") as refused:
        _path(text)
    assert message in refused.value.message
    assert "\n" not in refused.value.message


def test_a_path_s_short_flows_keep_their_part_of_another_rate_and_go_with_none() -> None:
    path = dataclasses.replace(_path("tcp:10%"), name="mine")
    faster = resolve_path(path, rate="200Mbit")
    assert faster.short_flows is not None
    assert faster.short_flows.rate_bps == 20_000_000
    assert "in proportion to RATE" in faster.sources["short_flows"]
    assert resolve_path(path, background="none").short_flows is None


@pytest.mark.parametrize(
    "text", ["none", "25%", "cbr:20Mbit", "tcp:10%,size=50kB", "5%+tcp:3Mbit,alpha=1.3,cc=reno"]
)
def test_the_text_of_a_path_s_other_traffic_gives_it_again(text: str) -> None:
    path = _path(text)
    again = _path(other_traffic_text(path))
    assert (again.background, again.short_flows) == (path.background, path.short_flows)


def test_more_short_flows_than_a_run_can_keep_are_refused() -> None:
    request = RunRequest(rtt="50ms", rate="10Gbit", stack="reno", background="tcp:50%")
    with pytest.raises(BadInputError, match="at most 1,000,000 are possible"):
        request.plan()


def background_sent(plan: Plan, part: float) -> dict[str, Any]:
    assert plan.path.background
    return background_counted(
        part * sent_bytes(plan.path.background, plan.seed, plan.schedule.duration_s)
    )


def background_counted(sent: float) -> dict[str, Any]:
    return {"before": {"background_bytes": 100}, "after": {"background_bytes": 100 + sent}}


def test_what_the_path_has_is_accepted(busy: Plan) -> None:
    check_background(background_sent(busy, 1.0), busy)


def test_the_kernels_sources_send_what_their_turns_allow_and_a_frame_for_each(busy: Plan) -> None:
    background = busy.path.background
    assert background
    duration_s = busy.schedule.duration_s
    allowed = sent_bytes(background, busy.seed, duration_s)
    turns = len(on_periods(background, busy.seed, duration_s))
    check_background(background_counted(allowed + turns * busy.path.frame_bytes), busy)
    with pytest.raises(CheckFailedError, match="background traffic was"):
        check_background(background_counted(allowed + 4 * turns * busy.path.frame_bytes), busy)


@pytest.mark.parametrize(
    ("options", "sent_bytes_more"),
    [
        ({"path": "cern"}, 542_325),
        ({"path": "cern", "seed": "2"}, 438_248),
        ({"rtt": "20ms", "rate": "100Mbit", "background": "0.9"}, 328_651),
        ({"rtt": "20ms", "rate": "100Mbit", "background": "cbr:1Mbit"}, 22_992),
        ({"rtt": "20ms", "rate": "100Mbit", "background": "0.5", "mtu": "9000"}, 614_534),
        ({"rtt": "20ms", "rate": "100Mbit", "background": "0.5", "ip": "6"}, 266_634),
    ],
)
def test_what_sockets_still_send_is_allowed_in_a_short_run_and_no_second_more(
    options: dict[str, str], sent_bytes_more: int
) -> None:
    """What programs of runs of 5 s sent beyond their turns."""
    words = {"region": "5s", "schedule": "together", "stack": "reno", "lab": "host"}
    plan = RunRequest(**words, **options).plan()
    background = plan.path.background
    assert background
    wanted = sent_bytes(background, plan.seed, 5.0)
    check_background(background_counted(wanted + sent_bytes_more), plan)
    another_second = background.mean_rate_bps / 8
    for sent in (wanted + sent_bytes_more + another_second, wanted - another_second):
        with pytest.raises(CheckFailedError, match="background traffic was"):
            check_background(background_counted(sent), plan)


@pytest.mark.parametrize("part", [0.0, 0.5, 1.2])
def test_a_run_with_other_traffic_than_asked_fails(busy: Plan, part: float) -> None:
    with pytest.raises(CheckFailedError, match=r"background traffic was .* MB, not .* MB"):
        check_background(background_sent(busy, part), busy)


def test_a_path_without_background_needs_none(plan: Plan) -> None:
    check_background({}, plan)
