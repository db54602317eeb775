"""The command line: a user's mistake is one line and an exit status, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.base.project import PROJECT
from farpath.cli import app
from farpath.lab import preflight, run
from farpath.lab.artifacts import images
from farpath.lab.guest_code import write_code
from farpath.lab.host_kernel import LAB_MODULES
from farpath.lab.machine import SHARE
from farpath.record.description import write_description
from farpath.record.record import Record
from tests.support.command_line import Farpath
from tests.support.processes import completed


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the images were built; nothing can boot them."""
    monkeypatch.setattr(images, "find_images", lambda: None)
    monkeypatch.setattr(run, "record_name", lambda _plan, _images: "record")


#: Options that are refused, and the words that the one line has: option, value, what to do. Which
#: values are refused is tested where they are parsed.
BAD_INPUT: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "value that is none": (["--rtt=abc"], ("--rtt", "'abc'", "164ms")),
    "empty value": (["--rtt="], ("--rtt",)),
    "value above the largest": (["--rate=1Tbit/s"], ("--rate", "'1Tbit/s'", "10 Gbit/s")),
    "unknown stack": (["--stack=quic"], ("--stack", "'quic'", "farpath stacks")),
    "stacks with a comma": (["--stack=cubic,reno"], ("--stack", "write cubic+reno")),
    "path and RTT that contradict": (
        ["--path=cern", "--rtt=50ms"],
        ("--rtt", "50 ms", "cern", "164 ms"),
    ),
    "seed above the largest": (["--seed=2147483648"], ("--seed", "2147483647")),
    "clock that the host lab has not": (
        ["--lab=host", "--clock=virtual"],
        ("--clock", "--lab=host", "'virtual'", "wall"),
    ),
    "loss of a flow that is not there": (
        ["--drop=every:1000,flow=flow5"],
        ("--drop", "flow5", "flow1, flow2, flow3, flow4"),
    ),
    "trace of too much": (
        ["--trace=1ms", "--region=10min"],
        ("--trace", "12,000,000", "2,500,000", "--region"),
    ),
    "topology of no name": (["--topology=ring"], ("--topology", "'ring'", "dumbbell, parking-lot")),
    "sysctl of IPv6 over IPv4": (
        ["--sysctl=net.ipv6.auto_flowlabels=0"],
        ("--sysctl", "net.ipv6.auto_flowlabels", "IPv4"),
    ),
    "image for a host that is not there": (
        ["--sender-image=recevier=./none.tar"],
        ("--sender-image", "'recevier'", "sender, receiver"),
    ),
}


@pytest.mark.parametrize(("options", "words"), BAD_INPUT.values(), ids=BAD_INPUT)
def test_bad_input_is_one_line_and_status_2(
    farpath: Farpath, options: list[str], words: tuple[str, ...]
) -> None:
    ended = farpath("run", *options)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("farpath: ")
    assert ended.err.count("\n") == 1
    for word in words:
        assert word in ended.err


def test_what_make_was_given_is_named_by_its_variable(
    farpath: Farpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARPATH_CALLER", "make")
    assert farpath("run", "--path=mars").err.startswith("farpath: PATH_NAME is 'mars': ")
    assert farpath("run", "--rtt=RATE").err.startswith("farpath: RTT is 'RATE': ")


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("PATH_NAME=mars", "farpath: PATH_NAME is 'mars': it must be one of"),
        ("RTTT=5ms", "RTTT is not a variable of this Makefile; did you mean RTT? 'make help' has"),
        (
            "DELAY=5ms",
            "DELAY is not a variable of this Makefile; did you mean RTT? 'make help' has",
        ),
        ("ZOOM=5ms", "ZOOM is not a variable of this Makefile; 'make help' has"),
    ],
)
def test_make_names_its_variables_and_where_the_list_of_them_is(
    variable: str, message: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = completed(["make", "-s", "-C", str(PROJECT), "draw", variable], env=environment)
    assert done.returncode == 2
    assert message in done.stderr
    assert "REORDER" not in done.stderr


def test_an_option_is_named_and_nouns_and_what_was_given_stay(farpath: Farpath) -> None:
    assert farpath("run", "--rtt=RATE").err.startswith("farpath: --rtt is 'RATE': ")
    both = farpath("run", "--path=cern", "--rtt=50ms").err
    assert "or --rtt with --rate, --buffer and --loss for your own path" in both
    assert "--ip=6" in farpath("run", "--ip=6", "--stack=udt").err


def test_an_option_of_another_tool_is_answered_with_farpath_s(farpath: Farpath) -> None:
    ended = farpath("run", "--rtt=20ms", "--bw=10Mbit")
    assert ended.status == 2
    assert ended.err.startswith("farpath: No such option: --bw; write --rate=10Mbit (see ")
    assert "; write --topology=./mine.py:name,2, with" in farpath("run", "--topo=tree,2").err
    assert "Possible options" in farpath("run", "--rat=10Mbit").err
    assert "; write farpath --help" in farpath("help").err


@pytest.mark.parametrize("command", ["run", "draw"])
def test_help_shows_the_options_of_a_run_in_groups(farpath: Farpath, command: str) -> None:
    shown = farpath(command, "--help-all").out
    headings = [shown.index(f" {group} ─") for group in ("Path", "Traffic", "Hosts")]
    assert headings == sorted(headings)
    for heading, option in zip(headings, ("--rtt", "--stack", "--era"), strict=True):
        assert shown.index(f"{option} ") > heading


def test_the_short_form_of_help_is_help_and_no_arguments_are_answered_by_help_alone(
    farpath: Farpath,
) -> None:
    for arguments in (("-h",), ("run", "-h"), ("draw", "-h")):
        ended = farpath(*arguments)
        assert (ended.status, ended.err) == (0, "")
        assert "Usage:" in ended.out
    ended = farpath()
    assert ended.status == 2
    assert "Usage:" in ended.out + ended.err
    assert "farpath:" not in ended.err


def test_columns_of_paths_stand_below_each_other(farpath: Farpath) -> None:
    assert len({line.index(" RTT ") for line in farpath("paths").out.splitlines()}) == 1


@pytest.mark.parametrize("arguments", [["--rtt=abc"], ["--bogus=1"], ["--rtt"], ["5"]])
def test_a_process_with_bad_input_ends_with_status_2_without_a_traceback(
    arguments: list[str],
) -> None:
    done = completed(
        [sys.executable, "-c", "from farpath.cli.app import main; main()", "run", *arguments],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_missing_images_are_status_3_and_name_make_setup(
    farpath: Farpath, monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    find = images.find_images
    monkeypatch.setattr(images, "find_images", lambda: find(tmp_path))
    ended = farpath("run", f"--out={tmp_path / 'results'}")
    assert ended.status == 3
    last = ended.err.splitlines()[-1]
    assert last.startswith("farpath: the lab's kernel is not built")
    assert "make setup" in last
    assert not (tmp_path / "results").exists()


def test_a_machine_that_the_host_lab_cannot_run_on_is_status_3_and_all_it_lacks_is_named(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    release = os.uname().release
    modules = preflight.Modules.of(FilePath("/"), release)
    lacking = [
        name for name in LAB_MODULES if not modules.where(name, preflight.MODULE_OPTIONS[name])
    ]
    if not lacking:
        pytest.skip(f"this kernel, {release}, has them: {', '.join(LAB_MODULES)}")
    for ended in (
        farpath("run", "--lab=host", f"--out={tmp_path / 'results'}"),
        farpath("preflight", "--lab=host"),
    ):
        assert ended.status == 3
        last = ended.err.splitlines()[-1]
        assert last.startswith("farpath: this machine lacks, for the host lab: ")
        assert [name for name in lacking if name not in last] == []
        assert "farpath preflight --lab=host" in last
    assert not list(tmp_path.glob("results/*"))


def test_what_was_given_is_repeated_in_one_line_whatever_it_holds(farpath: Farpath) -> None:
    ended = farpath("run", "--rtt=20ms", "--topology=parking-lot:2\n\x1b[2J")
    assert ended.status == 2
    (line,) = ended.err.splitlines()
    assert r"--topology is 'parking-lot:2\n\x1b[2J'" in line


def test_preflight_names_what_only_some_runs_need_and_for_which(farpath: Farpath) -> None:
    ended = farpath("preflight", "--lab=host")
    for row in ("nft, for DROP ", "module tcp_diag, for TRACE ", "socat, for BACKGROUND "):
        (line,) = [line for line in ended.out.splitlines() if line.startswith(row)]
        assert " ok " in line or " poor " in line


def test_preflight_prints_a_line_for_each_thing_with_its_remedy(farpath: Farpath) -> None:
    ended = farpath("preflight", "--lab=host", "--stack=highspeed")
    rows = {line.split("  ")[0]: line for line in ended.out.splitlines()}
    assert {"root", "crun", "module sch_netem", "module tcp_highspeed", "ticks", "cores"} <= set(
        rows
    )
    missing = [line for line in rows.values() if "  missing  " in line]
    assert [line for line in missing if ": " not in line] == []
    assert ended.status == (3 if missing else 0)


@pytest.mark.parametrize("stack", ["nosuch", "htcp:colour=red", "htcp+nosuch"])
def test_preflight_of_a_stack_that_there_is_not_is_refused(farpath: Farpath, stack: str) -> None:
    for lab in ("virtual", "host"):
        ended = farpath("preflight", f"--lab={lab}", f"--stack={stack}")
        assert (ended.status, ended.out) == (2, "")
        assert ended.err.startswith("farpath: --stack")


def test_clean_says_what_it_removed_and_when_nothing_is_left(
    farpath: Farpath, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / ".partial-1-abcd1234").mkdir()
    endings = [farpath("clean", f"--out={tmp_path}") for _ in range(2)]
    assert [ended.status for ended in endings] == [0, 0]
    assert [ended.out for ended in endings] == [
        f"removed {tmp_path}/.partial-1-abcd1234\n",
        "nothing is left of killed runs\n",
    ]


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("below", ["", "/below"])
def test_a_file_as_place_for_records_is_status_2(
    farpath: Farpath, tmp_path: FilePath, below: str
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    ended = farpath("run", f"--out={file}{below}")
    assert ended.status == 2
    what = f"{file}/below cannot be made: {file}" if below else file
    assert ended.err.splitlines()[-1] == (
        f"farpath: {what} is a regular file, no directory: give another directory with --out"
    )
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.usefixtures("built")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_for_records_that_may_not_be_written_is_status_2(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    tmp_path.chmod(0o500)
    ended = farpath("run", f"--out={tmp_path / 'results'}")
    tmp_path.chmod(0o700)
    assert ended.status == 2
    assert "OUT" in ended.err.splitlines()[-1]


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("error", "status"), [(LabFailedError, 4), (CheckFailedError, 5)], ids=["lab", "check"]
)
def test_a_failed_run_has_its_status_its_console_and_leaves_no_record(
    farpath: Farpath,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: FilePath,
    error: type[LabFailedError] | type[CheckFailedError],
    status: int,
) -> None:
    def fail(*_arguments: object) -> float:
        raise error("it went wrong", "first line\nsecond line")

    monkeypatch.setattr(run, "_fill", fail)
    ended = farpath("run", f"--out={tmp_path / 'results'}")
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.splitlines()[-3:] == [
        "farpath: it went wrong",
        "  | first line",
        "  | second line",
    ]
    assert list((tmp_path / "results").iterdir()) == []


def test_a_directory_that_is_no_record_is_refused(farpath: Farpath, tmp_path: FilePath) -> None:
    for directory in (tmp_path, tmp_path / "none"):
        ended = farpath("show", str(directory))
        assert ended.status == 2
        assert ended.err.startswith(f"farpath: {directory}")
        assert ended.err.count("\n") == 1


def test_a_record_is_shown_with_its_tables_and_places(farpath: Farpath, record: Record) -> None:
    ended = farpath("show", str(record.directory))
    assert ended.status == 0
    assert "Each flow" in ended.out
    assert "Whole run" in ended.out
    assert "Table 1" not in ended.out  # the paper has no run of two flows
    assert record.fingerprint in ended.out
    assert "page  " not in ended.out
    (record.directory / "page.html").write_text("")
    assert (
        f"page        {record.directory / 'page.html'}"
        in farpath("show", str(record.directory)).out
    )
    assert "warning: take care" in ended.out


def test_a_record_says_which_hosts_started_from_which_image(
    farpath: Farpath, record: Record
) -> None:
    file = record.directory / "record.json"
    data = json.loads(file.read_text())
    image = {"name": "mine", "digest": "sha256:12", "build": "0", "environment": [],
             "directory": "/"}  # fmt: skip
    data["plan"]["images"] = {"receiver": image, "sender": image}
    write_description(file, data)
    assert "sender, receiver: image mine, sha256:12\n" in farpath("show", str(file.parent)).out


def test_a_record_as_json_is_one_object_on_stdout(farpath: Farpath, record: Record) -> None:
    ended = farpath("show", "--json", str(record.directory))
    printed = json.loads(ended.out)
    assert (ended.status, ended.err) == (0, "")
    assert printed["record"] == str(record.directory)
    assert printed["fingerprint"] == record.fingerprint
    assert printed["metrics"]["stack"] == "2xhtcp"
    assert [flow["flow"] for flow in printed["metrics"]["flows"]] == ["flow1", "flow2"]


def test_a_changed_record_is_status_5(farpath: Farpath, record: Record) -> None:
    record.samples.ping.assign(rtt_ms=1.0).to_parquet(record.directory / "ping.parquet")
    ended = farpath("show", str(record.directory))
    assert ended.status == 5
    assert "the record was changed" in ended.err
    assert ended.err.count("\n") == 1


def test_the_lists_name_every_stack_and_path(farpath: Farpath) -> None:
    assert "H-TCP" in farpath("stacks").out
    named = {line.split()[0] for line in farpath("paths").out.splitlines()}
    assert named >= {"caltech", "cern", "ufl"}


def test_a_fault_of_farpaths_own_is_no_verdict(
    farpath: Farpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Status 1, which Python itself gives, would say that a stack changed
    def fail() -> None:
        raise RuntimeError("BUG")

    monkeypatch.setattr(app, "command_line", fail)
    ended = farpath("regress")
    assert ended.status == 70
    assert "RuntimeError: BUG" in ended.err


def test_any_command_removes_what_killed_runs_left_among_temporary_files(
    farpath: Farpath, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / f"{SHARE}left1234"
    left.mkdir()
    write_code(left, None)
    (tmp_path / f"{SHARE}mine").mkdir()
    assert farpath("paths").err == ""
    assert [path.name for path in tmp_path.iterdir()] == [f"{SHARE}mine"]


LONG_NAME = "n" * 300


@pytest.mark.parametrize(
    "words",
    [
        ("draw", f"--out=/tmp/{LONG_NAME}.png"),
        ("draw", f"--record={LONG_NAME}"),
        ("show", LONG_NAME),
        ("run", f"--stack=./{LONG_NAME}.c"),
        ("run", f"--stack=oci:./{LONG_NAME}"),
        ("run", f"--sender-image=./{LONG_NAME}"),
        ("run", f"--path={LONG_NAME}"),
        ("tables", f"--records={LONG_NAME}"),
        ("claims", f"--measures={LONG_NAME}"),
        ("site", f"--records={LONG_NAME}"),
        ("regress", f"--baseline={LONG_NAME}"),
        ("campaign", "--list", f"--experiment={LONG_NAME}"),
        ("campaign", "--list", f"--experiments={LONG_NAME}"),
        ("clean", f"--out={LONG_NAME}"),
        (f"--{LONG_NAME}",),
        (LONG_NAME,),
    ],
    ids=lambda words: " ".join(word[:20] for word in words),
)
def test_a_name_too_long_is_one_line_of_a_length_that_can_be_read(
    farpath: Farpath, words: tuple[str, ...]
) -> None:
    ended = farpath(*words)
    last = ended.err.splitlines()[-1]
    assert ended.status == 2, ended.err
    assert last.startswith("farpath: ")
    assert "Traceback" not in ended.err
    assert len(last) < 1500


def test_a_place_for_records_that_is_not_utf_8_is_refused_before_anything_runs(
    tmp_path: FilePath,
) -> None:
    out = os.fsencode(tmp_path) + b"/caf\xe9"
    code = "from farpath.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", b"--out=" + out], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"is not UTF-8" in done.stderr
    assert done.stderr.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--cc=bbr"], "No such option: --cc; write --stack=bbr"),
        (["run", "--cc", "bbr"], "No such option: --cc; write --stack=bbr"),
        (["run", "--bw=10Mbit"], "No such option: --bw; write --rate=10Mbit"),
        (["run", "--delay=50ms"], "No such option: --delay; write --rtt=100ms"),
        (["run", "--rate=100"], "--rate is '100': a number without a unit, so in bit/s"),
        (["run", "--rate=100"], "out of range; write, for example, 450Mbit/s; it must be a rate"),
        (["run", "--rtt=50"], "a number without a unit; write, for example, 164ms; it must be a"),
        (["starvation", "--rtt=10ms,20ms"], "write --rtt=10..20ms"),
        (["run", "--rate=1kbit"], "between 100 kbit/s and 10 Gbit/s"),
        (["run", "--buffer=1GB", "--rtt=20s"], "between 0 ms and 10 s"),
        (["run", "--buffer=2000"], "between 3 kB and 1 GiB"),
        (["run", "--loss=5"], "out of range (did you mean 5%?)"),
        (["run", "--stack=bbr2"], "--stack is 'bbr2': there is no such stack (did you mean bbr?)"),
        (["tables", "mine"], "write --records=mine"),
        (["figures", "mine"], "No such command 'figures'; write farpath site --figures"),
        (["summary"], "No such command 'summary'; write farpath tables --format=summary"),
        (["site", "mine"], "write --records=mine"),
        (["show", "results/none*"], "for several give them without quotes to farpath compare"),
    ],
    ids=" ".join,
)
def test_an_error_keeps_what_was_meant_and_says_how_to_write_it(
    farpath: Farpath, words: list[str], message: str
) -> None:
    ended = farpath(*words)
    assert ended.status == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert len(ended.err) < 320
