"""CPU figures on Debian's stock kernel: one run of the experiment's set, by what makes them all."""

from __future__ import annotations

import pytest

from farpath.lab.qemu import Machine
from farpath.metrics.run import Summary, summarise
from farpath.record.record import Record, load_record
from farpath.runs import host_lab
from farpath.runs.job import CampaignJob
from farpath.runs.run_set import PlannedRun

STACK = "htcp_2004"


@pytest.fixture(scope="module")
def record(machine: Machine, cpu_job: CampaignJob) -> Record:
    (state,) = (s for s in cpu_job.local_states() if s.run.plan.stacks[0].label == STACK)
    cpu_job.out.mkdir(exist_ok=True)
    run = PlannedRun(state.run.label, state.run.plan)
    made = host_lab.make_in_machine(run, cpu_job.out, 1, machine, job=cpu_job, state=state)
    return load_record(made.directory)


@pytest.fixture(scope="module")
def summary(record: Record) -> Summary:
    return summarise(record.samples, record.plan, record.cpu)


def test_a_stack_of_2004_ran_as_a_module_for_the_machines_kernel(record: Record) -> None:
    assert set(record.data["provenance"]["stacks"]) == {STACK}
    assert record.plan.settings.lab == "host"


def test_the_record_counts_as_made(record: Record, cpu_job: CampaignJob) -> None:
    made = [state.record for state in cpu_job.local_states() if state.record]
    assert made == [record.directory]


def test_a_cycle_is_an_instruction(record: Record, machine: Machine) -> None:
    ns = machine.speed.instruction_ns
    assert record.data["provenance"]["instruction_ns"] == ns
    assert record.cpu is not None
    assert record.cpu["mhz"] == 1000 / ns


def test_senders_took_some_of_a_core_for_what_they_carried(summary: Summary) -> None:
    print(f"CPU {summary.cpu_percent} %, {summary.mhz_per_mbps} MHz per Mbit/s")
    assert summary.mean_bps > 0.5 * summary.rate_bps
    assert summary.cpu_percent is not None
    assert 0 < summary.cpu_percent < 100
    assert summary.mhz_per_mbps is not None
    assert summary.mhz_per_mbps > 0
