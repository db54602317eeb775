"""A kernel with one constant of one stack altered, against the kernel without."""

from __future__ import annotations

import json
import re
from pathlib import Path as FilePath

import pytest

from farpath.lab.artifacts.images import find_images
from farpath.lab.artifacts.kernels import images_of
from farpath.lab.run import run
from farpath.record.record import load_record
from tests.regress.conftest import Regress, plant
from tests.support.command_line import Farpath
from tests.support.networks import short_plan


@pytest.fixture
def series() -> str:
    """The lab's kernel as a user names it, linux-source-7.2."""
    return str(find_images().manifests["kernel"]["source"]).split()[0]


@pytest.fixture(scope="module")
def altered(linux: FilePath) -> FilePath:
    """The lab's source with the constant altered; all other files are the same ones."""
    plant(linux / "net" / "ipv4" / "tcp_htcp.c")
    return linux


def test_of_a_tree_that_differs_in_a_file_that_file_alone_is_compiled(altered: FilePath) -> None:
    kernel = images_of(str(altered), print).kernel
    log = (kernel / "build.log").read_text()
    compiled = re.findall(r"^  CC +(\S+)", log, re.MULTILINE)
    assert compiled == ["net/ipv4/tcp_htcp.o"]


def test_a_planted_change_is_found_with_its_stack_run_metric_and_side(
    regress: Regress, series: str, altered: FilePath
) -> None:
    ended = regress(
        f"--base={series}",
        f"--head={altered}",
        "--seeds=3",
        "--only=htcp/one-loss,reno/one-loss",
        "--why",
    )
    print(ended.out)
    assert ended.status == 1, ended.err
    # Another kernel, whose other stacks are the same packet for packet
    assert ended.runs["reno/one-loss"]["state"] == "identical"
    case = ended.runs["htcp/one-loss"]
    assert case["state"] == "changed"
    changes = {each["metric"]: each for each in case["changed"]}
    assert changes["recovery_s"]["after"] > changes["recovery_s"]["high"]
    # A congestion control decides what is sent; the receiver's kernel has the same change unused
    assert case["sides"] == {"sender": "changed", "receiver": "identical"}
    assert case["origin"] == "the sender"
    assert case["diff"].startswith("farpath diff ")
    assert case["diff"] in ended.out
    assert ended.runs["reno/one-loss"]["diff"] == ""
    # The window grows less, so that the first packet that is missing is one that grows it
    (why,) = json.loads(ended.report.read_text())["why"].values()
    first, held = why["first"], why["held"]
    assert (first["place"], first["way"], first["first_in"]) == ("sender", "leaves", "a")
    assert (first["a"]["flow"], first["twin_is_same_packet"]) == ("flow1", True)
    assert first["a"]["seq"] == held["b"]["packets"]["nxt"]
    before, after = (held[run]["samples"] for run in ("a", "b"))
    assert before["before"] == after["before"]
    assert before["after"]["cwnd_packets"] == after["after"]["cwnd_packets"] + 1
    assert before["after"]["ca_state"] == "open"
    assert len(why["before"]) == 12
    assert (ended.report.parent / "why" / "htcp-one-loss.html").is_file()


@pytest.mark.nightly
def test_the_record_of_a_run_with_a_planted_change_at_one_side_says_which_kernel_was_where(
    tmp_path: FilePath, altered: FilePath
) -> None:
    plan = short_plan(stack="htcp", region="5s")
    images = images_of(f"receiver={altered}", print)
    record = load_record(run(plan, tmp_path, False, lambda _event: None, images).directory)
    own = find_images().manifests["kernel"]
    kernels = record.data["provenance"]["kernels"]
    assert kernels["sender"] == record.data["provenance"]["kernel"] == own
    assert kernels["receiver"]["linux_hash"] != own["linux_hash"]
    assert record.kernel == f"sender {own['release']}, receiver {own['release']}"


@pytest.mark.nightly
def test_a_stack_is_held_against_its_standards_on_that_kernel(
    tmp_path: FilePath, farpath: Farpath, altered: FilePath
) -> None:
    options = ("--only=fast-retransmit", "--draws=1", f"--kernel={altered}", "--json")
    ended = farpath("conformance", "reno", *options, f"--out={tmp_path}")
    assert ended.status == 0, ended.err
    (record,) = (tmp_path / "records").iterdir()
    kernel = load_record(record).data["provenance"]["kernel"]
    assert kernel["linux_hash"] == images_of(str(altered), print).manifests["kernel"]["linux_hash"]
    assert kernel["linux_hash"] != find_images().manifests["kernel"]["linux_hash"]
    assert {each["state"] for each in json.loads(ended.out)["statements"]} == {"conforms"}


@pytest.mark.nightly
def test_a_debugger_stops_in_the_function_of_the_change_on_that_kernel(
    tmp_path: FilePath, farpath: Farpath, altered: FilePath
) -> None:
    plan = short_plan(stack="htcp", region="5s")
    images = images_of(str(altered), print)
    record = run(plan, tmp_path, False, lambda _event: None, images).directory
    ended = farpath("debug", record, "--names-only", "--break=htcp_cong_avoid", "--json")
    assert ended.status == 0, ended.err
    state = json.loads(ended.out)
    assert state["site"] == "sender"
    assert state["backtrace"][0]["function"] == "htcp_cong_avoid"
