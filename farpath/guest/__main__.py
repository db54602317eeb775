"""The guest's main program: builds the network, verifies it, runs the traffic and reports."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import time
import traceback
from pathlib import Path as FilePath
from typing import Any

from farpath.guest import (
    background,
    deliveries,
    disks,
    far_links,
    flow_drops,
    packetdrill,
    processors,
    qdiscs,
    system,
)
from farpath.guest.containers import EndHosts
from farpath.guest.droppers import Droppers
from farpath.guest.link_changes import LinkChangeError
from farpath.guest.network import Network
from farpath.guest.platforms import Platform, platform_here
from farpath.guest.tick_program import TickProgramError
from farpath.guest.traffic import Traffic, TrafficError
from farpath.spec.hosts import BACKGROUND
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


def read_back(plan: Plan, network: Network) -> dict[str, Any]:
    """Read back the settings of the network and the parameters of the congestion controls."""
    far = {"far_delays_s": far_links.read_back()} if network.layout.far_links else {}
    parameters = congestion_control.parameters(plan.stacks)
    processor = {"processor": processors.read_back(plan)} if has_processors(network) else {}
    traced = (
        {"deliveries": deliveries.read_back(plan)}
        if deliveries.are_at(network.layout, network.site)
        else {}
    )
    with_disks = disks.hosts_at(plan, network.layout, network.site)
    storage = {"disks": disks.read_back(with_disks)} if with_disks else {}
    return {
        **network.read_back(),
        **far,
        **processor,
        **traced,
        **storage,
        "parameters": parameters,
    }


def has_processors(network: Network) -> bool:
    """Whether a slow host is at this site."""
    return processors.are_at(network.layout, network.site)


def verify(plan: Plan, network: Network, readback: dict[str, Any]) -> bool:
    """Whether a read-back matches the plan; if not, send an event with the differences."""
    differences = network.differences(readback)
    differences += congestion_control.differences(plan.stacks, readback["parameters"])
    if "far_delays_s" in readback:
        differences += far_links.differences(network.layout, network.site, readback["far_delays_s"])
    if "processor" in readback:
        differences += processors.differences(plan, readback["processor"])
    if "deliveries" in readback:
        differences += deliveries.differences(plan, readback["deliveries"])
    if "disks" in readback:
        differences += disks.differences(plan, readback["disks"])
    if differences:
        send_event("mismatch", differences=differences)
    return not differences


def play(share: FilePath, platform: Platform) -> None:
    """Carry out this site's part of a run; the tools' output is kept in memory until the end.

    The plan is read and the network laid out before the whole second, after which every reading
    of the clock may decide packets.
    """
    platform.prepare(share)
    plan = Plan.from_dict(json.loads((share / PLAN_FILE).read_text()))
    site, layout = int(os.environ.get(SITE_VARIABLE, "0")), lay_out(plan)
    counts_drops = not platform.shared and flow_drops.are_counted_at(plan, layout, site)
    if counts_drops:
        flow_drops.load(plan, share / site_modules(site))
    system.wait_until(system.next_second_ns())
    system.start_open_vswitch()
    platform.load_stacks(plan.stacks, share / site_modules(site))
    qdiscs.load(layout, site, share / site_modules(site))
    if layout.far_links:
        far_links.load(plan, layout, site, share)
    if plan.path.background and not platform.shared and layout.site_of(BACKGROUND) == site:
        background.load(plan, layout, share / site_modules(site))
    if processors.are_at(layout, site):
        processors.load(plan, share / site_modules(site))
    if deliveries.are_at(layout, site):
        deliveries.load(plan, share / site_modules(site))
    with_disks = disks.hosts_at(plan, layout, site)
    devices = disks.load(plan, with_disks, share / site_modules(site)) if with_disks else {}
    network = Network(plan, platform, layout, site)
    network.start()
    send_event("network-ready")
    pids = {host.name: host.pid for host in network.hosts}
    hosts = EndHosts(plan, pids, platform, devices)
    send_event("hosts-ready")
    if counts_drops:
        flow_drops.watch(plan, network)
    before = read_back(plan, network)
    if not verify(plan, network, before):
        return
    raw = FilePath("/tmp") / RAW_DIR
    raw.mkdir()
    droppers = Droppers(plan, network)
    traffic = Traffic(plan, network, hosts, raw, droppers.moments())
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
    if layout.far_links:
        far_links.wait_for_all_sites()
    if platform.shared:
        traffic.await_idle_path()
        traffic.ping_idle_path(pings, "ping-idle-after")
    counts = {"flow_drops": flow_drops.read_back(plan, network)} if counts_drops else {}
    after = {**read_back(plan, network), **counts, "droppers": droppers.counts()}
    if not verify(plan, network, after):
        return
    readback = share / READBACK_FILE.format(site=site)
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
    except (TrafficError, TickProgramError, LinkChangeError) as error:
        send_event("traffic-failed", what=str(error))
    except Exception as error:
        send_event(
            "failed", what=f"{type(error).__name__}: {error}", traceback=traceback.format_exc()
        )
    platform.end()


main()
