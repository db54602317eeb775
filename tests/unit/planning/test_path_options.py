"""Inputs: named paths, path files and what the command line's texts mean."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import BadInputError
from farpath.planning import path_files, path_options, stack_texts
from farpath.planning.request import RunRequest
from farpath.spec import path
from farpath.spec.path import Path


def test_the_three_paths_of_the_study_are_named() -> None:
    assert set(path_files.named_paths()) >= {"cern", "ufl", "caltech"}


@pytest.mark.parametrize(
    ("name", "rtt_ms", "low_bps", "high_bps"),
    [("cern", 164, 400e6, 700e6), ("ufl", 78.9, 400e6, 600e6), ("caltech", 13.6, 600e6, 1000e6)],
)
def test_a_studied_path_lies_within_its_published_figures(
    name: str, rtt_ms: float, low_bps: float, high_bps: float
) -> None:
    found = path_files.path_by_name(name)
    assert found.rtt_ms == rtt_ms
    assert low_bps <= found.rate_bps <= high_bps


@pytest.mark.parametrize("name", path_files.named_paths())
def test_every_named_path_loads_and_says_where_each_value_is_from(name: str) -> None:
    found = path_files.path_by_name(name)
    assert found.name == name
    assert all(found.sources[field].endswith(".") for field in path_files.NUMERIC_FIELDS)


def test_an_unknown_name_lists_the_names_and_suggests_one() -> None:
    with pytest.raises(BadInputError, match=r"one of caltech, cern, .*ufl.*; did you mean cern"):
        path_files.path_by_name("cren")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("rtt_ms = 164\n", "", "rtt_ms: field required"),
        ("rtt_ms = 164\n", 'rtt_ms = "164"\n', "rtt_ms: .*valid number"),
        ("rtt_ms = 164\n", "rtt_ms = true\n", "rtt_ms: .*valid number"),
        ("rtt_ms = 164\n", "rtt_ms = nan\n", "rtt_ms is nan"),
        ("rtt_ms = 164\n", "rtt_ms = 164\nrtt = 1\n", "rtt: unknown field"),
        ("622_000_000", "622.5", "rate_bps: .*valid integer"),
        ("1e-6", "2", "loss is 2: it must lie between 0 and 0.5"),
        ('_max" = "33554432"', '_max" = 33554432', "sysctl.net.core.rmem_max: .*valid string"),
        ('name = "cern"', 'name = "other"', "name is 'other'"),
        ("buffer_bytes = \"Path", "other = \"Our", "sources.buffer_bytes: missing"),
        ("[sysctl]", "[sysctl", "is not TOML"),
        ("[sysctl]", "[[sysctl]]", "sysctl: is no table"),
        ("[sysctl]", '[sysctl]\n"../../etc/motd" = "1"', "sysctl: '../../etc/motd' is '1'"),
        ("[sysctl]", '[sysctl]\n"kernel.core_pattern" = "1"', "sysctl: 'kernel.core_pattern'"),
        ("[sysctl]", "[sysctl]\nnet.ipv4.tcp_sack = 0", "sysctl: 'net' is"),
        ("[sources]", '[sources]\nweather = "x"', "sources.weather"),
    ],
)  # fmt: skip
def test_a_faulty_path_file_is_refused_by_file_and_field(
    tmp_path: FilePath, old: str, new: str, complaint: str
) -> None:
    text = path_files.named_paths()["cern"].read_text()
    assert old in text
    file = tmp_path / "cern.toml"
    file.write_text(text.replace(old, new))
    with pytest.raises(BadInputError, match=complaint) as caught:
        path_files.load_path(file)
    assert str(file) in caught.value.message
    assert "\n" not in caught.value.message


def test_a_missing_path_file_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="No such file"):
        path_files.load_path(tmp_path / "none.toml")


def test_without_anything_given_the_path_is_cern() -> None:
    found = path_options.resolve_path()
    origins = found.sources
    assert found.name == "cern"
    assert "the default" in origins["rtt_ms"]


def test_an_rtt_of_a_named_path_takes_that_path() -> None:
    found = path_options.resolve_path(rtt="0.164s")
    origins = found.sources
    assert (found.name, found.buffer_bytes) == ("cern", 14_461_500)
    assert origins["rate_bps"].startswith("path cern (its RTT is 164 ms): Path model")


def test_another_rtt_takes_stated_defaults() -> None:
    found = path_options.resolve_path(rtt="50ms")
    origins = found.sources
    assert found.name == "custom"
    assert found.rate_bps == 450_000_000
    assert found.buffer_bytes == 2_812_500  # 450 Mbit/s x 50 ms
    assert (found.loss, found.mtu_bytes, found.window_bytes) == (0.0, 1500, 16_777_216)
    assert all(
        origins[field].startswith(("default", "given")) for field in path_files.NUMERIC_FIELDS
    )


def test_a_short_path_gets_a_buffer_of_a_hundred_frames() -> None:
    found = path_options.resolve_path(rtt="1ms")
    assert found.buffer_bytes == 151_400


def test_a_long_fat_path_gets_the_window_and_the_maxima_it_needs() -> None:
    found = path_options.resolve_path(rtt="300ms", rate="1Gbit")
    # 2 x 37.5 MB and a buffer of 37.5 MB
    assert found.window_bytes == 112_500_000
    assert found.sysctl["net.core.rmem_max"] == "112500000"
    assert found.sysctl["net.ipv4.tcp_rmem"] == "4096 87380 225000000"
    origins = path_options.resolve_path(rtt="10s", rate="10Gbit").sources
    assert "limits the flow" in origins["window_bytes"]


def test_a_value_given_overrides_and_the_path_loses_its_name() -> None:
    found = path_options.resolve_path(
        name="ufl", rate="450Mbit/s", loss="0", buffer="4MB", mtu="1400"
    )
    origins = found.sources
    assert found.name == "ufl-changed"
    assert (found.rate_bps, found.loss, found.buffer_bytes, found.mtu_bytes) == (
        450_000_000, 0.0, 4_000_000, 1400,
    )  # fmt: skip
    assert origins["rate_bps"] == "given"
    assert origins["window_bytes"].startswith("path ufl")


def test_a_value_given_as_it_is_keeps_the_name() -> None:
    found = path_options.resolve_path(rtt="164ms", loss="1e-6", background="25%")
    assert found.name == "cern"


def test_other_traffic_stays_as_large_a_part_of_another_rate() -> None:
    whole = path_files.path_by_name("cern")
    found = path_options.resolve_path(name="cern", rate="62.2Mbit")
    origins = found.sources
    assert whole.background is not None
    assert found.background is not None
    assert found.background.rate_bps == whole.background.rate_bps // 10
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
    with pytest.raises(BadInputError, match="BACKGROUND is '95%'"):
        path_options.resolve_path(background="95%")


def test_a_name_and_another_rtt_contradict() -> None:
    with pytest.raises(BadInputError, match=r"RTT is 164 ms but path ufl has 78\.9 ms"):
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
    found = path_options.resolve_path(rtt=f"{rtt_ms!r}ms", rate=str(rate_bps), mtu=str(mtu_bytes))
    assert found.rate_bps == rate_bps


@given(
    field=st.sampled_from(path_files.NUMERIC_FIELDS),
    value=st.one_of(st.just(float("nan")), st.just(float("inf")), st.floats(max_value=-1e-9)),
)
def test_no_path_has_a_negative_infinite_or_undefined_value(field: str, value: float) -> None:
    good = Path("x", "x", 10.0, 10**8, 10**6, 0.0, 1500, 10**6)
    changed: dict[str, Any] = {field: value}
    with pytest.raises(BadInputError, match=f"path x: {field} is"):
        dataclasses.replace(good, **changed)


def test_jitter_reordering_and_duplicates_can_be_given() -> None:
    given = {"jitter": "1ms", "reorder": "0.1%", "duplicate": "1e-4"}
    for rtt in ("50ms", "164ms"):
        found = path_options.resolve_path(rtt=rtt, **given)
        origins = found.sources
        assert (found.jitter_ms, found.reorder, found.duplicate) == (1.0, 1e-3, 1e-4)
        assert origins["jitter_ms"] == origins["reorder"] == origins["duplicate"] == "given"
    assert found.name == "cern-changed"
    with pytest.raises(BadInputError, match="jitter_ms is 30 ms: it must be at most half the RTT"):
        path_options.resolve_path(rtt="50ms", jitter="30ms")


@pytest.mark.parametrize(
    ("word", "text", "complaint"),
    [
        ("loss", "1e-20", "loss is 1e-20: it must be 0 or at least 1e-08"),
        ("reorder", "1e-20", "reorder is 1e-20: it must be 0 or at least 1e-08"),
        ("duplicate", "1e-20", "duplicate is 1e-20: it must be 0 or at least 1e-08"),
        ("jitter", "1e-4ns", "jitter_ms is 1e-10 ms: it must be 0 or at least 1e-06 ms"),
        ("background", "1e-9", "a source sends at least 100000 bit/s; give a larger part, or none"),
    ],
)
def test_what_the_lab_would_make_nothing_of_is_refused(
    word: str, text: str, complaint: str
) -> None:
    for base in ({"rtt": "50ms"}, {"name": "cern"}):
        with pytest.raises(BadInputError, match=complaint):
            path_options.resolve_path(**base, **{word: text})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "give settings of the network"),
        ("net/../../etc=1", "give settings of the network"),
        ("net...etc=1", "give settings of the network"),
        ("kernel.panic=1", "give settings of the network"),
        ("net.ipv4.tcp_sack=0\nnet.x=1", "give settings of the network"),
        ("net.ipv4.tcp_sack=0,net.ipv4.tcp_sack=1", "has net.ipv4.tcp_sack twice"),
        ("net.ipv4.tcp_rmem=4096 1 2", "which the lab sets itself.*WINDOW"),
        ("net.ipv4.tcp_moderate_rcvbuf=1", "which the lab sets itself"),
        ("net.core.rmem_max=abc", "rmem_max is 'abc': it must be a whole number"),
        ("net.core.rmem_max=0x10", "rmem_max is '0x10': it must be a whole number"),
        ("net.ipv4.tcp_wmem=1", "tcp_wmem is '1': it must be 3 whole numbers"),
        ("net.core.rmem_max=1000", "more than its own sysctl"),
    ],
)
def test_settings_that_cannot_be_or_contradict_the_lab_are_refused(
    text: str, complaint: str
) -> None:
    with pytest.raises(BadInputError, match=complaint):
        path_options.resolve_path(rtt="50ms", sysctl=text)


def test_a_setting_that_the_hosts_era_needs_otherwise_is_refused() -> None:
    asked = RunRequest(rtt="50ms", era="2004", sysctl="net.ipv4.tcp_sack=0")
    with pytest.raises(BadInputError, match="tcp_sack is 0 on path custom, and era 2004 needs 1"):
        asked.plan()
    dataclasses.replace(asked, era="modern").plan()
    dataclasses.replace(asked, sysctl="net.ipv4.tcp_sack=1").plan()


def test_a_path_file_with_jitter_says_where_it_is_from(tmp_path: FilePath) -> None:
    text = path_files.named_paths()["cern"].read_text()
    file = tmp_path / "cern.toml"
    file.write_text(text.replace("rtt_ms = 164\n", "rtt_ms = 164\njitter_ms = 1.0\n"))
    with pytest.raises(BadInputError, match=r"sources\.jitter_ms: missing"):
        path_files.load_path(file)


@pytest.mark.parametrize(
    ("text", "stacks"),
    [
        ("htcp", ("htcp",)),
        ("htcp + reno", ("htcp", "reno")),
        ("udt+2xreno", ("udt", "reno", "reno")),
        ("fast:alpha=100,gamma=50", ("fast:alpha=100,gamma=50",)),
        ("./tcp_mine.c", ("./tcp_mine.c",)),
    ],
)
def test_stacks_are_named_one_for_each_flow(text: str, stacks: tuple[str, ...]) -> None:
    assert stack_texts.parse_stacks(text) == stacks


@pytest.mark.parametrize("text", ["", "htcp+", "0xreno", "101xreno", "60xreno+60xhtcp"])
def test_flows_without_a_stack_or_too_many_are_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="STACK is"):
        stack_texts.parse_stacks(text)
