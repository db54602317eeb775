"""A real Slurm of two nodes on this machine, with nothing of it outside a directory.

Debian's slurmd takes a node's name with -N, so one machine can be several nodes, each
at a port of its own. Slurm's programs look for their configuration in /etc/slurm, so
all of them, and what is tested, are started where another directory is mounted there.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path as FilePath

NODES = ("near", "far")
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "munged")
#: How long Slurm may take until its nodes are there.
LIMIT_S = 60
CONFIGURATION = """\
ClusterName=farpath
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge/socket
CredType=cred/munge
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool.%n
SlurmctldPidFile={place}/controller.pid
SlurmdPidFile={place}/node.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0
MinJobAge=600
MpiDefault=none
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=2000\n"
PARTITION = "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
INSIDE = 'mount --bind "$1" /etc/slurm && shift && exec "$@"'


def missing() -> str | None:
    """What this machine lacks for a Slurm of its own; None if nothing."""
    if os.geteuid() != 0:
        return "this user is not root, and slurmd starts jobs as other users"
    if absent := [name for name in PROGRAMS if shutil.which(name) is None]:
        return f"{', '.join(absent)} not installed (images/host-packages slurm)"
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True)
    return f"no mount namespace: {done.stderr.strip()}" if done.returncode else None


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Slurm:
    """Slurm as a test sees it: how to start a program inside, and its nodes' logs."""

    def __init__(self, place: FilePath) -> None:
        self.place = place

    def inside(self, *command: str) -> list[str]:
        """A command that runs where this Slurm's configuration is /etc/slurm."""
        return ["unshare", "--mount", "sh", "-c", INSIDE, "sh", str(self.place / "etc"), *command]

    def nodes_of_jobs(self) -> dict[str, str]:
        """The node of each job that has run, by the job's id."""
        done = subprocess.run(
            self.inside("squeue", "--states=all", "--noheader", "--format=%A %N"),
            capture_output=True,
            text=True,
            check=True,
        )
        return dict(line.split() for line in done.stdout.splitlines())


def _write(place: FilePath) -> None:
    controller_port, *ports = _free_ports(1 + len(NODES))
    host = socket.gethostname()
    for name in ("etc", "state", "munge", "log", *(f"spool.{name}" for name in NODES)):
        (place / name).mkdir()
    text = CONFIGURATION.format(host=host, controller_port=controller_port, place=place)
    for name, port in zip(NODES, ports, strict=True):
        text += NODE.format(name=name, host=host, port=port)
    (place / "etc" / "slurm.conf").write_text(text + PARTITION)
    key = place / "munge.key"
    key.touch(0o600)
    key.write_bytes(secrets.token_bytes(128))


@contextmanager
def _daemon(command: list[str], log: FilePath) -> Iterator[None]:
    with log.open("wb") as logged:
        process = subprocess.Popen(
            command, stdout=logged, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


@contextmanager
def slurm(place: FilePath) -> Iterator[Slurm]:
    """A Slurm with idle nodes; everything of it ends with the context."""
    place.chmod(0o755)
    _write(place)
    here = Slurm(place)
    munge = place / "munge"
    munged = [
        *("munged", "--foreground", "--force", f"--key-file={place / 'munge.key'}"),
        *(f"--socket={munge / 'socket'}", f"--pid-file={munge / 'pid'}"),
        *(f"--log-file={munge / 'log'}", f"--seed-file={munge / 'seed'}"),
    ]
    with ExitStack() as stack:
        stack.enter_context(_daemon(munged, place / "log" / "munged"))
        _wait(lambda: (munge / "socket").exists(), place)
        controller = here.inside("slurmctld", "-D")
        stack.enter_context(_daemon(controller, place / "log" / "controller"))
        for name in NODES:
            node = here.inside("slurmd", "-D", "-N", name)
            stack.enter_context(_daemon(node, place / "log" / name))
        _wait(lambda: _idle(here) == len(NODES), place)
        yield here


def _idle(here: Slurm) -> int:
    done = subprocess.run(
        here.inside("sinfo", "--noheader", "--Node", "--states=idle"),
        capture_output=True,
        text=True,
    )
    return len(done.stdout.splitlines())


def _wait(ready, place: FilePath) -> None:
    end_s = time.monotonic() + LIMIT_S
    while not ready():
        if time.monotonic() > end_s:
            logs = [file.read_text(errors="replace")[-800:] for file in (place / "log").iterdir()]
            raise TimeoutError(f"no Slurm after {LIMIT_S} s: {logs}")
        time.sleep(0.2)
