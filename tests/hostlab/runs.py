"""Runs of the host lab in the machine, over a path that software emulation carries easily."""

from __future__ import annotations

from pathlib import Path

from farpath.lab.qemu import OUT, Machine, MachineJob
from farpath.record.record import Record, load_record

#: 10 Mbit/s, 40 ms.
PATH = ("--rtt=40ms", "--rate=10Mbit")
REGION_S = 5
#: What a run says of its progress once there is traffic.
TRAFFIC = r": [1-9][0-9]* of [0-9]+ s"


def load_modules(machine: Machine) -> None:
    """Load what the first run would load, and leave."""
    machine.do("modprobe", "-a", "veth", "openvswitch", "sch_netem", "sch_tbf")


def host_run(machine: Machine, *arguments: str) -> MachineJob:
    return machine.start_farpath(
        "run", "--lab=host", *PATH, f"--region={REGION_S}s", f"--out={OUT}", *arguments
    )


def fetched(machine: Machine, directory: str) -> Record:
    """A record in the machine, read on the host."""
    assert machine.run("cp", "-r", directory, "/jobs/").status == 0
    return load_record(machine.jobs / Path(directory).name)
