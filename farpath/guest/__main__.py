"""The guest's main program: builds the network, verifies it, runs the traffic and reports."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

from farpath.guest import packetdrill, qdiscs, system
from farpath.guest.containers import EndHosts
from farpath.guest.device import Device, DeviceError, Site, device_classes
from farpath.guest.far_links import FarLinks
from farpath.guest.network import Network
from farpath.guest.platforms import Platform, platform_here
from farpath.guest.traffic import Traffic
from farpath.spec.plan import Plan
from farpath.spec.protocol import (
    PACKETDRILL_DIR,
    PLAN_FILE,
    PROGRAMS_FILE,
    RAW_DIR,
    READBACK_FILE,
    SHELL_FILE,
    SITE_VARIABLE,
    event_line,
    site_modules,
)
from farpath.spec.sites import FIRST_WINDOW_NS
from farpath.tools import commands, congestion_control, sysctl
from topologies import lay_out


def send_event(event: str, **values: Any) -> None:
    """Send an event to the host."""
    print(event_line(event, virtual_s=round(time.monotonic(), 6), **values), flush=True)


class CommandEvents(logging.Handler):
    """Tells the host each command of the guest, as an event."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one event."""
        send_event("command", command=record.getMessage())


def read_back(plan: Plan, network: Network, devices: Sequence[Device]) -> dict[str, Any]:
    """Read back the network, all devices and the parameters of the congestion controls."""
    entries = network.read_back()
    for device in devices:
        entries |= device.read_back()
    return {**entries, "parameters": congestion_control.parameters(plan.stacks)}


def verify(
    plan: Plan, network: Network, devices: Sequence[Device], readback: dict[str, Any]
) -> bool:
    """Whether a read-back matches the plan; if not, send an event with the differences."""
    differences = network.differences(readback)
    differences += congestion_control.differences(plan.stacks, readback["parameters"])
    for device in devices:
        differences += device.differences(readback)
    if differences:
        send_event("mismatch", differences=differences)
    return not differences


def play(share: FilePath, platform: Platform) -> None:
    """Carry out this site's part of a run; the tools' output is kept in memory until the end.

    The plan is read, the network laid out and devices loaded before the whole second, after which
    every reading of the clock may decide packets.
    """
    platform.prepare(share)
    plan = Plan.from_dict(json.loads((share / PLAN_FILE).read_text()))
    number, layout = int(os.environ.get(SITE_VARIABLE, "0")), lay_out(plan)
    site = Site(plan, layout, number, platform, share / site_modules(number))
    classes: list[type[Device]] = [FarLinks, *device_classes()]
    devices = [device(site) for device in classes if device.is_at(site)]
    for device in devices:
        device.load()
    system.start_second()
    system.start_open_vswitch()
    platform.load_stacks(plan.stacks, site.modules)
    qdiscs.load(layout, number, site.modules)
    network = Network(plan, platform, layout, number)
    network.start()
    send_event("network-ready")
    pids = {host.name: host.pid for host in network.hosts}
    written = {
        host: {path: file for device in devices for path, file in device.mounts(host).items()}
        for host in pids
    }
    hosts = EndHosts(plan, pids, platform, written)
    send_event("hosts-ready")
    for device in devices:
        device.attach(network)
    before = read_back(plan, network, devices)
    if not verify(plan, network, devices, before):
        return
    raw = FilePath("/tmp") / RAW_DIR
    raw.mkdir()
    for device in devices:
        device.start(raw)
    traffic = Traffic(plan, network, hosts, raw, devices)
    system.renew_random_numbers()
    start_ns, pings = system.next_second_ns(), plan.idle_ping_count
    if layout.far_links:
        start_ns = system.monotonic_ns_of(FIRST_WINDOW_NS)
    for name, output in traffic.idle_pings(start_ns, pings):
        send_event("idle-pings", name=name, output=output)
    if (hops := traffic.trace_hops(start_ns, pings)) is not None:
        send_event("traceroute", output=hops)
    with platform.machine_sampling(raw) as sample:

        def progress(t_s: float) -> None:
            sample(t_s)
            send_event("progress", t_s=t_s)

        traffic.play(traffic.epoch_ns(start_ns, pings), progress)
    if platform.shared:
        traffic.await_idle_path()
        traffic.ping_idle_path(pings, "ping-idle-after")
    after = read_back(plan, network, devices)
    for device in devices:
        after |= device.counts()
    if not verify(plan, network, devices, after):
        return
    readback = share / READBACK_FILE.format(site=number)
    readback.write_text(json.dumps({"before": before, "after": after}))
    shutil.copytree(raw, share / RAW_DIR, copy_function=shutil.copyfile, dirs_exist_ok=True)
    send_event("done")


def main() -> None:
    """Run the plan in the shared directory that the command line names, and end the lab.

    If the directory holds packetdrill scripts, run these instead.
    """
    share = FilePath(sys.argv[1])
    commands.LOG.setLevel(logging.INFO)
    commands.LOG.addHandler(CommandEvents())
    platform = platform_here()
    try:
        if (share / PACKETDRILL_DIR).is_dir():
            packetdrill.play(share, send_event)
        elif (share / PROGRAMS_FILE).is_file():
            # Imported where it is used, so that a run of flows boots with what it needs
            from farpath.guest import programs

            programs.play(share, platform, send_event)
        elif (share / SHELL_FILE).exists():
            from farpath.guest import shell

            shell.play(share, platform, send_event)
        else:
            play(share, platform)
    except congestion_control.StackError as error:
        send_event("refused", what=f"`stack`: {error}")
    except sysctl.SettingError as error:
        send_event("refused", what=f"`sysctl`: {error}")
    except DeviceError as error:
        send_event("traffic-failed", what=str(error))
    except Exception as error:
        send_event(
            "failed", what=f"{type(error).__name__}: {error}", traceback=traceback.format_exc()
        )
    platform.end()


main()
