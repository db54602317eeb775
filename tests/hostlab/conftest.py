"""The host lab for tests: in a QEMU machine with Debian's stock kernel, booted once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from farpath import qemu
from farpath.conduct import Job
from farpath.experiment import CPU, load_experiment
from farpath.host_runs import EXPERIMENTS, copy_experiment
from farpath.qemu import Machine, Speed

#: 500 million instructions a second. The lab's traffic at 10 Mbit/s keeps the machine busy
#: for a thirtieth of the time.
SPEED = Speed(cores=2, instruction_ns=2)
#: All tests together, in real time, on a host that is busy with other things.
LIMIT_S = 2700


@pytest.fixture(scope="session")
def cpu_job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """The experiment's runs that count CPU, with a place for records of its own."""
    out = tmp_path_factory.mktemp("records")
    return Job(load_experiment("seven-regions"), CPU, out)


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, cpu_job: Job) -> Iterator[Machine]:
    """The machine; HOST_LAB_ROOT is another root for it, a directory or an image."""
    given = os.environ.get("HOST_LAB_ROOT")
    made_of = qemu.parts(Path(given).resolve() if given else None)
    experiments = tmp_path_factory.mktemp("experiment")
    copy_experiment(cpu_job, experiments)
    more = {EXPERIMENTS: experiments}
    with Machine(made_of, tmp_path_factory.mktemp("jobs"), SPEED, LIMIT_S, more) as machine:
        yield machine
