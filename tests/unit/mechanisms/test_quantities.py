"""Units: what people write becomes plain numbers, or one clear line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import BadInputError
from farpath.base.units import Quantity
from farpath.mechanisms import quantities
from farpath.spec.path import RATE_BPS_RANGE, RTT_MS_RANGE

QUANTITIES = [
    quantities.RTT_MS,
    quantities.DURATION_S,
    quantities.RATE_BPS,
    quantities.SIZE_BYTES,
    quantities.FRACTION,
    quantities.MTU_BYTES,
]


@pytest.mark.parametrize(
    ("quantity", "text", "value"),
    [
        (quantities.RTT_MS, "164ms", 164.0),
        (quantities.RTT_MS, " 0.164 s ", 164.0),
        (quantities.RTT_MS, "10us", 0.01),
        (quantities.RTT_MS, "10µs", 0.01),
        (quantities.RTT_MS, "10s", 10_000.0),
        (quantities.RATE_BPS, "450Mbit/s", 450_000_000),
        (quantities.RATE_BPS, "450mbit", 450_000_000),
        (quantities.RATE_BPS, "450Mbps", 450_000_000),
        (quantities.RATE_BPS, "1Gbit", 1_000_000_000),
        (quantities.RATE_BPS, "0.5 Gbit/s", 500_000_000),
        (quantities.RATE_BPS, "450000000", 450_000_000),
        (quantities.RATE_BPS, "56MB/s", 448_000_000),
        (quantities.SIZE_BYTES, "10.5MB", 10_500_000),
        (quantities.SIZE_BYTES, "16MiB", 16_777_216),
        (quantities.SIZE_BYTES, "5KB", 5_000),
        (quantities.SIZE_BYTES, "84Mbit", 10_500_000),
        (quantities.SIZE_BYTES, "10500000", 10_500_000),
        (quantities.DURATION_S, "120s", 120.0),
        (quantities.DURATION_S, "2min", 120.0),
        (quantities.FRACTION, "2e-6", 2e-6),
        (quantities.FRACTION, "0.01%", 1e-4),
        (quantities.FRACTION, "0", 0.0),
        (quantities.MTU_BYTES, "1500", 1500),
        (quantities.MTU_BYTES, "9000B", 9000),
    ],
)
def test_a_quantity_is_read_in_the_unit_of_its_name(
    quantity: Quantity[float], text: str, value: float
) -> None:
    assert quantity.parse(text, "VALUE") == value


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize(
    "text",
    ["", " ", "abc", "-5ms", "1e400ms", "inf", "nan", "-1", "5kg", "5 xyz", "5ms*2", "0x10",
     "1_000", "5 ms ms", "1e99", "5degC", "5;ls", "5ms\n", "__import__", "٣ms", "9" * 500],
)  # fmt: skip
def test_nonsense_is_refused_in_one_line_that_shows_an_example(
    quantity: Quantity[float], text: str
) -> None:
    if quantity is quantities.RTT_MS and text == "5ms\n":
        assert quantity.parse(text, "rtt") == 5.0
        return
    with pytest.raises(BadInputError) as caught:
        quantity.parse(text, "VALUE")
    assert "\n" not in caught.value.message
    assert "such as" in caught.value.message
    assert "between" in caught.value.message
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("text", ["1h", "0.001ms", "-1ms"])
def test_an_rtt_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match=r"out of range|neither 0 nor at least 0\.01 ms"):
        quantities.RTT_MS.parse(text, "rtt")


@pytest.mark.parametrize("text", ["0", "0ms", "-0s"])
def test_an_rtt_of_zero_is_one_with_or_without_a_unit(text: str) -> None:
    assert str(quantities.RTT_MS.parse(text, "rtt")) == "0.0"


def test_an_unreadable_rtt_says_what_is_allowed() -> None:
    with pytest.raises(BadInputError) as caught:
        quantities.RTT_MS.parse("abc", "rtt")
    assert caught.value.message == (
        "rtt is 'abc': it must be a time such as 164ms, between 0 ms and 10 s"
    )


def test_a_time_without_a_unit_is_refused_with_advice() -> None:
    with pytest.raises(BadInputError, match="without a unit; write, for example, 164ms"):
        quantities.RTT_MS.parse("164", "rtt")
    with pytest.raises(BadInputError, match=r"region is '30'.*write, for example, 120s"):
        quantities.DURATION_S.parse("30", "region")


def test_a_region_must_be_whole_seconds() -> None:
    with pytest.raises(BadInputError, match="whole number of seconds"):
        quantities.DURATION_S.parse("10500ms", "region")


def test_a_long_text_is_shortened_in_the_message() -> None:
    with pytest.raises(BadInputError) as caught:
        quantities.RTT_MS.parse("x" * 10_000, "rtt")
    assert len(caught.value.message) < 200


@given(st.floats(*RTT_MS_RANGE))
def test_every_rtt_in_range_is_read_back(rtt_ms: float) -> None:
    assert quantities.RTT_MS.parse(f"{rtt_ms!r}ms", "rtt") == pytest.approx(rtt_ms, rel=1e-11)


@given(st.integers(*RATE_BPS_RANGE))
def test_every_rate_in_range_is_read_back(rate_bps: int) -> None:
    assert quantities.RATE_BPS.parse(str(rate_bps), "RATE") == rate_bps


@given(st.sampled_from(QUANTITIES), st.text(max_size=30))
def test_any_text_gives_a_number_or_a_bad_input_error(quantity: Quantity[float], text: str) -> None:
    try:
        outcome: float | str = quantity.parse(text, "VALUE")
    except BadInputError as error:
        outcome = error.message
    assert len(outcome.splitlines()) == 1 if isinstance(outcome, str) else outcome >= 0
