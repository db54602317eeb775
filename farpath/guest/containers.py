"""Containers: end hosts as OCI containers in the network namespaces of Mininet's hosts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO, Any

from farpath.guest.platforms import Platform
from farpath.spec.host_image import SEARCH_PATH
from farpath.spec.plan import Plan
from farpath.spec.protocol import CONGESTIONS_DIR, IMAGES_DIR
from farpath.spec.schedule import Flow
from farpath.tools.commands import note

#: Root file systems of end hosts in the shared directory: farpath's and a user's.
SENDER_IMAGE = "sender"
USER_IMAGE = f"{IMAGES_DIR}/{{build}}"
#: Directory of the containers' OCI bundles.
BUNDLES = FilePath("/run/containers")
#: Libraries to be preloaded (images/sender): their directory in farpath's sender image, where
#: the guest mounts that, and its path in every container, which a user's image need not have.
LIBRARIES_DIRECTORY = f"{SENDER_IMAGE}/usr/lib/farpath"
LIBRARIES_MOUNT = BUNDLES / ".farpath"
LIBRARIES = "/dev/farpath"
#: Users' congestion controls for UDT: where the guest mounts them, and their path in containers.
CONGESTIONS_MOUNT = BUNDLES / ".congestions"
CONGESTIONS = "/dev/congestions"
#: The device of a host's disk in its containers.
DISK = "/dev/disk"
#: The library that discards what a receiver reads, the one of a sender that waits while its path
#: drains, the one of a sender of a number of bytes, and the one of a receiver that tells when a
#: connection began.
SINK_LIBRARY = f"{LIBRARIES}/sink.so"
DRAIN_LIBRARY = f"{LIBRARIES}/drain.so"
TRANSFER_LIBRARY = f"{LIBRARIES}/transfer.so"
ACCEPT_LIBRARY = f"{LIBRARIES}/accept.so"
#: Socket tables in /proc/<pid>/net, and the state of a listening socket in each: TCP_LISTEN,
#: and TCP_CLOSE, which every unconnected UDP socket has.
LISTENING = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
#: User and group id of the programs in containers.
NOBODY = 65534
PRELOAD = "LD_PRELOAD"
#: Environment of every program. Without HOME, crun would look for one in the image's
#: /etc/passwd.
ENVIRONMENT = {"PATH": SEARCH_PATH, "LC_ALL": "C.UTF-8", "HOME": "/tmp"}


@dataclass(frozen=True)
class Root:
    """Root file system of a container, with the environment and directory of its programs.

    ``directory``: below the shared directory. ``environment``: NAME=value.
    """

    directory: str
    environment: tuple[str, ...] = ()
    working_directory: str = "/"

    def variables(self, overrides: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a program; ``overrides`` replaces the image's variables.

        Libraries of LD_PRELOAD are joined instead.
        """
        image = dict(text.partition("=")[::2] for text in self.environment)
        merged = {**ENVIRONMENT, **image, **overrides}
        if PRELOAD in image and PRELOAD in overrides:
            merged[PRELOAD] = f"{overrides[PRELOAD]}:{image[PRELOAD]}"
        return merged


def _read_only(destination: str, source: FilePath) -> dict[str, object]:
    """Return a read-only mount of a container."""
    options = ["bind", "ro", "nosuid", "nodev"]
    return {"destination": destination, "type": "bind", "source": str(source), "options": options}


def bundle(
    name: str,
    namespace_pid: int,
    arguments: list[str],
    environment: Mapping[str, str],
    directory: str,
    written: Mapping[str, str],
    has_congestions: bool = False,
) -> dict[str, Any]:
    """Return the OCI runtime configuration of a container at an end host (runtime-spec 1.0).

    ``written``: files of the guest that the program may write, by their path in the container.
    ``has_congestions``: whether programs find users' congestion controls for UDT.
    """
    written_mounts = [
        {"destination": place, "type": "bind", "source": source, "options": ["bind", "nosuid"]}
        for place, source in written.items()
    ]
    congestions = [_read_only(CONGESTIONS, CONGESTIONS_MOUNT)]
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
            _read_only(LIBRARIES, LIBRARIES_MOUNT),
            *(congestions if has_congestions else []),
            *written_mounts,
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


def start_container(
    platform: Platform, name: str, config: Mapping[str, Any], stdout: IO[bytes], stderr: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a new container of a configuration, with its output in the given files."""
    directory = BUNDLES / name
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(config))
    note([*platform.crun, "run", name, "--", *config["process"]["args"]])
    return subprocess.Popen(
        [*platform.crun, "run", "--bundle", str(directory), name],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
    )


class EndHost:
    """The programs of a Mininet host; each command runs in a new container.

    An image therefore need not contain a program that keeps a container running. ``title``
    names the host and the user's image in messages; it is empty for farpath's own image.
    ``written``: files of the guest that its programs may write, by their path in containers.
    ``has_congestions``: whether its programs find users' congestion controls for UDT.
    """

    def __init__(
        self,
        name: str,
        namespace_pid: int,
        root: Root,
        platform: Platform,
        title: str = "",
        written: Mapping[str, str] | None = None,
        has_congestions: bool = False,
    ) -> None:
        self.name = name
        self.platform = platform
        self.pid = namespace_pid
        self.root = root
        self.title = title
        self.written = written or {}
        self.has_congestions = has_congestions
        self.started = 0
        platform.mount_shared(root.directory, BUNDLES / name / "root")

    def start(
        self,
        arguments: list[str],
        stdout: IO[bytes],
        stderr: IO[bytes],
        environment: Mapping[str, str] | None = None,
        written: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a command in a container, with its output in the given files.

        ``written``: further files that it may write.
        """
        variables = self.root.variables(environment or {})
        config = bundle(
            *(self.name, self.pid, arguments, variables),
            *(self.root.working_directory, {**self.written, **(written or {})}),
            self.has_congestions,
        )
        self.started += 1
        return start_container(self.platform, f"{self.name}-{self.started}", config, stdout, stderr)

    def listens(self, port: int) -> bool:
        """Whether a TCP or UDP socket of the host listens on ``port``."""
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
    """The end hosts of a site.

    A host whose flows run a user's image has one container root more for each such image.
    ``written``: the files that a host's programs may write, by host and path in containers.
    """

    def __init__(
        self,
        plan: Plan,
        namespace_pids: Mapping[str, int],
        platform: Platform,
        written: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.plan = plan
        self.platform = platform
        self.written = written
        platform.mount_shared(LIBRARIES_DIRECTORY, LIBRARIES_MOUNT)
        self.has_congestions = any(stack.own_congestion for stack in plan.stacks)
        if self.has_congestions:
            platform.mount_shared(CONGESTIONS_DIR, CONGESTIONS_MOUNT)
        self.hosts = {name: self._host(name, pid) for name, pid in namespace_pids.items()}
        for flow in plan.schedule.all_flows:
            stack = plan.stack_of(flow)
            for host in (flow.sender, flow.receiver):
                name = self._container(host, flow)
                if host in namespace_pids and name not in self.hosts:
                    image = USER_IMAGE.format(build=stack.root)
                    root = Root(image, stack.environment, stack.directory)
                    self.hosts[name] = EndHost(name, namespace_pids[host], root, platform)

    def _host(self, name: str, namespace_pid: int) -> EndHost:
        """Return a host with the user's image that the plan gives it, else with farpath's."""
        image, extra = self.plan.images.get(name), (self.written[name], self.has_congestions)
        if not image:
            return EndHost(name, namespace_pid, Root(SENDER_IMAGE), self.platform, "", *extra)
        directory = USER_IMAGE.format(build=image.build)
        root = Root(directory, image.environment, image.directory)
        title = f"host {name}, image {image.name}"
        return EndHost(name, namespace_pid, root, self.platform, title, *extra)

    def _container(self, host: str, flow: Flow) -> str:
        stack = self.plan.stack_of(flow)
        return f"{host}-{stack.name}" if stack.root else host

    def __getitem__(self, host: str) -> EndHost:
        """Return the host of this name, with its own image."""
        return self.hosts[host]

    def for_flow(self, flow: Flow, host: str) -> EndHost:
        """Return the end host for a flow's program: with the stack's image if it has one."""
        return self.hosts[self._container(host, flow)]
