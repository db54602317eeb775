"""End hosts: OCI containers, each joined to its Mininet host's network namespace."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import IO

from farpath.guest.commands import run
from farpath.plan import IMAGES_DIR, SHARE, Plan
from farpath.schedule import Flow
from farpath.stack import IMAGE, Stack

#: Root file systems of end hosts, as hostfs reaches them: farpath's and a user's.
SENDER_IMAGE = f"{SHARE}/sender"
OWN_IMAGE = f"{SHARE}/{IMAGES_DIR}/{{name}}"
CRUN = ("crun", "--cgroup-manager=cgroupfs")
BUNDLES = FilePath("/run/containers")
#: Where the discarding receive lives in the sender image.
SINK_LIBRARY = "/usr/lib/farpath/sink.so"
#: Tables of sockets in /proc/<pid>/net, and the state of one that waits there
#: (TCP_LISTEN and TCP_CLOSE, the state of every unconnected UDP socket).
LISTENING = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
NOBODY = 65534
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


def _bundle(
    name: str,
    namespace_pid: int,
    arguments: list[str],
    environment: Mapping[str, str] = ENVIRONMENT,
    directory: str = "/",
) -> dict[str, object]:
    """The OCI runtime configuration of a container at an end host (runtime-spec 1.0)."""
    return {
        "ociVersion": "1.0.2",
        "hostname": name,
        "root": {"path": str(BUNDLES / name / "root"), "readonly": True},
        "process": {
            "args": arguments,
            "cwd": directory,
            "env": [f"{name}={value}" for name, value in environment.items()],
            "user": {"uid": NOBODY, "gid": NOBODY},
            "capabilities": {},
            "noNewPrivileges": True,
        },
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {
                "destination": "/tmp",
                "type": "tmpfs",
                "source": "tmpfs",
                "options": ["mode=1777", "nosuid", "nodev"],
            },
            {
                "destination": "/dev",
                "type": "tmpfs",
                "source": "tmpfs",
                "options": ["mode=755", "nosuid"],
            },
        ],
        "linux": {
            "namespaces": [
                {"type": "pid"},
                {"type": "ipc"},
                {"type": "uts"},
                {"type": "mount"},
                {"type": "network", "path": f"/proc/{namespace_pid}/ns/net"},
            ],
        },
    }


def _mount_root(bundle: FilePath, image: str) -> None:
    """Give a bundle its root: a directory outside the guest, past the guest's own root."""
    (bundle / "root").mkdir(parents=True)
    run("mount", "-t", "hostfs", "-o", f"hostfs={image}", "none", str(bundle / "root"))


def _spawn(words: list[str], stdout: IO[bytes], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start crun with these words; its output goes to the given files."""
    return subprocess.Popen([*CRUN, *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)


class EndHost:
    """One running container with farpath's programs and the commands started in it."""

    def __init__(self, name: str, namespace_pid: int) -> None:
        self.name = name
        bundle = BUNDLES / name
        _mount_root(bundle, SENDER_IMAGE)
        config = _bundle(name, namespace_pid, ["sleep", "infinity"])
        (bundle / "config.json").write_text(json.dumps(config))
        pid_file = bundle / "pid"
        self._crun("run", "--detach", "--bundle", str(bundle), "--pid-file", str(pid_file), name)
        self.pid = int(pid_file.read_text())

    @staticmethod
    def _crun(*arguments: str) -> None:
        log = BUNDLES / "crun.log"
        with log.open("ab") as output:
            done = subprocess.run(
                [*CRUN, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
            )
        if done.returncode:
            raise RuntimeError(
                f"crun {' '.join(arguments)} exited with {done.returncode}: "
                f"{log.read_text(errors='replace').strip()}"
            )

    def start(
        self,
        arguments: list[str],
        stdout: IO[bytes],
        stderr: IO[bytes],
        environment: dict[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a command in the container; its output goes to the given files."""
        merged = {**ENVIRONMENT, **(environment or {})}
        variables = [f"--env={name}={value}" for name, value in merged.items()]
        return _spawn(["exec", *variables, self.name, *arguments], stdout, stderr)

    def listens(self, port: int) -> bool:
        """Whether some TCP or UDP socket of the host waits on ``port`` for anyone."""
        wanted = f":{port:04X}"
        for table, state in LISTENING.items():
            file = FilePath(f"/proc/{self.pid}/net/{table}")
            if not file.exists():
                continue
            for line in file.read_text().splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(wanted) and fields[3] == state:
                    return True
        return False


class OwnHost(EndHost):
    """A user's image at an end host: each command is a container of its own.

    The image need not hold anything that could keep a container running until then.
    """

    def __init__(self, name: str, namespace_pid: int, stack: Stack) -> None:
        self.name = name
        self.pid = namespace_pid
        self.stack = stack
        self.started = 0
        _mount_root(BUNDLES / name, OWN_IMAGE.format(name=stack.name))

    def start(
        self,
        arguments: list[str],
        stdout: IO[bytes],
        stderr: IO[bytes],
        environment: dict[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a command in a container; its output goes to the given files."""
        own = dict(text.partition("=")[::2] for text in self.stack.environment)
        merged = {**ENVIRONMENT, **own, **(environment or {})}
        config = _bundle(self.name, self.pid, arguments, merged, self.stack.directory)
        self.started += 1
        bundle = BUNDLES / f"{self.name}-{self.started}"
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps(config))
        return _spawn(["run", "--bundle", str(bundle), bundle.name], stdout, stderr)


class EndHosts:
    """The end hosts of a run, and a user's own image at those that run it."""

    def __init__(self, plan: Plan, namespace_pids: dict[str, int]) -> None:
        self.plan = plan
        self.hosts = {name: EndHost(name, pid) for name, pid in namespace_pids.items()}
        for flow in plan.schedule.flows:
            for host in (flow.sender, flow.receiver):
                name = self._container(host, flow)
                if name not in self.hosts:
                    self.hosts[name] = OwnHost(name, namespace_pids[host], plan.stack_of(flow))

    def _container(self, host: str, flow: Flow) -> str:
        stack = self.plan.stack_of(flow)
        return f"{host}-{stack.name}" if stack.program == IMAGE else host

    def __getitem__(self, host: str) -> EndHost:
        """The container of a host that has farpath's programs."""
        return self.hosts[host]

    def running(self, flow: Flow, host: str) -> EndHost:
        """The container of a host that has a flow's program."""
        return self.hosts[self._container(host, flow)]
