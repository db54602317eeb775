"""Program devices: the devices of mechanisms in a lab in which a user's programs run.

They are those of ``farpath.guest.device``, by the same protocol. A folder whose devices need flows
has others for programs in ``program_device.py``, as ``DEVICES``, or none. The schedule's start is
the client's, and its end is the client's end.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.device import Device, DeviceError, Moments, Site, device_classes
from farpath.guest.network import Network
from farpath.guest.platforms import Platform
from farpath.guest.system import wait_after_tick
from farpath.spec.plan import Plan
from farpath.spec.program_schedule import has_client_schedule
from farpath.spec.programs import PROGRAM_DEVICE
from farpath.spec.protocol import site_modules
from topologies import lay_out


def program_device_classes() -> list[type[Device]]:
    """Return the devices of all folders that labs of programs can have, in the folders' order."""
    found: list[type[Device]] = []
    for folder in dict.fromkeys(one.__module__.rpartition(".")[0] for one in device_classes()):
        instead = f"{folder}.{PROGRAM_DEVICE}"
        name = instead if importlib.util.find_spec(instead) else f"{folder}.device"
        found += importlib.import_module(name).DEVICES
    return found


class ProgramDevices:
    """The devices of a lab of programs, each step of all of them in their order."""

    def __init__(self, plan: Plan, platform: Platform, share: FilePath) -> None:
        self.devices: list[Device] = []
        # Without any, a lab of programs starts sooner
        if has_client_schedule(plan):
            site = Site(plan, lay_out(plan), 0, platform, share / site_modules(0))
            self.devices += [one(site) for one in program_device_classes() if one.is_at(site)]
        for device in self.devices:
            device.load()

    def __bool__(self) -> bool:
        return bool(self.devices)

    def attach(self, network: Network) -> None:
        """Take the network, which has been built."""
        for device in self.devices:
            device.attach(network)

    def read_back(self) -> dict[str, Any]:
        """Return the entries of a read-back."""
        return {name: entry for one in self.devices for name, entry in one.read_back().items()}

    def differences(self, readback: Mapping[str, Any]) -> list[str]:
        """Return what differs between a read-back and the plan, as sentences."""
        return [sentence for one in self.devices for sentence in one.differences(readback)]

    def start(self, raw: FilePath) -> None:
        """Start what the programs' traffic needs."""
        for device in self.devices:
            device.start(raw)

    def begin(self, epoch_ns: int) -> Moments | None:
        """Start what must not see the idle path; return what to do when, in order of time.

        None if there are no devices.
        """
        if not self.devices:
            return None
        moments = [moment for device in self.devices for moment in device.moments(epoch_ns)]
        wait_after_tick()
        for device in self.devices:
            device.begin(epoch_ns)
        return sorted(moments, key=lambda moment: moment[0])

    def sample(self) -> None:
        """Note what there is at a sample; raise DeviceError if a program of a device has ended."""
        if problem := next(filter(None, (device.problem() for device in self.devices)), ""):
            raise DeviceError(problem)
        for device in self.devices:
            device.sample()

    def end(self) -> None:
        """End everything, and write what was noted: the client has ended."""
        for device in self.devices:
            device.stop()
        for device in reversed(self.devices):
            device.end()

    def counts(self) -> dict[str, Any]:
        """Return the entries of the read-back after the client's end alone."""
        return {name: entry for one in self.devices for name, entry in one.counts().items()}
