"""Units: what people write becomes plain numbers, or one clear line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import BadInputError
from farpath.planning import quantities
from farpath.spec.path import RATE_BPS_RANGE, RTT_MS_RANGE

PARSERS = [
    quantities.parse_rtt_ms,
    quantities.parse_duration_s,
    quantities.parse_rate_bps,
    quantities.parse_bytes,
    quantities.parse_fraction,
    quantities.parse_mtu,
]


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (quantities.parse_rtt_ms, "164ms", 164.0),
        (quantities.parse_rtt_ms, " 0.164 s ", 164.0),
        (quantities.parse_rtt_ms, "10us", 0.01),
        (quantities.parse_rtt_ms, "10µs", 0.01),
        (quantities.parse_rtt_ms, "10s", 10_000.0),
        (quantities.parse_rate_bps, "450Mbit/s", 450_000_000),
        (quantities.parse_rate_bps, "450mbit", 450_000_000),
        (quantities.parse_rate_bps, "450Mbps", 450_000_000),
        (quantities.parse_rate_bps, "1Gbit", 1_000_000_000),
        (quantities.parse_rate_bps, "0.5 Gbit/s", 500_000_000),
        (quantities.parse_rate_bps, "450000000", 450_000_000),
        (quantities.parse_rate_bps, "56MB/s", 448_000_000),
        (quantities.parse_bytes, "10.5MB", 10_500_000),
        (quantities.parse_bytes, "16MiB", 16_777_216),
        (quantities.parse_bytes, "5KB", 5_000),
        (quantities.parse_bytes, "84Mbit", 10_500_000),
        (quantities.parse_bytes, "10500000", 10_500_000),
        (quantities.parse_duration_s, "120s", 120.0),
        (quantities.parse_duration_s, "2min", 120.0),
        (quantities.parse_fraction, "2e-6", 2e-6),
        (quantities.parse_fraction, "0.01%", 1e-4),
        (quantities.parse_fraction, "0", 0.0),
        (quantities.parse_mtu, "1500", 1500),
        (quantities.parse_mtu, "9000B", 9000),
    ],
)
def test_a_quantity_is_read_in_the_unit_of_its_name(
    parse: Callable[[str], float], text: str, value: float
) -> None:
    assert parse(text) == value


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize(
    "text",
    ["", " ", "abc", "-5ms", "1e400ms", "inf", "nan", "-1", "5kg", "5 xyz", "5ms*2", "0x10",
     "1_000", "5 ms ms", "1e99", "5degC", "5;ls", "5ms\n", "__import__", "٣ms", "9" * 500],
)  # fmt: skip
def test_nonsense_is_refused_in_one_line_that_shows_an_example(
    parse: Callable[[str], float], text: str
) -> None:
    if parse is quantities.parse_rtt_ms and text == "5ms\n":
        assert parse(text) == 5.0
        return
    with pytest.raises(BadInputError) as caught:
        parse(text)
    assert "\n" not in caught.value.message
    assert "such as" in caught.value.message
    assert "between" in caught.value.message
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("text", ["0ms", "1h", "0.001ms", "1e-400ms", "-0ms"])
def test_an_rtt_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match=r"between 0\.01 ms and 10 s"):
        quantities.parse_rtt_ms(text)


def test_an_unreadable_rtt_says_what_is_allowed() -> None:
    with pytest.raises(BadInputError) as caught:
        quantities.parse_rtt_ms("abc")
    assert caught.value.message == (
        "RTT is 'abc': it must be a time such as 164ms, between 0.01 ms and 10 s"
    )


def test_a_time_without_a_unit_is_refused_with_advice() -> None:
    with pytest.raises(BadInputError, match="without a unit: write, for example, 164ms"):
        quantities.parse_rtt_ms("164")
    with pytest.raises(BadInputError, match=r"REGION is '30'.*write, for example, 120s"):
        quantities.parse_duration_s("30")


def test_a_region_must_be_whole_seconds() -> None:
    with pytest.raises(BadInputError, match="whole number of seconds"):
        quantities.parse_duration_s("10500ms")


def test_a_long_text_is_shortened_in_the_message() -> None:
    with pytest.raises(BadInputError) as caught:
        quantities.parse_rtt_ms("x" * 10_000)
    assert len(caught.value.message) < 200


@given(st.floats(*RTT_MS_RANGE))
def test_every_rtt_in_range_is_read_back(rtt_ms: float) -> None:
    assert quantities.parse_rtt_ms(f"{rtt_ms!r}ms") == pytest.approx(rtt_ms, rel=1e-11)


@given(st.integers(*RATE_BPS_RANGE))
def test_every_rate_in_range_is_read_back(rate_bps: int) -> None:
    assert quantities.parse_rate_bps(str(rate_bps)) == rate_bps


@given(st.sampled_from(PARSERS), st.text(max_size=30))
def test_any_text_gives_a_number_or_a_bad_input_error(
    parse: Callable[[str], float], text: str
) -> None:
    try:
        outcome: float | str = parse(text)
    except BadInputError as error:
        outcome = error.message
    assert len(outcome.splitlines()) == 1 if isinstance(outcome, str) else outcome >= 0
