"""The command that repeats a run: it means the same plan, or there is none."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path as FilePath

import pytest

from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.report.repeat import command_of
from farpath.spec.host_image import HostImage
from farpath.spec.plan import Plan
from tests.support.plans import request_of


@pytest.mark.parametrize(
    "options",
    [
        "--path=cern",
        "--rtt=50ms --rate=50Mbit --stack=reno+bbr --schedule=together --region=10s",
        "--rtt=50ms --stack=fast:alpha=100 --trace=10ms --sample=200ms",
        "--rtt=50ms --region=10s --bytes=100000000",
        "--path=ufl --loss=1e-05 --stack=cubic --era=2004 --region=10s",
        "--rtt=117ms --senders=rtt=172ms,mtu=1500 --stack=2xreno --schedule=together",
        "--rtt=50ms --topology=parking-lot:3 --stack=4xreno --schedule=together",
        "--rtt=50ms --drop='every:1000,flow=flow1 at:30s,flow=flow2' --background=0.25 --seed=3",
        "--path=cern --background=none --acks=each --reverse=2xreno --ip=6",
        "--rtt=12.345ms --buffer=10.5MB --jitter=0.2ms --reorder=0.001 --duplicate=0.0001",
        "--rtt=50ms --background=cbr:20000000bit --sysctl=net.ipv4.tcp_sack=0 --clock=cpu",
        "--rtt=200ms --rate=1000Mbit --window=20MB --stack=bbr+udt",
        "--path=cern --topology=routed --reverse=2xreno --ip=6",
        "--rtt=20ms --lab=host",
        "--rtt=20ms --lab=host --offloads=tso,checksum",
        "--rtt=20ms --source=disk:12.5MB/s,readahead=2MB --sink=disk:10MB/s,writeback=64MB",
        "--rtt=20ms --buffer=100packets --mtu=3000 --era=modern:jitter=24us",
    ],
)
def test_the_command_is_what_was_asked(options: str) -> None:
    words = shlex.split(options)
    plan = request_of(words).plan()
    command = command_of(plan)
    assert command is not None
    farpath, run, *repeated = shlex.split(command)
    assert (farpath, run) == ("farpath", "run")
    assert sorted(repeated) == sorted(words)
    again = request_of(repeated).plan()
    assert plan_identity(again) == plan_identity(plan)


def test_the_command_of_a_record_that_knows_its_request_is_what_was_typed() -> None:
    typed = {"rtt": "50ms", "buffer": "2xBDP", "background": "25%", "time": "10s"}
    command = "farpath run --rtt=50ms --buffer=2xBDP --background=25% --time=10s"
    assert command_of(RunRequest(**typed).plan(), typed) == command


def test_one_planning_is_enough_for_a_typed_command(monkeypatch: pytest.MonkeyPatch) -> None:
    request = RunRequest(rtt="50ms", buffer="2xBDP")
    plan = request.plan()
    planned: list[RunRequest] = []

    def counted(self: RunRequest, **options: bool) -> Plan:
        planned.append(self)
        return plan

    monkeypatch.setattr(RunRequest, "plan", counted)
    assert command_of(plan, request.typed) is not None
    assert planned == [request]


def test_options_that_no_longer_mean_the_plan_are_searched_for(tmp_path: FilePath) -> None:
    trace = tmp_path / "cell.trace"
    trace.write_text("1\n2\n10\n")
    of_file = RunRequest(rtt="50ms", rate=f"trace:{trace}", time="10s")
    plan = of_file.plan()
    assert (
        command_of(plan, of_file.typed) == f"farpath run --rtt=50ms --rate=trace:{trace} --time=10s"
    )
    trace.unlink()
    assert command_of(plan, of_file.typed) is None
    # Python's RTT chooses no named path, and that of the command line does
    of_python = RunRequest(rtt="164ms")
    command = command_of(of_python.plan(), of_python.typed)
    assert command is not None
    assert plan_identity(request_of(shlex.split(command)[2:]).plan(path_by_rtt=True)) == (
        plan_identity(of_python.plan())
    )


def test_of_what_only_files_can_say_there_is_no_command() -> None:
    plan = RunRequest(rtt="50ms").plan()
    image = HostImage("mine", "sha256:12", "0", (), "/")
    assert command_of(dataclasses.replace(plan, images={"sender": image})) is None
    (stack,) = plan.stacks
    own = dataclasses.replace(stack, build="12ab")
    assert command_of(dataclasses.replace(plan, stacks=(own,))) is None
    path = dataclasses.replace(plan.path, name="of-a-file")
    assert command_of(dataclasses.replace(plan, path=path)) is None
    settings = dataclasses.replace(plan.settings, ping_interval_s=0.5)
    assert command_of(dataclasses.replace(plan, settings=settings)) is None
