"""MPTCP in the guest: path manager and scheduler of hosts, and samples of senders' subflows."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import IO, Any

from farpath.guest import mptcp
from farpath.guest.device import Device, Site
from farpath.guest.network import Network, network_namespace
from farpath.guest.sock_diag import SockDiag
from farpath.guest.system import NS_PER_S
from farpath.spec.mptcp import mptcp_flows, mptcp_of
from farpath.spec.protocol import SUBFLOWS_FILE
from farpath.tools import tcp_info
from farpath.tools.inet_diag import INET_DIAG_CONG, INET_DIAG_INFO, Message


def _row(message: Message) -> dict[str, Any]:
    info = tcp_info.members(message.tcp_info)
    local, remote = message.addresses
    return {
        "port": message.remote_port,
        "token": message.mptcp_token,
        "is_first": message.began_mptcp,
        "local": f"{local}:{message.local_port}",
        "remote": remote,
        "congestion": message.congestion,
        "bytes_acked": info["bytes_acked"],
        "rtt_us": info["rtt"],
        "cwnd_packets": info["snd_cwnd"],
        "retransmits": info["total_retrans"],
    }


class Mptcp(Device):
    """MPTCP of a site's hosts in a run of flows."""

    files: dict[str, IO[str]]
    kernels: dict[str, SockDiag]
    epoch_ns: int = 0

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.lacking: list[str] = []
        self.files, self.kernels = {}, {}

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether the plan has MPTCP."""
        return mptcp_of(site.plan) is not None and not site.plan.programs

    @property
    def _versions(self) -> tuple[int, ...]:
        return (self.plan.ip_version,)

    def attach(self, network: Network) -> None:
        """Set path manager and scheduler."""
        super().attach(network)
        self.lacking = mptcp.configure(network, self._versions)

    def read_back(self) -> dict[str, Any]:
        """Return what hosts have."""
        return {} if self.lacking else mptcp.read_back(self.network)

    def differences(self, readback: Mapping[str, Any]) -> list[str]:
        """Return what the kernel lacks, and what hosts have otherwise than planned."""
        return self.lacking + mptcp.differences(self.network, readback, self._versions)

    def start(self, raw: FilePath) -> None:
        """Open a file for each sender, and its kernel's sock_diag."""
        family = socket.AF_INET6 if self.plan.ip_version == 6 else socket.AF_INET
        for host in dict.fromkeys(flow.sender for flow in mptcp_flows(self.plan)):
            if self.site.has(host):
                self.files[host] = (raw / SUBFLOWS_FILE.format(host=host)).open("w")
                with network_namespace(self.network.pid(host)):
                    self.kernels[host] = SockDiag(family)

    def begin(self, epoch_ns: int) -> None:
        """Note when the schedule starts."""
        self.epoch_ns = epoch_ns

    def sample(self) -> None:
        """Note the subflows of each sender."""
        t_s = (time.monotonic_ns() - self.epoch_ns) / NS_PER_S
        for host, kernel in self.kernels.items():
            messages = list(kernel.established((INET_DIAG_INFO, INET_DIAG_CONG)))
            rows = [_row(message) for message in messages if message.tcp_info]
            self.files[host].write(json.dumps({"t_s": round(t_s, 6), "rows": rows}) + "\n")

    def end(self) -> None:
        """Close all files."""
        for file in self.files.values():
            file.close()


DEVICES = (Mptcp,)
