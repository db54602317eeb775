"""Axes: lists of values for sets of runs, and ranges for searches."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.runs.axes import searched, split_options, split_values


def test_options_with_several_values_are_axes_and_the_others_are_fixed() -> None:
    single, axes = split_options({"rtt": "10ms,50ms", "loss": "0", "stack": None})
    assert (single, axes) == ({"loss": "0"}, {"rtt": ("10ms", "50ms")})


@pytest.mark.parametrize(
    ("name", "given", "typed"),
    [
        ("rtt", "10ms..200ms", "`rtt=10ms,40ms,200ms`"),
        ("rtt", "10..20ms", "`rtt=10ms,15ms,20ms`"),
        ("loss", "0..1%", "`loss=0%,0.5%,1%`"),
        ("mtu", "1500..1501", "`mtu=1500,1501`"),
        ("rtt", "10..20ms,30ms", "`rtt=10ms,15ms,20ms,30ms`"),
    ],
)
def test_a_range_in_the_place_of_a_list_is_refused_with_a_list(
    name: str, given: str, typed: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        split_values(name, given)
    assert (caught.value.option, caught.value.given) == (name, given)
    assert caught.value.remedy == f"list the values, as in {typed}"
    assert "range" in caught.value.problem


def test_a_range_within_words_is_refused_without_a_list_that_would_not_be_one() -> None:
    with pytest.raises(BadInputError) as caught:
        split_values("senders", "rtt=40..160ms")
    assert "=" not in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "given", "typed"),
    [
        ("rtt", "10ms,20ms", "write `rtt=10..20ms`"),
        ("mtu", "9000,1500,4000", "write `mtu=1500..9000`"),
        ("start", "1s,2s", "write `start=1..2s`"),
        ("rtt", "10ms,1s", "write a range, as in 10..200ms"),
        ("rtt", "10ms,10ms", "write a range, as in 10..200ms"),
    ],
)
def test_a_list_in_the_place_of_a_range_is_refused_with_a_range(
    name: str, given: str, typed: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        searched(name, given)
    assert (caught.value.option, caught.value.given) == (name, given)
    assert caught.value.remedy == typed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rate", "100Mbit,30s:20Mbit,60s:100Mbit"),
        ("queue", "fq_codel:target=5ms,ecn"),
        ("capture", "sender,bottleneck:128"),
        ("drop", "packets:7,8"),
        ("sysctl", "net.ipv4.tcp_sack=0,net.ipv4.tcp_dsack=0"),
    ],
)
def test_a_value_with_commas_of_its_own_is_one_value_of_a_search(name: str, text: str) -> None:
    template = searched(name, text)
    assert (template.ranges, template.text({})) == ((), text)
