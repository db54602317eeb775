"""End hosts: OCI containers, each joined to its Mininet host's network namespace."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path as FilePath
from typing import IO

from farpath.guest.commands import run

BUNDLES = FilePath("/run/containers")
#: Where the discarding receive lives in the sender image.
SINK_LIBRARY = "/usr/lib/farpath/sink.so"
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
        """Whether some TCP socket of the host listens on ``port``."""
        wanted = f":{port:04X}"
        for table in ("tcp", "tcp6"):
            file = FilePath(f"/proc/{self.pid}/net/{table}")
            if not file.exists():
                continue
            for line in file.read_text().splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(wanted) and fields[3] == "0A":
                    return True
        return False
