"""Device: the part of a mechanism that is in the guest, at one site.

A folder of ``farpath/mechanisms`` or ``farpath/programs`` names its devices in ``device.py``, as
``DEVICES``, if it has any, and a program its flows' ends (``farpath.guest.flow_ends``); ``guest/``
has programs that they start. Of the folder these two reach the guest. They
import the standard library, ``farpath.spec``, ``farpath.tools``, ``farpath.guest`` and the errors.
"""

from __future__ import annotations

import importlib.util
import pkgutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from types import ModuleType
from typing import Any

from farpath.guest.network import Network
from farpath.guest.platforms import Platform
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan

#: Packages whose folders may hold devices.
PACKAGES = ("farpath.mechanisms", "farpath.programs")
#: How long before a flow its receiver is started, in virtual s; it must listen on its port when
#: the flow starts. CPU takes no virtual time.
LEAD_S = 2.0

#: Functions to call, each with its time in s from the schedule's start.
Moments = list[tuple[float, Callable[[], None]]]


class DeviceError(RuntimeError):
    """A device failed during the traffic; the text says which, and how."""


@dataclass(frozen=True)
class Site:
    """A site of a plan's lab. ``modules``: the directory of its kernel modules."""

    plan: Plan
    layout: Layout
    number: int
    platform: Platform
    modules: FilePath

    def has(self, node: str) -> bool:
        """Whether a host or a switch is at this site."""
        return self.layout.site_of(node) == self.number

    def has_queue(self, qdisc: type) -> bool:
        """Whether a port of this site has such a qdisc."""
        return any(
            isinstance(port.queue, qdisc) and self.has(port.node) for port in self.layout.ports
        )


class Device:
    """What a mechanism does at a site; its functions are called in this order.

    A class below has those that it needs. Entries of read-backs have a name of their own in
    record.json.
    """

    #: The network of the site, from ``attach`` on.
    network: Network

    def __init__(self, site: Site) -> None:
        self.site = site
        self.plan = site.plan

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether the plan has this device at a site."""
        raise NotImplementedError

    def load(self) -> None:
        """Load kernel modules; there is no network yet."""

    def attach(self, network: Network) -> None:
        """Take the network, which has been built; nothing is sent yet."""
        self.network = network

    def mounts(self, host: str) -> Mapping[str, str]:
        """Return files of the guest that programs of a host may write, by path in containers."""
        return {}

    def read_back(self) -> dict[str, Any]:
        """Return entries of the read-backs before and after the traffic."""
        return {}

    def differences(self, readback: Mapping[str, Any]) -> list[str]:
        """Return what differs between a read-back and the plan, as sentences."""
        return []

    def start(self, raw: FilePath) -> None:
        """Start what the traffic needs; all is as planned. ``raw``: where output goes."""

    def moments(self, epoch_ns: int) -> Moments:
        """Return what to do when; ``epoch_ns``: the schedule's start by the monotonic clock."""
        return []

    def begin(self, epoch_ns: int) -> None:
        """Start what must not see the idle path; the schedule starts in less than ``LEAD_S``."""

    def sample(self) -> None:
        """Note what there is at a sample of flows."""

    def problem(self) -> str:
        """Return the message of a program that ended by itself; empty if there is none."""
        return ""

    def stop(self) -> None:
        """End what lasts as long as the schedule."""

    def end(self) -> None:
        """Write what was noted: all flows have ended. The last device is the first to end."""

    def counts(self) -> dict[str, Any]:
        """Return entries of the read-back after the traffic alone."""
        return {}


def device_modules() -> list[ModuleType]:
    """Return ``device.py`` of all folders that have one, in the order of the folders' names."""
    found: list[ModuleType] = []
    for package in PACKAGES:
        places = importlib.import_module(package).__path__
        for folder in sorted(one.name for one in pkgutil.iter_modules(places) if one.ispkg):
            if importlib.util.find_spec(name := f"{package}.{folder}.device"):
                found.append(importlib.import_module(name))
    return found


def device_classes() -> list[type[Device]]:
    """Return the devices of all folders, in the order of the folders' names."""
    return [device for module in device_modules() for device in getattr(module, "DEVICES", ())]


def exit_message(title: str, process: subprocess.Popen[bytes], errors: FilePath) -> str:
    """Return the last line of a program that has exited; ``errors``: the file of its messages."""
    output = errors.read_text(errors="replace").strip()
    message = output.splitlines()[-1] if output else "it said nothing"
    return f"{title} exited with {process.returncode}: {message}"
