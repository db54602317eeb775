"""The machine of the host lab's long cases: with farpath's stacks and an experiment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from farpath.lab.qemu import Machine
from farpath.runs.experiment import CPU, load_experiment
from farpath.runs.host_lab import EXPERIMENTS, copy_experiment
from farpath.runs.job import CampaignJob
from tests.hostlab.conftest import LIMIT_S, SPEED, made_of
from tests.hostlab.runs import load_modules


@pytest.fixture(scope="package")
def cpu_job(tmp_path_factory: pytest.TempPathFactory) -> CampaignJob:
    """The experiment's runs that count CPU, with a place for records of its own."""
    out = tmp_path_factory.mktemp("records")
    return CampaignJob(load_experiment("seven-regions"), CPU, out)


@pytest.fixture(scope="package")
def machine(tmp_path_factory: pytest.TempPathFactory, cpu_job: CampaignJob) -> Iterator[Machine]:
    """The machine; what a run loads is loaded before a test looks for traces."""
    experiments = tmp_path_factory.mktemp("experiment")
    copy_experiment(cpu_job, experiments)
    more = {EXPERIMENTS: experiments}
    jobs = tmp_path_factory.mktemp("jobs")
    with Machine(made_of(True), jobs, SPEED, LIMIT_S, more) as machine:
        load_modules(machine)
        yield machine
