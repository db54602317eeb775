"""Users' own stacks in the lab: both examples, and what is refused with a clear line."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, CheckFailedError, LabFailedError
from farpath.base.project import PROJECT
from farpath.lab import uml
from farpath.lab.artifacts.images import find_images
from farpath.lab.artifacts.user_stacks import user_stack
from farpath.lab.watchdog import Patience
from farpath.planning.planner import make_plan
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow, Schedule
from farpath.spec.stack import Stack
from tests.support.paths import SHORT
from tests.support.processes import await_true, interruptible

from .conftest import RunPlan

EXAMPLES = PROJECT / "examples"
#: TCP's payload in a packet of 1500 bytes with timestamps (RFC 7323, appendix A).
TCP_PAYLOAD_BYTES = 1448

OwnStack = Callable[[str], Stack]


@pytest.fixture
def own(build: FilePath) -> OwnStack:
    """The stack that a text means, built in a cache of this test's own."""

    def make(text: str) -> Stack:
        stack = user_stack(text, build)
        assert stack is not None
        return stack

    return make


@pytest.fixture
def module(tmp_path: FilePath) -> Callable[..., FilePath]:
    """The example's source under another name, texts of it replaced."""

    def write(name: str, replaced: str = "", by: str = "") -> FilePath:
        text = (EXAMPLES / "own-module" / "tcp_fixed.c").read_text()
        assert replaced in text
        text = text.replace('"fixed"', f'"{name}"').replace(replaced or text, by or text)
        file = tmp_path / f"tcp_{name}.c"
        file.write_text(text)
        return file

    return write


@pytest.fixture
def congestion(tmp_path: FilePath) -> Callable[..., FilePath]:
    """The example's congestion control for UDT under another name, a text of it replaced."""

    def write(name: str, replaced: str, by: str) -> FilePath:
        text = (EXAMPLES / "own-congestion" / "aimd.cpp").read_text()
        assert replaced in text
        file = tmp_path / f"{name}.cpp"
        file.write_text(text.replace(replaced, by))
        return file

    return write


def umoci(*arguments: str) -> None:
    subprocess.run(["umoci", *arguments], check=True)


@pytest.fixture
def image(tmp_path: FilePath) -> Callable[..., FilePath]:
    """An image of one static program, configured with options of umoci config."""

    def make(source: str, *options: str) -> FilePath:
        layout, program = tmp_path / "image" / "mine", tmp_path / "program"
        layout.parent.mkdir()
        command = ["gcc", "-static", "-x", "c", "-o", str(program), "-"]
        subprocess.run(command, input=source, text=True, check=True)
        umoci("init", "--layout", str(layout))
        umoci("new", "--image", f"{layout}:latest")
        umoci("insert", "--rootless", "--image", f"{layout}:latest", str(program), "/program")
        umoci("config", "--image", f"{layout}:latest", *options)
        return layout

    return make


@pytest.fixture
def steady(tmp_path: FilePath) -> FilePath:
    """The example's image, made as its Makefile makes it."""
    directory = str(EXAMPLES / "own-image")
    subprocess.run(["make", "-sC", directory, f"OUT={tmp_path}"], check=True)
    return tmp_path / "steady"


def plan_of(stack: Stack, duration_s: float, loss: float = 0.0) -> Plan:
    """One flow of a stack on path caltech."""
    path = dataclasses.replace(SHORT, loss=loss)
    flow = Flow("flow1", "sender", "receiver", stack.label, 0.0, duration_s, 5201)
    schedule = Schedule("alone", (flow,), duration_s, duration_s)
    return make_plan(path, schedule, 1, "virtual", user_stacks=[stack])


@pytest.mark.nightly
def test_the_example_module_carries_its_window_per_round_trip(
    run_plan: RunPlan, own: OwnStack
) -> None:
    stack = own(f"{EXAMPLES}/own-module/tcp_fixed.c:window_packets=100")
    plan = plan_of(stack, 5.0)
    record = run_plan(plan)
    # The window is below what the path holds, so nothing waits: a packet's round trip
    # is the path's RTT and the packet's own 15 us. In the first second TCP connects.
    rows = record.samples.flows.iloc[1:5]
    predicted_bps = 8e3 * 100 * TCP_PAYLOAD_BYTES / plan.path.rtt_ms
    ratios = rows["throughput_bps"] / predicted_bps
    print("measured / predicted:", [f"{ratio:.4f}" for ratio in ratios])
    # 1 %: four seconds have 294 round trips, whose packets travel as a burst, and the
    # receiver counts in steps of 128 KiB, 0.9 windows; both may miss one at each end.
    assert ratios.mean() == pytest.approx(1.0, abs=0.01)
    assert set(rows["cwnd_bytes"]) == {100 * TCP_PAYLOAD_BYTES}
    assert record.data["readback"]["before"]["parameters"] == {
        "fixed:window_packets=100": {"window_packets": "100"}
    }
    assert record.data["provenance"]["stacks"]["fixed:window_packets=100"]["source_hash"]


@pytest.mark.nightly
def test_the_example_modules_window_stays_whatever_is_lost(
    run_plan: RunPlan, own: OwnStack
) -> None:
    stack = own(f"{EXAMPLES}/own-module/tcp_fixed.c")
    record = run_plan(plan_of(stack, 5.0, loss=1e-3))
    rows = record.samples.flows[record.samples.flows["cwnd_bytes"] > 0]
    print("retransmits:", list(rows["retransmits"]), "cwnd:", set(rows["cwnd_bytes"]))
    # 100 packets per 13.6 ms are 36765 in 5 s, of which 37 are lost on average.
    assert 15 <= rows["retransmits"].sum() <= 65
    assert set(rows["cwnd_bytes"]) == {100 * TCP_PAYLOAD_BYTES}


@pytest.mark.nightly
def test_the_example_image_sends_at_its_rate_and_always_alike(
    run_plan: RunPlan, own: OwnStack, steady: FilePath
) -> None:
    stack = own(f"oci:{steady}:rate_bps=10000000")
    records = [run_plan(plan_of(stack, 3.0)) for _ in range(2)]
    rows = records[0].samples.flows.iloc[:3]
    ratios = list(rows["throughput_bps"] / 10e6)
    print("measured / asked:", [f"{ratio:.4f}" for ratio in ratios])
    # 1 %: a second has 849 packets and a part of one.
    assert ratios == pytest.approx([1.0] * 3, abs=0.01)
    assert set(rows["cwnd_bytes"]) == set(rows["rtt_us"]) == {0}
    assert records[0].fingerprint == records[1].fingerprint
    manifest = records[0].data["provenance"]["stacks"]["steady:rate_bps=10000000"]
    assert manifest["command"] == ["/steady"]


def test_a_tar_is_the_stack_that_its_layout_is_and_is_unpacked_once(
    own: OwnStack, steady: FilePath, tmp_path: FilePath
) -> None:
    tar = tmp_path / "steady.tar"
    with tarfile.open(tar, "w") as writer:
        writer.add(steady, arcname=".")
    first = own(f"oci:{tar}")
    program = tmp_path / "build" / "own" / first.build / "rootfs" / "steady"
    assert program.stat().st_mode & 0o7777 == 0o755
    made_ns = program.stat().st_mtime_ns, program.stat().st_ctime_ns
    assert own(f"oci:{steady}") == first
    assert (program.stat().st_mtime_ns, program.stat().st_ctime_ns) == made_ns
    assert sorted(file.name for file in (tmp_path / "cache" / "own").iterdir()) == [
        first.build,
        "lock",
    ]


def test_a_module_that_does_not_compile_is_refused_with_the_compilers_lines(
    own: OwnStack, module: Callable[..., FilePath], tmp_path: FilePath
) -> None:
    source = module("mine", "return window_packets;", "return window_bytes;")
    with pytest.raises(BadInputError, match="does not compile for the lab's kernel") as got:
        own(str(source))
    assert "tcp_mine.c:" in got.value.detail
    assert "window_bytes" in got.value.detail
    assert [file.name for file in (tmp_path / "cache" / "modules").iterdir()] == ["lock"]


@pytest.mark.parametrize(
    ("changes", "parameters", "complaint"),
    [
        ({}, ":window_packets=1", "window_packets is 1: it must be 2 to 1000000"),
        (
            {
                "replaced": "return tcp_register",
                "by": 'strscpy(fixed.name, "other", 6);\n\treturn tcp_register',
            },
            "",
            "tcp_mine registers another name; it has reno, .*other",
        ),
    ],
    ids=["init fails", "another name"],
)
def test_a_module_that_the_kernel_does_not_take_is_refused_with_the_kernels_words(
    run_plan: RunPlan,
    own: OwnStack,
    module: Callable[..., FilePath],
    changes: dict[str, str],
    parameters: str,
    complaint: str,
) -> None:
    stack = own(f"{module('mine', **changes)}{parameters}")
    with pytest.raises(BadInputError, match=complaint) as got:
        run_plan(plan_of(stack, 5.0))
    assert got.value.message.startswith("stack: ")
    assert "Traceback" not in got.value.message + got.value.detail


def test_a_parameter_that_cannot_be_read_back_fails_the_check(
    run_plan: RunPlan, own: OwnStack, module: Callable[..., FilePath]
) -> None:
    stack = own(f"{module('mine', '0444', '0')}:window_packets=50")
    with pytest.raises(CheckFailedError, match=r"nowhere in sysfs .*0444.*not 50"):
        run_plan(plan_of(stack, 5.0))


LOOPS = r"the lab hangs at the site of \w+: .* without progress"


@pytest.mark.parametrize(
    ("replaced", "by", "meaning"),
    [
        ("if (window_packets < 2", "for (;;) barrier(); if (window_packets < 2", LOOPS),
        ("tcp_snd_cwnd_set(tcp_sk(sk), window_packets);", "for (;;) cpu_relax();", LOOPS),
        (
            "tcp_snd_cwnd_set(tcp_sk(sk), window_packets);",
            "schedule_timeout_uninterruptible(HZ);",
            "the lab failed at the site of sender: the guest's kernel warned of a fault",
        ),
    ],
    ids=["a loop at its start", "a loop at an ACK", "a sleep at an ACK"],
)
def test_a_module_that_stops_the_kernel_ends_the_run_soon(
    own: OwnStack,
    module: Callable[..., FilePath],
    build: FilePath,
    tmp_path: FilePath,
    replaced: str,
    by: str,
    meaning: str,
) -> None:
    plan = plan_of(own(str(module("mine", replaced, by))), 5.0)
    log, patience = tmp_path / "console.log", Patience(cpu_s=2.0, busy_virtual_s=0.05)
    with (
        pytest.raises(LabFailedError, match=meaning),
        uml.play(plan, find_images(build), log, lambda _event: None, patience),
    ):
        pytest.fail("it came to its end")


@pytest.mark.parametrize(
    "text",
    [
        '#include "tcp_mine.c"\n#include "tcp_mine.c"\n',
        "".join(f"#define M{k} M{k - 1} M{k - 1}\n" for k in range(1, 60)) + "int M59;\n",
    ],
    ids=["includes itself", "a macro that grows"],
)
def test_a_source_whose_compilation_never_ends_is_refused_and_leaves_no_process(
    own: OwnStack, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("FARPATH_COMPILE_LIMIT_S", "3")
    source = tmp_path / "tcp_mine.c"
    source.write_text(text)
    with pytest.raises(BadInputError, match="was not compiled within 3 s: mend what has no end"):
        own(str(source))
    await_true(lambda: not naming(tmp_path))
    assert [file.name for file in (tmp_path / "cache" / "modules").iterdir()] == ["lock"]


def test_an_interrupted_compilation_leaves_no_process(tmp_path: FilePath) -> None:
    source = tmp_path / "tcp_mine.c"
    source.write_text('#include "tcp_mine.c"\n#include "tcp_mine.c"\n')
    command = [sys.executable, "-m", "farpath", "run", f"--stack={source}"]
    process = subprocess.Popen(
        interruptible([*command, f"--out={tmp_path / 'results'}"]),
        env={**os.environ, "FARPATH_CACHE": str(tmp_path / "cache")},
        stderr=subprocess.PIPE,
        text=True,
    )
    await_true(lambda: any("cc1" in line for line in naming(tmp_path / "cache")))
    process.send_signal(signal.SIGINT)
    _, output = process.communicate()
    assert process.returncode == 130, output
    await_true(lambda: not naming(tmp_path))
    assert [file.name for file in (tmp_path / "cache" / "modules").iterdir()] == ["lock"]


def naming(directory: FilePath) -> list[str]:
    """The command lines of processes that name a place or work in it."""
    lines = []
    for process in FilePath("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(directory) in line or (process / "cwd").readlink().is_relative_to(directory):
                lines.append(line)
    return lines


PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char where[99];
    if (argc > 1 && argv[1][0] == 'w')
        pause();
    fprintf(stderr, "MINE is %s, in %s, as %s", getenv("MINE"), getcwd(where, 99), argv[argc - 1]);
    return 3;
}
"""


def test_a_program_has_its_images_surroundings_and_its_last_words_are_told(
    run_plan: RunPlan, own: OwnStack, image: Callable[..., FilePath]
) -> None:
    options = ["--config.entrypoint=/program", "--config.env=MINE=a=b", "--config.workingdir=/tmp"]
    stack = own(f"oci:{image(PROGRAM, *options)}:rate=7")
    message = "flow1-receiver exited with 3: MINE is a=b, in /tmp, as 7; its console is in"
    with pytest.raises(LabFailedError, match=message) as got:
        run_plan(plan_of(stack, 5.0))
    assert got.value.detail == ""


def test_a_receiver_that_never_waits_on_its_port_ends_the_run(
    run_plan: RunPlan, own: OwnStack, image: Callable[..., FilePath]
) -> None:
    stack = own(f"oci:{image(PROGRAM, '--config.entrypoint=/program', '--config.cmd=wait')}")
    with pytest.raises(LabFailedError, match="does not wait on TCP or UDP port 5201"):
        run_plan(plan_of(stack, 5.0))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ([], "has no entry point"),
        (["--config.entrypoint=/program", "--architecture=arm64"], "is for linux/arm64"),
    ],
    ids=["no entry point", "another architecture"],
)
def test_an_image_that_the_lab_cannot_run_is_refused_before_it_is_unpacked(
    own: OwnStack,
    image: Callable[..., FilePath],
    tmp_path: FilePath,
    options: list[str],
    complaint: str,
) -> None:
    layout = image(PROGRAM, "--author=me", *options)
    with pytest.raises(BadInputError, match=complaint):
        own(f"oci:{layout}")
    assert not (tmp_path / "cache" / "own").exists()


def test_a_layer_that_is_damaged_is_refused_and_leaves_nothing(
    own: OwnStack, image: Callable[..., FilePath], tmp_path: FilePath
) -> None:
    layout = image(PROGRAM, "--config.entrypoint=/program")
    layer = max((layout / "blobs" / "sha256").iterdir(), key=lambda file: file.stat().st_size)
    layer.write_bytes(layer.read_bytes()[:-100])
    with pytest.raises(BadInputError, match="umoci cannot unpack"):
        own(f"oci:{layout}")
    assert [file.name for file in (tmp_path / "cache" / "own").iterdir()] == ["lock"]


def test_a_parameter_that_the_built_module_lacks_is_refused_before_any_boot(own: OwnStack) -> None:
    with pytest.raises(BadInputError, match=r"no parameter 'windows'.*it has window_packets"):
        own(f"{EXAMPLES}/own-module/tcp_fixed.c:windows=3")


@pytest.mark.nightly
def test_the_example_congestion_control_steps_up_with_each_ack(
    run_plan: RunPlan, own: OwnStack
) -> None:
    stack = own(f"{EXAMPLES}/own-congestion/aimd.cpp:step=20,fc=20000")
    record = run_plan(plan_of(stack, 4.0))
    with gzip.open(record.directory / "raw" / "flow1-sender.out.gz", "rt") as file:
        rows = [interval["streams"][0] for interval in json.load(file)["intervals"]]
    assert not any(row["lost_packets"] for row in rows)
    for before, after in pairwise(rows):
        grown_pps = 1e6 / after["snd_period_us"] - 1e6 / before["snd_period_us"]
        print(f"{after['acks']} ACKs, {grown_pps:.1f} packets a second more")
        # Periods are printed to a millionth of a us
        assert grown_pps == pytest.approx(20 * after["acks"], rel=1e-3)


@pytest.mark.nightly
def test_a_congestion_control_of_ones_own_and_udts_share_a_run(
    run_plan: RunPlan, own: OwnStack
) -> None:
    stack = own(f"{EXAMPLES}/own-congestion/aimd.cpp:step=100")
    flows = tuple(
        Flow(f"flow{n}", "sender", "receiver", label, 0.0, 3.0, 5200 + n)
        for n, label in enumerate((stack.label, "udt4"), start=1)
    )
    schedule = Schedule("both", flows, 3.0, 3.0)
    record = run_plan(make_plan(SHORT, schedule, 1, "virtual", user_stacks=[stack]))
    totals = record.samples.flows.groupby("flow")["throughput_bps"].sum()
    assert set(totals.index) == {"flow1", "flow2"}
    assert (totals > 0).all()
    (own_build,) = [
        text for text in record.data["provenance"]["stacks"].values() if "sources" in text
    ]
    assert "aimd.cpp" in own_build["sources"]


def test_a_value_that_the_congestion_control_refuses_is_in_the_message(
    run_plan: RunPlan, own: OwnStack
) -> None:
    stack = own(f"{EXAMPLES}/own-congestion/aimd.cpp:keep=100")
    complaint = "exited with 2: udtperf: keep is '100': it must be 1 to 99 per cent"
    with pytest.raises(LabFailedError, match=complaint):
        run_plan(plan_of(stack, 2.0))


@pytest.mark.parametrize(
    ("replaced", "by", "complaint"),
    [
        ("step_pps = number;", "step_pps = nmber;", "does not compile for udtperf"),
        ("udt_congestion()", "congestion()", "has no function udt_congestion: give it"),
        (
            "return new CCCFactory<Aimd>;",
            "CPacket packet; return new CCCFactory<Aimd>;",
            r"uses what udtperf does not have: CPacket::CPacket\(\).*class CCC alone",
        ),
    ],
)
def test_a_congestion_control_that_udtperf_could_not_load_is_refused_before_the_boot(
    own: OwnStack, congestion: Callable[..., FilePath], replaced: str, by: str, complaint: str
) -> None:
    with pytest.raises(BadInputError, match=complaint):
        own(str(congestion("wrong", replaced, by)))
