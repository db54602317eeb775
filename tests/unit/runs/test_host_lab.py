"""Runs of the host lab one after another: which are made, what failed, what is brought back."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path as FilePath
from typing import Any

import pytest

from experiments.cpu_streams import analysis as cpu_streams
from farpath.base.errors import BadInputError, LabFailedError
from farpath.lab import provenance
from farpath.lab.artifacts import sources
from farpath.lab.pool import Pool
from farpath.lab.qemu import CommandResult
from farpath.lab.run import Outcome
from farpath.metrics.measures import read_measures, select_measures
from farpath.record.description import write_description
from farpath.record.record import RECORD_FILE, Record, load_record, write_record
from farpath.runs import campaign, host_lab, status
from farpath.runs.experiment import CPU, QUICK, load_experiment
from farpath.runs.job import CampaignJob
from farpath.runs.run_set import PlannedRun
from farpath.runs.status import RunStatus
from tests.support.command_line import Farpath
from tests.support.study_runs import write_run


@pytest.fixture
def job(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> CampaignJob:
    """The set that counts CPU, and an end hosts' root that says what it is."""
    monkeypatch.setattr(sources, "manifest", lambda place, what: {"packages_hash": "e"})
    return CampaignJob(load_experiment("seven-regions"), CPU, tmp_path / "out")


def written(
    place: FilePath, state: RunStatus, sample: Record, identity: str | None = None
) -> FilePath:
    """A record at a place that is one of a run, with another's samples."""
    raw = place.parent / ".raw"
    raw.mkdir(parents=True, exist_ok=True)
    made_by = {
        **sample.data["provenance"],
        "source_sha256": identity or status.wanted_identity(state.run, None),
    }
    write_record(place, state.run.plan, sample.samples, made_by, {"before": {}}, [], raw)
    return place


def make_in_place(
    run: PlannedRun, out: FilePath, _cores: int, *, job: CampaignJob, state: RunStatus
) -> Outcome:
    """A QEMU machine's place: it makes as many records as a file says, and then fails."""
    world = json.loads((job.out.parent / "world.json").read_text())
    asked = job.out.parent / "asked"
    with asked.open("a") as file:
        file.write(f"{run.name}\n")
    if len(asked.read_text().splitlines()) > world["whole"]:
        raise LabFailedError("the lab failed", "console's end")
    place = out / f"{state.name}-0123456789"
    sample = load_record(FilePath(world["sample"]))
    return Outcome(written(place, state, sample, world["identities"][run.name]), False, 0.0)


def test_what_fails_is_told_at_the_end_and_the_next_call_makes_the_rest_only(
    job: CampaignJob,
    record: Record,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(campaign, "qemu_pool", lambda _job, _runs: Pool(1))
    monkeypatch.setattr(campaign, "make_in_machine", make_in_place)
    asked = job.out.parent / "asked"
    identities = {run.label: status.wanted_identity(run, None) for run in job.runs}

    def make(whole: int) -> list[str]:
        world = {"whole": whole, "sample": str(record.directory), "identities": identities}
        (job.out.parent / "world.json").write_text(json.dumps(world))
        asked.unlink(missing_ok=True)
        states = campaign.make_campaign(job, lambda _record: None, in_qemu=True)
        assert all(state.record for state in states)
        return asked.read_text().splitlines()

    with pytest.raises(LabFailedError, match="2 of 9 runs failed") as caught:
        make(whole=7)
    assert caught.value.detail.count("the lab failed") == 2
    assert "console's end" in caught.value.detail
    assert "0 of 9 runs made, 9 left" in caplog.text
    first = asked.read_text().splitlines()
    assert make(whole=9) == first[7:]


def test_a_shipped_record_is_another_machines_and_does_not_count_as_made(
    job: CampaignJob, record: Record, tmp_path: FilePath
) -> None:
    folder = tmp_path / "experiments" / "seven_regions"
    host_lab.copy_experiment(job, folder.parent)
    there = CampaignJob(
        load_experiment("seven-regions", folder.parent), CPU, job.out, folder.parent
    )
    state = there.states()[0]
    written(there.shipped[0] / "its", state, record)
    assert there.shipped == (folder / "cpu-records",)
    assert there.states()[0].record == there.shipped[0] / "its"
    assert there.local_states()[0].record is None
    # With one of one's own those of another machine are not shown
    written(job.out / "own", there.states()[1], record)
    assert [bool(state.record) for state in there.states()[:2]] == [False, True]


class FakeMachine:
    """A machine whose farpath has made a record, or says why not."""

    def __init__(self, jobs: FilePath, done: CommandResult) -> None:
        self.jobs, self.done = jobs, done
        self.asked: tuple[str, ...] = ()

    def farpath(self, *arguments: str) -> CommandResult:
        self.asked = arguments
        return self.done

    def do(self, *command: str) -> str:
        if command[0] == "cp":
            shutil.copytree(command[2], self.jobs / FilePath(command[2]).name)
        return ""


def test_a_record_leaves_the_machine_whole_and_what_is_in_its_way_is_put_aside(
    job: CampaignJob, record: Record, tmp_path: FilePath
) -> None:
    state = job.local_states()[1]
    inside = written(tmp_path / "machine" / "place-0123456789", state, record)
    (job.out / inside.name).mkdir(parents=True)
    (job.out / inside.name / RECORD_FILE).write_text("damaged")
    (tmp_path / "jobs").mkdir()
    machine: Any = FakeMachine(tmp_path / "jobs", CommandResult(0, f"{inside}\n", ""))
    run = PlannedRun(state.run.label, state.run.plan)
    made = host_lab.make_in_machine(run, job.out, 1, machine, job=job, state=state)
    assert made.directory == job.out / inside.name
    assert load_record(job.out / inside.name).plan == state.run.plan
    assert {"--set=cpu", "--index=1"} <= set(machine.asked)
    assert [place.name for place in (job.out / "damaged").iterdir()] == [f"{inside.name}-1"]


def test_a_run_that_fails_in_the_machine_fails_with_its_last_line(
    job: CampaignJob, tmp_path: FilePath
) -> None:
    state = job.local_states()[0]
    machine: Any = FakeMachine(tmp_path, CommandResult(5, "", "network built\nfarpath: too slow\n"))
    run = PlannedRun(state.run.label, state.run.plan)
    with pytest.raises(LabFailedError, match=r"^too slow$"):
        host_lab.make_in_machine(run, job.out, 1, machine, job=job, state=state)


def test_where_the_clock_counts_instructions_a_cycle_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(provenance, "cpu_mhz", lambda: 2100.0)
    assert (provenance.cycles_mhz(), provenance.instruction_ns()) == (2100.0, None)
    monkeypatch.setenv(provenance.INSTRUCTION_NS, "2")
    assert (provenance.cycles_mhz(), provenance.instruction_ns()) == (500.0, 2)


def test_an_experiment_of_the_host_lab_ends_with_the_report_on_what_it_measured(
    farpath: Farpath, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "manifest", lambda place, what: {"packages_hash": "e"})
    runs = load_experiment(cpu_streams.EXPERIMENT).runs(QUICK)
    for number, run in enumerate(runs):
        made = write_run(tmp_path / str(number), run)
        provenance_here = {"source_sha256": status.wanted_identity(run, None)}
        data = {**made.data, "provenance": provenance_here}
        write_description(made.directory / RECORD_FILE, data)
    command = ("campaign", f"--experiment={cpu_streams.EXPERIMENT}", "--quick", f"--out={tmp_path}")
    ended = farpath(*command, "--qemu")
    assert ended.status == 0, ended.err
    assert "4 of 4 runs made" in ended.err
    assert {"C19", "C20"} <= set(ended.out.split())
    assert str(tmp_path / "report-quick" / "claims") in ended.out
    measures = read_measures(tmp_path / "report-quick" / "measures.json")
    assert len(select_measures(measures, cpu_streams.COST)) == len(runs)
    assert (tmp_path / "report-quick" / "figures" / "cpu-streams.svg").is_file()
    assert "report" not in farpath(*command, "--qemu", "--no-report").out


def test_the_virtual_labs_runs_need_no_machine(farpath: Farpath) -> None:
    ended = farpath("campaign", "--quick", "--qemu")
    assert ended.status == BadInputError.exit_status
    assert "--qemu is for runs of the host lab" in ended.err
