"""Named paths and path files: whole, with a source of each value, or refused."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.planning import path_files


def test_the_three_paths_of_the_study_are_named() -> None:
    assert set(path_files.named_paths()) >= {"cern", "ufl", "caltech"}


@pytest.mark.parametrize(
    ("name", "rtt_ms", "low_bps", "high_bps"),
    [("cern", 164, 400e6, 700e6), ("ufl", 78.9, 400e6, 600e6), ("caltech", 13.6, 600e6, 1000e6)],
)
def test_a_studied_path_lies_within_its_published_figures(
    name: str, rtt_ms: float, low_bps: float, high_bps: float
) -> None:
    path = path_files.path_by_name(name)
    assert path.rtt_ms == rtt_ms
    assert low_bps <= path.rate_bps <= high_bps


@pytest.mark.parametrize(("name", "hops"), [("caltech", 9), ("ufl", 13), ("cern", 10)])
def test_a_studied_path_has_as_many_hops_as_published_with_the_receiver(
    name: str, hops: int
) -> None:
    assert len(path_files.path_by_name(name).hops) + 1 == hops


@pytest.mark.parametrize("name", path_files.named_paths())
def test_every_named_path_loads_and_says_where_each_value_is_from(name: str) -> None:
    path = path_files.path_by_name(name)
    assert path.name == name
    assert all(path.sources[field].endswith(".") for field in path_files.NUMERIC_FIELDS)


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
        ("rtt_ms = 164\n", "rtt_ms = 0\n", "rtt_ms is 0 ms: it must lie between 0.01 and 10000 ms"),
        ("rtt_ms = 164\n", "rtt_ms = 164\nrtt = 1\n", "rtt: unknown field"),
        ("480_000_000", "480.5", "rate_bps: .*valid integer"),
        ("2e-8", "0.7", "loss is 0.7: it must lie between 0 and 0.5$"),
        ("2e-8", "2", "loss is 2: it must lie between 0 and 0.5$"),
        ('_max" = "33554432"', '_max" = 33554432', "sysctl.net.core.rmem_max: .*valid string"),
        ('name = "cern"', 'name = "other"', "name is 'other'"),
        ('buffer_bytes = "Path', 'other = "Our', "sources.buffer_bytes: missing"),
        ("[sysctl]", "[sysctl", "is not TOML"),
        ("[sysctl]", "[[sysctl]]", "sysctl: is no table"),
        ("[sysctl]", '[sysctl]\n"../../etc/motd" = "1"', "sysctl: '../../etc/motd' is '1'"),
        ("[sysctl]", '[sysctl]\n"kernel.core_pattern" = "1"', "sysctl: 'kernel.core_pattern'"),
        ("[sysctl]", "[sysctl]\nnet.ipv4.tcp_sack = 0", "sysctl: 'net' is"),
        ("[sources]", '[sources]\nweather = "x"', "sources.weather"),
        ('hops = "Paper', 'other = "Paper', "sources.hops: missing"),
        ('"cern", "",', '"CERN", "",', "hop 6 is 'CERN': it must be"),
        ('"cern", "",', '"a..b", "",', "hop 6 is 'a..b'"),
        ('"cern", "",', '"hop4", "",', "hop 6 is 'hop4'.* none of the lab's own names"),
        ('"cern", "",', '"receiver", "",', "hop 6 is 'receiver'"),
        ('"cern", "",', '"chicago.esnet", "",', "hops 5 and 6 are 'chicago.esnet'"),
        ('"cern", "",', '"cern", 7,', "hops.6: .*valid string"),
        ('"cern", ""', '"cern"' + 25 * ', ""', "hops are 33: there may be at most 29 routers"),
    ],
)
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


def _traced(folder: FilePath, trace: str, rate_trace: str = "mine.down") -> FilePath:
    """Write a path file that names a trace beside it."""
    text = path_files.named_paths()["wifi-trace"].read_text()
    text = text.replace('name = "wifi-trace"', 'name = "mine"')
    text = text.replace('"wifi-trace.down"', f'"{rate_trace}"').replace("30_612_676", "6_056_000")
    (folder / "mine.down").write_text(trace)
    file = folder / "mine.toml"
    file.write_text(text)
    return file


def test_a_path_file_names_a_trace_beside_it(tmp_path: FilePath) -> None:
    path = path_files.load_path(_traced(tmp_path, "2\n4\n6\n"))
    assert path.rate_trace == (2, 4, 6)
    assert path.rate_bps == 8 * 1514 * 500


@pytest.mark.parametrize(
    ("trace", "rate_trace", "complaint"),
    [
        ("2\n4\n", "../mine.down", "rate_trace: '../mine.down' is no name of a file beside"),
        ("2\n4\n", "none.down", "none.down: No such file"),
        ("2\nx\n", "mine.down", "rate_trace is 'mine.down': line 2 is 'x'"),
        ("1\n2\n", "mine.down", "rate_bps is '6056000 bit/s': it must be 12112000 bit/s, the mean"),
    ],
)
def test_a_faulty_trace_of_a_path_file_is_refused(
    tmp_path: FilePath, trace: str, rate_trace: str, complaint: str
) -> None:
    with pytest.raises(BadInputError, match=complaint) as caught:
        path_files.load_path(_traced(tmp_path, trace, rate_trace))
    assert "\n" not in caught.value.message


def test_a_missing_path_file_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="No such file"):
        path_files.load_path(tmp_path / "none.toml")


def test_a_path_file_with_jitter_says_where_it_is_from(tmp_path: FilePath) -> None:
    text = path_files.named_paths()["cern"].read_text()
    file = tmp_path / "cern.toml"
    file.write_text(text.replace("rtt_ms = 164\n", "rtt_ms = 164\njitter_ms = 1.0\n"))
    with pytest.raises(BadInputError, match=r"sources\.jitter_ms: missing"):
        path_files.load_path(file)


def test_a_path_file_may_count_its_buffer_in_packets(tmp_path: FilePath) -> None:
    text = path_files.named_paths()["cern"].read_text()
    file = tmp_path / "cern.toml"
    packets = text.replace("buffer_bytes = 11_160_000", "buffer_packets = 1000")
    file.write_text(packets.replace("buffer_bytes = ", "buffer_packets = "))
    path = path_files.load_path(file)
    assert (path.buffer_packets, path.buffer_bytes) == (1000, 1_514_000)
    assert path.sources["buffer_packets"].startswith("Path model")
    both = text.replace("mtu_bytes = 1500", "mtu_bytes = 1500\nbuffer_packets = 1000")
    file.write_text(both.replace("[sources]", '[sources]\nbuffer_packets = "x"'))
    with pytest.raises(BadInputError, match="buffer_packets, 1000 full frames; give one of them"):
        path_files.load_path(file)
