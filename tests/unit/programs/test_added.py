"""A program is one folder: a new one is found everywhere, and no file of the project changes."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path as FilePath

import pytest

from farpath import programs as package
from farpath.base.errors import BadInputError, CheckFailedError, LabFailedError
from farpath.lab.artifacts.sources import source_identity
from farpath.metrics.flow_summary import flow_summaries
from farpath.planning.request import RunRequest
from farpath.planning.rules import check_plan
from farpath.record.checks import check_programs, counted_flows
from farpath.record.identity import plan_identity
from farpath.record.record import samples_from_raw
from farpath.report.overview import flows_table
from farpath.spec.plan import Plan
from tests.support.built_images import built_images, changed
from tests.support.command_line import Farpath
from tests.support.refusals import refused
from tests.support.synthetic_run import write_pings, write_queue

CODE = '''
"""Blurt: prints a line with start, end and bytes of each interval, and how it sent."""

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.programs.program import Program
from farpath.spec.settings import VIRTUAL
from farpath.tools.iperf3 import ReceiverInterval, SenderInterval


def rows(text):
    try:
        lines = [line.split() for line in text.splitlines() if line[:1].isdigit()]
        return [(int(start), int(end), int(count)) for start, end, count in lines]
    except ValueError as error:
        raise LabFailedError(f"blurt printed no intervals: {error}") from error


class Blurt(Program):
    name = "blurt"
    ip_versions = (4,)
    labs = (VIRTUAL,)
    paces_itself = True
    packet_size_parameter = "size"
    counted_as = "blurts"
    source_hashes = ("blurt_hash",)

    def fitted(self, stack, path, ip_version):
        import dataclasses
        return dataclasses.replace(stack, parameters={"size": "1000", **stack.parameters})

    def parse_sender(self, text):
        return [SenderInterval(*row, 3, 0, 0, 50_000) for row in rows(text)]

    def parse_receiver(self, text):
        return [ReceiverInterval(*row) for row in rows(text)]

    def parse_begin_ns(self, text):
        return None

    def check_flow(self, stack, rows, output, plan):
        if "quietly" in output.sender:
            raise CheckFailedError(f"{output.flow.name} blurted quietly")

    def counted(self, stack, output):
        return {"lines": len(output.sender.splitlines())}


PROGRAM = Blurt()
'''
STACKS = """
[blurt]
title = "Blurt"
year = 2026
source = "RFC 9999; blurt 1.0"
[blurt.parameters]
size = { default = 1000, range = [64, 9000], unit = "bytes", meaning = "size of a packet" }
"""
MODULE = f"{package.__name__}.blurt"


@pytest.fixture(autouse=True)
def _added(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "programs" / "blurt"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "program.py").write_text(CODE)
    (folder / "stacks.toml").write_text(STACKS)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder.parent)])
    for module in (MODULE, f"{MODULE}.program"):
        monkeypatch.setitem(sys.modules, module, None)  # so that it is gone afterwards
        monkeypatch.delitem(sys.modules, module)


def plan_of(stack: str = "blurt", **options: str) -> Plan:
    words = {"rtt": "50ms", "rate": "50Mbit", "time": "5s", "seed": "1", **options}
    return RunRequest(**words, stack=stack).plan()


def test_it_is_in_the_list_of_stacks_and_is_explained(farpath: Farpath) -> None:
    assert "blurt          Blurt, 2026" in farpath("stacks").out
    assert "size = 1000 bytes, 64 to 9000 in bytes" in farpath("stacks", "blurt").out


def test_it_is_planned_and_its_parameters_and_sources_decide_the_identity(
    tmp_path: FilePath,
) -> None:
    plan, larger = plan_of(), plan_of("blurt:size=1200")
    assert (plan.stacks[0].program, plan.stacks[0].parameters) == ("blurt", {"size": "1000"})
    assert plan_identity(plan) != plan_identity(larger)
    images = changed(built_images(tmp_path), "sender", blurt_hash="b")
    other = changed(images, "sender", blurt_hash="other")
    assert source_identity(plan, other) != source_identity(plan, images)
    assert source_identity(plan_of("udt"), other) == source_identity(plan_of("udt"), images)


@pytest.mark.parametrize(
    ("stack", "options", "option"),
    [
        ("blurt:size=10", {}, "stack"),
        ("blurt:size=1501", {}, "stack"),
        ("blurt", {"ip": "6"}, "stack"),
        ("blurt", {"lab": "host"}, "stack"),
        ("blurt", {"bytes": "1MB"}, "bytes"),
        ("blurt", {"source": "disk:445MB/s"}, "source"),
        ("blurt", {"era": "2004:jitter=12us"}, "era"),
        ("blurt:size=700", {"drop": "every:10"}, "drop"),
        ("blurt", {"trace": "10ms"}, "trace"),
    ],
)
def test_it_is_refused_what_it_does_not_declare(
    stack: str, options: dict[str, str], option: str
) -> None:
    with refused(option):
        plan_of(stack, **options)


def _write_raw(raw: FilePath, said: str = "") -> None:
    lines = "".join(f"{second} {second + 1} 1000000\n" for second in range(5))
    (raw / "flow1-sender.out").write_text(lines + said)
    (raw / "flow1-receiver.out").write_text(lines)
    (raw / "flow1-receiver.err").write_text("")
    write_pings(raw, 5)
    write_queue(raw, 5)


def test_its_output_is_parsed_checked_counted_and_shown(tmp_path: FilePath) -> None:
    plan = plan_of()
    _write_raw(tmp_path)
    samples = samples_from_raw(tmp_path, plan)
    assert list(samples.flows["throughput_bps"]) == [8e6] * 5
    check_programs(samples, tmp_path, plan)
    assert counted_flows(tmp_path, plan) == {"blurts": {"flow1": {"lines": 5}}}
    (flow,) = flow_summaries(samples, plan)
    assert (flow.stack, flow.resent, flow.retransmits) == ("blurt", 15, None)
    assert "blurt" in flows_table((flow,)).lines[0]
    _write_raw(tmp_path, "quietly\n")
    with pytest.raises(CheckFailedError, match="flow1 blurted quietly"):
        check_programs(samples, tmp_path, plan)
    (tmp_path / "flow1-sender.out").write_text("1 2\n")
    with pytest.raises(LabFailedError, match="blurt printed no intervals"):
        samples_from_raw(tmp_path, plan)


def test_a_plan_of_a_program_that_is_not_there_is_refused(plan: Plan) -> None:
    stack = dataclasses.replace(plan.stacks[0], program="yell")
    with pytest.raises(BadInputError, match="is run by 'yell', which is none of iperf3"):
        check_plan(dataclasses.replace(plan, stacks=(stack,)))
