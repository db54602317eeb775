"""Keepalive: a mechanism as a folder of its own, with a host's part and a guest's part.

Its device sets how long a connection may be idle before its host asks whether the peer lives, and
never more than 100 s, so that the read-back of more differs from the plan.
"""

from __future__ import annotations

from pathlib import Path as FilePath

#: Of a process that finds the folder: it runs before any other part of farpath is imported.
FIND = """
import sys
import farpath.mechanisms
farpath.mechanisms.__path__.append(sys.argv.pop(1))
"""
MECHANISM = '''
"""Keepalive: how long a connection may be idle before its host asks whether it lives."""

from dataclasses import replace

from farpath.base.column import Column
from farpath.base.errors import BadInputError, CheckFailedError
from farpath.base.options import HOSTS, Option
from farpath.mechanisms.mechanism import Fact, Findings, Mechanism, RecordPart
from farpath.mechanisms.quantities import MOMENT_S


def apply(plan, texts):
    time_s = round(MOMENT_S.parse(texts["keepalive"], "keepalive"))
    return replace(plan, extra={**plan.extra, "keepalive": {"time_s": time_s}})


def texts(plan):
    kept = plan.extra.get("keepalive")
    return {"keepalive": f"{kept['time_s']}s"} if kept else {}


def check(plan):
    kept = plan.extra.get("keepalive")
    if kept and kept["time_s"] == 13:
        raise BadInputError(option="keepalive", remedy="give another one")


def examine(output):
    if not texts(output.plan):
        return Findings()
    hosts = output.readback["after"]["keepalive"]
    if not hosts:
        raise CheckFailedError("no host asks whether its peer lives")
    def write(directory):
        (directory / "keepalive.csv").write_text(f"{len(hosts)}\\n")
    part = RecordPart("keepalive_table", {"rows": 1}, write)
    return Findings({"hosts_kept": len(hosts)}, ["peers are asked"], [part])


MECHANISM = Mechanism(
    order=80,
    options={
        "keepalive": Option(
            *("Idle time.", "3s", "2 h", "a unit is needed"),
            group=HOSTS,
            after="ecn",
            placeholder="TIME",
        )
    },
    apply=apply,
    texts=texts,
    check=check,
    words=lambda plan: [f"keepalive {text}" for text in texts(plan).values()],
    facts=lambda plan: [Fact("kept alive after", text) for text in texts(plan).values()],
    examine=examine,
    columns=[
        Column(
            "keepalive_hosts",
            "kept",
            lambda record: record.readback.get("hosts_kept"),
            words="hosts that ask",
        )
    ],
)
'''
DEVICE = '''
"""Keepalive: the sysctl of the end hosts."""

from farpath.guest.device import Device
from farpath.guest.network import network_namespace
from farpath.tools.sysctl import read_setting, write_setting

SETTING = "net.ipv4.tcp_keepalive_time"


class Keepalive(Device):
    """How long a connection of a site's end hosts may be idle."""

    @classmethod
    def is_at(cls, site):
        return "keepalive" in site.plan.extra

    def attach(self, network):
        super().attach(network)
        for host in network.hosts:
            with network_namespace(host.pid):
                write_setting(SETTING, str(min(100, self.plan.extra["keepalive"]["time_s"])))

    def read_back(self):
        times = {}
        for host in self.network.hosts:
            with network_namespace(host.pid):
                times[host.name] = read_setting(SETTING)
        return {"keepalive": times}

    def differences(self, readback):
        planned = str(self.plan.extra["keepalive"]["time_s"])
        return [
            f"{host} asks after {time} s, not {planned}"
            for host, time in readback["keepalive"].items()
            if time != planned
        ]


DEVICES = (Keepalive,)
'''


def add_keepalive(folder: FilePath) -> None:
    """Write the mechanism into a directory of mechanisms."""
    (folder / "keepalive").mkdir()
    for name, text in (("__init__", ""), ("mechanism", MECHANISM), ("device", DEVICE)):
        (folder / "keepalive" / f"{name}.py").write_text(text)
