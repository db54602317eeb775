"""Endpoints of the QUIC interop runner in the lab: programs of this machine, and an image."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path as FilePath
from xml.etree import ElementTree

import pytest

from farpath.base.project import BUILD, PROJECT
from tests.support.command_line import Farpath

NGTCP2 = f"ngtcp2=machine:sh {PROJECT}/examples/interop/ngtcp2_endpoint.sh"
QUINN = PROJECT / "examples/interop/quinn_endpoint"
TCP_SCRIPT = PROJECT / "farpath/uses/interop/tcp_endpoint.py"


def test_a_case_passes_by_its_files_and_packets_and_one_that_is_unknown_is_not_supported(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    junit = tmp_path / "junit.xml"
    options = (f"--out={tmp_path}", "--json", f"--junit={junit}")
    ended = farpath("interop", "tcp", NGTCP2, "--case=handshake,http3", *options)
    assert ended.status == 0, ended.err
    told = json.loads(ended.out)
    found = {(one["server"], one["case"]): one for one in told["cases"]}
    assert {key: one["result"] for key, one in found.items()} == {
        ("tcp", "handshake"): "passed",
        ("tcp", "http3"): "unsupported",
        ("ngtcp2", "handshake"): "unsupported",
        ("ngtcp2", "http3"): "passed",
    }
    # A round trip of 30 ms for TCP, one for TLS and one for the request
    assert 0.090 < found["tcp", "handshake"]["took_s"] < 0.100
    assert found["ngtcp2", "http3"]["handshakes"] == 1
    # 515 kB at 10 Mbit/s, and two round trips
    assert found["ngtcp2", "http3"]["took_s"] > 0.06 + 8 * 515 * 1024 / 10e6
    # ngtcp2's own logs keep the rules, of which those of losses are of its server
    ruled = {(one["side"], one["rule"]): one for one in told["rules"]}
    assert {one["endpoint"] for one in told["rules"]} == {"ngtcp2"}
    assert [key for key, one in ruled.items() if one["broken"]] == []
    assert ruled["server", "loss"]["looked_at"] > 0 < ruled["client", "min-rtt"]["looked_at"]
    again = farpath("interop", "tcp", "--case=handshake", f"--out={tmp_path / 'again'}", "--json")
    (repeated,) = json.loads(again.out)["cases"]
    assert repeated["fingerprint"] == found["tcp", "handshake"]["fingerprint"]
    cases = ElementTree.parse(junit).findall(".//testcase")
    assert [case.get("classname") for case in cases].count("farpath.interop") == 4
    assert not any(case.findall("failure") for case in cases)


@pytest.fixture
def image() -> Iterator[str]:
    """An image of Docker's as the runner demands it: the lab's root with an endpoint."""
    if subprocess.run(["docker", "info"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no Docker engine answers here")
    name = "farpath/interop-test-qns"
    root = (BUILD / "lab" / "rootfs").resolve()
    entry = 'ENTRYPOINT ["python3", "/tcp_endpoint.py"]'
    tar = f"tar --create --directory '{root}' . --directory '{TCP_SCRIPT.parent}' tcp_endpoint.py"
    pack = f"{tar} | docker import --change '{entry}' - {name}"
    subprocess.run(["sh", "-c", pack], check=True, capture_output=True)
    yield name
    subprocess.run(["docker", "rmi", "--force", name], check=True, capture_output=True)


def test_an_image_of_the_engine_is_an_endpoint(
    farpath: Farpath, image: str, tmp_path: FilePath
) -> None:
    ended = farpath("interop", image, "--case=handshake", f"--out={tmp_path}", "--json")
    (found,) = json.loads(ended.out)["cases"]
    assert found["server"] == "interop-test"
    # It speaks TCP in truth, and has its files: that no packet of QUIC is there is told
    assert (ended.status, found["why"]) == (1, "0 handshakes in place of 1")


@pytest.fixture(scope="module")
def quinn() -> str:
    """The endpoint over quinn, compiled; its crates come as this machine's cargo has them."""
    places = f"{os.environ['PATH']}:{FilePath.home() / '.cargo/bin'}"
    cargo = shutil.which("cargo", path=places) or "false"
    told = subprocess.run([cargo, "--version"], check=False, capture_output=True, text=True).stdout
    if [int(number) for number in re.findall(r"\d+", told)[:2]] < [1, 85]:
        pytest.skip("no cargo of Rust 1.85 or later here")
    subprocess.run([cargo, "build", "--release", "--locked"], cwd=QUINN, check=True)
    return f"quinn=machine:{QUINN}/target/release/quinn_endpoint"


@pytest.mark.nightly
def test_quinns_endpoint_passes_its_cases_and_gives_the_same_packets_again(
    farpath: Farpath, quinn: str, tmp_path: FilePath
) -> None:
    options = ("--case=multiplexing,retry,zerortt,http3,transfercorruption,v2", "--json")
    ended = farpath("interop", quinn, *options, f"--out={tmp_path / 'once'}")
    again = farpath("interop", quinn, *options, f"--out={tmp_path / 'again'}")
    told, repeated = (json.loads(one.out) for one in (ended, again))
    results = {one["case"]: one["result"] for one in told["cases"]}
    assert {case for case, result in results.items() if result != "passed"} == {"v2"}
    assert results["v2"] == "unsupported"
    prints = [[one["fingerprint"] for one in each["cases"]] for each in (told, repeated)]
    assert prints[0] == prints[1]
    # Its logs have RTTs in seconds, and no frames
    ruled = {(one["side"], one["rule"]): one for one in told["rules"]}
    assert [key for key, one in ruled.items() if one["broken"]] == []
    assert ruled["client", "min-rtt"]["looked_at"] > 0 == ruled["client", "loss"]["looked_at"]


@pytest.mark.nightly
def test_quinn_meets_another_library_by_http_3(
    farpath: Farpath, quinn: str, tmp_path: FilePath
) -> None:
    ended = farpath("interop", quinn, NGTCP2, "--case=http3", f"--out={tmp_path}", "--json")
    results = {one["result"] for one in json.loads(ended.out)["cases"]}
    assert (ended.status, results) == (0, {"passed"})
