"""End hosts: OCI containers, each joined to its Mininet host's network namespace."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path as FilePath
from typing import IO

from farpath.guest.commands import run
from farpath.plan import IMAGES_DIR, SHARE, Plan
from farpath.schedule import Flow
from farpath.stack import IMAGE

#: Root file systems of end hosts, as hostfs reaches them: farpath's and a user's.
SENDER_IMAGE = f"{SHARE}/sender"
OWN_IMAGE = f"{SHARE}/{IMAGES_DIR}/{{name}}"
BUNDLES = FilePath("/run/containers")
#: Where the discarding receive lives in the sender image.
SINK_LIBRARY = "/usr/lib/farpath/sink.so"
#: Tables of sockets in /proc/<pid>/net, and the state of one that waits there
#: (TCP_LISTEN and TCP_CLOSE, the state of every unconnected UDP socket).
LISTENING = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
NOBODY = 65534
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


def _bundle(name: str, namespace_pid: int) -> dict[str, object]:
    """The OCI runtime configuration of one end host (runtime-spec 1.0)."""
    return {
        "ociVersion": "1.0.2",
        "hostname": name,
        "root": {"path": str(BUNDLES / name / "root"), "readonly": True},
        "process": {
            "args": ["sleep", "infinity"],
            "cwd": "/",
            "env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
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


class EndHost:
    """One running container and the commands started in it.

    ``image`` is a root file system's directory on the machine outside: hostfs
    reaches it past the guest's own root.
    """

    def __init__(self, name: str, namespace_pid: int, image: str) -> None:
        self.name = name
        bundle = BUNDLES / name
        (bundle / "root").mkdir(parents=True)
        run("mount", "-t", "hostfs", "-o", f"hostfs={image}", "none", str(bundle / "root"))
        (bundle / "config.json").write_text(json.dumps(_bundle(name, namespace_pid)))
        pid_file = bundle / "pid"
        self._crun("run", "--detach", "--bundle", str(bundle), "--pid-file", str(pid_file), name)
        self.pid = int(pid_file.read_text())

    @staticmethod
    def _crun(*arguments: str) -> None:
        log = BUNDLES / "crun.log"
        with log.open("ab") as output:
            done = subprocess.run(
                ["crun", "--cgroup-manager=cgroupfs", *arguments],
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
        return subprocess.Popen(
            ["crun", "--cgroup-manager=cgroupfs", "exec", *variables, self.name, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )

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


class EndHosts:
    """The end hosts of a run: a container each, and one more for a user's own image."""

    def __init__(self, plan: Plan, namespace_pids: dict[str, int]) -> None:
        self.plan = plan
        self.hosts = {
            name: EndHost(name, pid, SENDER_IMAGE) for name, pid in namespace_pids.items()
        }
        for flow in plan.schedule.flows:
            for host in (flow.sender, flow.receiver):
                name = self._container(host, flow)
                if name not in self.hosts:
                    image = OWN_IMAGE.format(name=plan.stack_of(flow).name)
                    self.hosts[name] = EndHost(name, namespace_pids[host], image)

    def _container(self, host: str, flow: Flow) -> str:
        stack = self.plan.stack_of(flow)
        return f"{host}-{stack.name}" if stack.program == IMAGE else host

    def __getitem__(self, host: str) -> EndHost:
        """The container of a host that has farpath's programs."""
        return self.hosts[host]

    def running(self, flow: Flow, host: str) -> EndHost:
        """The container of a host that has a flow's program."""
        return self.hosts[self._container(host, flow)]
