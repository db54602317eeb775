"""End hosts: OCI containers, each joined to its Mininet host's network namespace."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO

from farpath.guest.platforms import Platform
from farpath.spec.host_image import SEARCH_PATH
from farpath.spec.plan import Plan
from farpath.spec.protocol import IMAGES_DIR
from farpath.spec.schedule import Flow
from farpath.spec.stack import IMAGE
from farpath.tools.commands import note

#: Root file systems of end hosts in the shared directory: farpath's and a user's.
SENDER_IMAGE = "sender"
OWN_IMAGE = f"{IMAGES_DIR}/{{build}}"
BUNDLES = FilePath("/run/containers")
#: Where farpath's sender image has the discarding receive, where the guest mounts that,
#: and where every container finds it: a place that a user's image need not have.
SINK_DIRECTORY = f"{SENDER_IMAGE}/usr/lib/farpath"
SINK_MOUNT = BUNDLES / ".farpath"
SINK_LIBRARY = "/dev/farpath/sink.so"
#: Tables of sockets in /proc/<pid>/net, and the state of one that waits there
#: (TCP_LISTEN and TCP_CLOSE, the state of every unconnected UDP socket).
LISTENING = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
NOBODY = 65534
PRELOAD = "LD_PRELOAD"
#: HOME is given, since crun would look for one in an image's /etc/passwd.
ENVIRONMENT = {"PATH": SEARCH_PATH, "LC_ALL": "C.UTF-8", "HOME": "/tmp"}


@dataclass(frozen=True)
class Root:
    """What a container starts from: a directory that is shared, and its programs' settings."""

    directory: str
    environment: tuple[str, ...] = ()
    working_directory: str = "/"

    def variables(self, more: Mapping[str, str]) -> dict[str, str]:
        """The environment of a program that is told ``more``, which wins."""
        own = dict(text.partition("=")[::2] for text in self.environment)
        merged = {**ENVIRONMENT, **own, **more}
        if PRELOAD in own and PRELOAD in more:
            merged[PRELOAD] = f"{more[PRELOAD]}:{own[PRELOAD]}"
        return merged


def _bundle(
    name: str,
    namespace_pid: int,
    arguments: list[str],
    environment: Mapping[str, str],
    directory: str,
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
            {
                "destination": SINK_LIBRARY,
                "type": "bind",
                "source": str(SINK_MOUNT / FilePath(SINK_LIBRARY).name),
                "options": ["bind", "ro", "nosuid", "nodev"],
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
    """A Mininet host's programs: each command is a container of its own.

    So an image need not hold anything that could keep a container running. ``title``
    says to people which host it is and, if that is a user's, which image.
    """

    def __init__(
        self, name: str, namespace_pid: int, root: Root, ground: Platform, title: str = ""
    ) -> None:
        self.name = name
        self.ground = ground
        self.pid = namespace_pid
        self.root = root
        self.title = title
        self.started = 0
        ground.mount_shared(root.directory, BUNDLES / name / "root")

    def start(
        self,
        arguments: list[str],
        stdout: IO[bytes],
        stderr: IO[bytes],
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a command in a container; its output goes to the given files."""
        variables = self.root.variables(environment or {})
        config = _bundle(self.name, self.pid, arguments, variables, self.root.working_directory)
        self.started += 1
        bundle = BUNDLES / f"{self.name}-{self.started}"
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps(config))
        note([*self.ground.crun, "run", bundle.name, "--", *arguments])
        return subprocess.Popen(
            [*self.ground.crun, "run", "--bundle", str(bundle), bundle.name],
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
    """The end hosts of a run, and what a flow's program runs in at each."""

    def __init__(self, plan: Plan, namespace_pids: Mapping[str, int], ground: Platform) -> None:
        self.plan = plan
        self.ground = ground
        ground.mount_shared(SINK_DIRECTORY, SINK_MOUNT)
        self.hosts = {name: self._host(name, pid) for name, pid in namespace_pids.items()}
        for flow in plan.schedule.all_flows:
            stack = plan.stack_of(flow)
            for host in (flow.sender, flow.receiver):
                name = self._container(host, flow)
                if name not in self.hosts:
                    own = OWN_IMAGE.format(build=stack.build)
                    root = Root(own, stack.environment, stack.directory)
                    self.hosts[name] = EndHost(name, namespace_pids[host], root, ground)

    def _host(self, name: str, namespace_pid: int) -> EndHost:
        """A host from the image that the plan has for it, else from farpath's."""
        image = self.plan.images.get(name)
        if not image:
            return EndHost(name, namespace_pid, Root(SENDER_IMAGE), self.ground)
        own = OWN_IMAGE.format(build=image.build)
        root = Root(own, image.environment, image.directory)
        title = f"host {name}, image {image.name}"
        return EndHost(name, namespace_pid, root, self.ground, title)

    def _container(self, host: str, flow: Flow) -> str:
        stack = self.plan.stack_of(flow)
        return f"{host}-{stack.name}" if stack.program == IMAGE else host

    def __getitem__(self, host: str) -> EndHost:
        """A host, for the programs of its image."""
        return self.hosts[host]

    def running(self, flow: Flow, host: str) -> EndHost:
        """What a flow's program runs in at a host: the host, or its stack's own image."""
        return self.hosts[self._container(host, flow)]
