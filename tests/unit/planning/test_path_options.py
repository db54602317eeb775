"""Options of a path: what is taken where nothing is given, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import BadInputError
from farpath.planning import path_files, path_options
from farpath.spec import path
from tests.support.refusals import refused


def test_without_anything_given_the_path_is_cern() -> None:
    path = path_options.resolve_path()
    origins = path.sources
    assert path.name == "cern"
    assert "the default" in origins["rtt_ms"]


def test_an_rtt_of_a_named_path_takes_that_path_where_it_may() -> None:
    path = path_options.resolve_path(rtt="0.164s", by_rtt=True)
    origins = path.sources
    reason = "the only thing said of the path is its RTT, 164 ms"
    assert (path.name, path.buffer_bytes) == ("cern", 11_160_000)
    assert origins["rate_bps"].startswith(f"path cern ({reason}): Path model")
    assert path_options.choice_text(path) == reason


def test_an_rtt_of_a_named_path_takes_no_path_otherwise_and_says_so() -> None:
    path = path_options.resolve_path(rtt="164ms")
    assert (path.name, path.loss, path.background, path.rate_bps) == ("custom", 0, None, 450e6)
    assert path_options.choice_text(path) == "path cern has this RTT too: --path=cern"


@pytest.mark.parametrize("name", path_files.named_paths())
def test_no_path_is_said_to_be_missing_that_there_is(name: str) -> None:
    rtt_ms = path_files.path_by_name(name).rtt_ms
    choice = path_options.choice_text(path_options.resolve_path(rtt=f"{rtt_ms}ms"))
    assert choice == f"path {name} has this RTT too: --path={name}"
    assert path_options.choice_text(path_options.resolve_path(rtt=f"{rtt_ms + 0.01}ms")) == ""


def test_a_custom_path_has_the_hosts_of_no_named_path() -> None:
    path = path_options.resolve_path(rtt="50ms")
    assert not any("cern" in source for source in path.sources.values())


def test_another_rtt_takes_stated_defaults() -> None:
    path = path_options.resolve_path(rtt="50ms")
    origins = path.sources
    assert path.name == "custom"
    assert path.rate_bps == 450_000_000
    assert path.buffer_bytes == 2_812_500  # 450 Mbit/s x 50 ms
    assert (path.loss, path.mtu_bytes, path.window_bytes) == (0.0, 1500, 16_777_216)
    assert all(
        origins[field].startswith(("default", "given")) for field in path_files.NUMERIC_FIELDS
    )


def test_a_short_path_gets_a_buffer_of_a_hundred_frames() -> None:
    path = path_options.resolve_path(rtt="1ms")
    assert path.buffer_bytes == 151_400


def test_a_buffer_of_packets_takes_the_bytes_of_as_many_full_frames() -> None:
    own = path_options.resolve_path(rtt="10ms", buffer="100packets", mtu="9000")
    assert (own.buffer_packets, own.buffer_bytes) == (100, 901_400)
    named = path_options.resolve_path(name="cern", buffer="1000 Packets")
    assert (named.name, named.buffer_packets) == ("cern-changed", 1000)
    assert path_options.resolve_path(rtt="10ms", buffer="100p", mtu="9000") == own
    assert named.buffer_bytes == 1_514_000
    assert path_options.resolve_path(name="cern").buffer_packets == 0


@pytest.mark.parametrize(
    "text", ["1packet", "0packets", "1.5packets", "-3packets", "100001packets"]
)
def test_a_buffer_of_no_whole_number_of_packets_is_refused(text: str) -> None:
    with refused("buffer", text):
        path_options.resolve_path(rtt="10ms", buffer=text)


@pytest.mark.parametrize(
    ("text", "buffer_bytes"),
    [("1BDP", 1_250_000), ("0.5 x BDP", 625_000), ("2xbdp", 2_500_000), ("50ms", 625_000)],
)
def test_a_buffer_may_be_a_time_or_a_multiple_of_the_bandwidth_delay_product(
    text: str, buffer_bytes: int
) -> None:
    own = path_options.resolve_path(rtt="100ms", rate="100Mbit", buffer=text)
    assert (own.buffer_bytes, own.sources["buffer_bytes"]) == (buffer_bytes, "given")


def test_a_multiple_is_of_the_named_path_s_rtt_and_the_given_rate() -> None:
    path = path_options.resolve_path(name="cern", rate="100Mbit", buffer="1BDP", window="4BDP")
    assert path.buffer_bytes == round(1e8 * path.rtt_ms / 8e3)
    assert path.window_bytes == round(4e8 * path.rtt_ms / 8e3)


def test_a_multiple_that_is_too_large_is_refused_with_its_bytes() -> None:
    with pytest.raises(BadInputError, match="'9xBDP': here it is 11,250,000,000 bytes"):
        path_options.resolve_path(rtt="1s", rate="10Gbit", buffer="9xBDP")


@pytest.mark.parametrize("option", ["buffer", "window"])
@pytest.mark.parametrize("text", ["1e400ms", "1e300s", "9" * 400 + "BDP"])
def test_an_amount_beyond_all_numbers_is_refused_on_one_line(option: str, text: str) -> None:
    options: dict[str, Any] = {option: text}
    with pytest.raises(BadInputError, match="that is no finite number") as caught:
        path_options.resolve_path(rtt="1s", rate="10Gbit", **options)
    assert caught.value.option == option
    assert len(caught.value.message) < 300


def test_a_long_fat_path_gets_the_window_and_the_maxima_it_needs() -> None:
    path = path_options.resolve_path(rtt="300ms", rate="1Gbit")
    # 2 x 37.5 MB and a buffer of 37.5 MB
    assert path.window_bytes == 112_500_000
    assert path.sysctl["net.core.rmem_max"] == "112500000"
    assert path.sysctl["net.ipv4.tcp_rmem"] == "4096 87380 225000000"
    origins = path_options.resolve_path(rtt="10s", rate="10Gbit").sources
    assert "limits the flow" in origins["window_bytes"]


def test_a_value_given_overrides_and_the_path_loses_its_name() -> None:
    path = path_options.resolve_path(
        name="ufl", rate="450Mbit/s", loss="0", buffer="4MB", mtu="1400"
    )
    origins = path.sources
    assert path.name == "ufl-changed"
    assert (path.rate_bps, path.loss, path.buffer_bytes, path.mtu_bytes) == (
        450_000_000, 0.0, 4_000_000, 1400,
    )  # fmt: skip
    assert origins["rate_bps"] == "given"
    assert origins["window_bytes"].startswith("path ufl")


def test_a_value_given_as_it_is_keeps_the_name() -> None:
    path = path_options.resolve_path(name="cern", loss="2e-8", background="10%")
    assert path.name == "cern"


def test_other_traffic_stays_as_large_a_part_of_another_rate() -> None:
    whole = path_files.path_by_name("cern")
    path = path_options.resolve_path(name="cern", rate="48Mbit")
    origins = path.sources
    assert whole.background is not None
    assert path.background is not None
    assert path.background.rate_bps == whole.background.rate_bps // 10
    assert origins["background"].endswith("in proportion to RATE")


def test_other_traffic_can_be_given_or_left_out() -> None:
    without = path_options.resolve_path(name="cern", background="none")
    origins = without.sources
    assert (without.name, without.background) == ("cern-changed", None)
    assert origins["background"] == "given"
    own = path_options.resolve_path(rtt="50ms", rate="100Mbit", background="0.3")
    origins = own.sources
    assert own.background is not None
    assert own.background.mean_rate_bps == 30e6
    assert origins["background"] == "given"
    assert path_options.resolve_path(rtt="50ms").background is None
    with refused("background", "95%"):
        path_options.resolve_path(background="95%")


def test_a_name_and_another_rtt_contradict() -> None:
    with refused("rtt", "164 ms"):
        path_options.resolve_path(name="ufl", rtt="164ms")
    assert path_options.resolve_path(name="ufl", rtt="78.9ms").name == "ufl"


@given(
    rtt_ms=st.floats(*path.RTT_MS_RANGE),
    rate_bps=st.integers(*path.RATE_BPS_RANGE),
    mtu_bytes=st.integers(*path.MTU_BYTES_RANGE),
)
def test_every_rtt_rate_and_mtu_allowed_give_a_valid_path(
    rtt_ms: float, rate_bps: int, mtu_bytes: int
) -> None:
    resolved = path_options.resolve_path(
        rtt=f"{rtt_ms!r}ms", rate=str(rate_bps), mtu=str(mtu_bytes)
    )
    assert resolved.rate_bps == rate_bps


def test_jitter_reordering_and_duplicates_can_be_given() -> None:
    options: dict[str, Any] = {"jitter": "1ms", "reorder": "0.1%", "duplicate": "1e-4"}
    bases: tuple[dict[str, Any], ...] = ({"rtt": "50ms"}, {"name": "cern"})
    for base in bases:
        path = path_options.resolve_path(**base, **options)
        origins = path.sources
        assert (path.jitter_ms, path.reorder, path.duplicate) == (1.0, 1e-3, 1e-4)
        assert origins["jitter_ms"] == origins["reorder"] == origins["duplicate"] == "given"
    assert path.name == "cern-changed"
    with refused("jitter", "30 ms"):
        path_options.resolve_path(rtt="50ms", jitter="30ms")


@pytest.mark.parametrize(
    ("word", "text", "given_back"),
    [
        ("loss", "1e-20", "1e-20"),
        ("reorder", "1e-20", "1e-20"),
        ("duplicate", "1e-20", "1e-20"),
        ("jitter", "1e-4ns", "1e-10 ms"),
        ("background", "1e-9", "1e-09"),
    ],
)
def test_what_the_lab_would_make_nothing_of_is_refused(
    word: str, text: str, given_back: str
) -> None:
    bases: tuple[dict[str, Any], ...] = ({"rtt": "50ms"}, {"name": "cern"})
    for base in bases:
        with refused(word, given_back):
            path_options.resolve_path(**(base | {word: text}))
