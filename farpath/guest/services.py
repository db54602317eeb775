"""Services: runs a user's services on the hosts of a network of sites, with its faults."""

from __future__ import annotations

import json
import shutil
import time
from functools import partial
from pathlib import Path as FilePath

from farpath.guest import service_links, system, user_time
from farpath.guest.platforms import Platform
from farpath.guest.program_network import add_default_routes, add_ipv6, start_network
from farpath.guest.program_observers import (
    SendEvent,
)
from farpath.guest.service_faults import FaultRun
from farpath.guest.service_run import ServiceRun
from farpath.guest.site_observers import SiteObservers
from farpath.spec.protocol import (
    PLAN_FILE,
    PROGRAMS_FILE,
    RAW_DIR,
    READBACK_FILE,
)
from farpath.spec.services import Services
from farpath.spec.site_network import plan_of_sites
from farpath.spec.wire import from_wire


def play(share: FilePath, platform: Platform, send_event: SendEvent) -> None:
    """Run the services in the shared directory, and leave there what the host asks for."""
    platform.prepare(share)
    plan = plan_of_sites(json.loads((share / PLAN_FILE).read_text()))
    services = from_wire(Services, json.loads((share / PROGRAMS_FILE).read_text()))
    system.wait_until(system.next_second_ns())
    network = start_network(plan, share, platform)
    # Before the first packet: around a loop switches that learn would pass it on for ever
    links = service_links.SiteLinks(plan, services, network)
    links.set_ways()
    send_event("network-ready")
    before = network.read_back()
    if differences := network.differences(before):
        send_event("mismatch", differences=differences)
        return
    if services.both_families or plan.ip_version == 6:
        add_ipv6(network)
    add_default_routes(network, services.both_families)
    run = ServiceRun(services, network, share, send_event)
    send_event("hosts-ready")
    raw = FilePath("/tmp") / RAW_DIR
    raw.mkdir()
    observers = SiteObservers(plan, network, raw, services.services)
    system.wait_until(system.next_second_ns())
    send_event("idle-pings", outputs=observers.idle_pings())
    epoch_ns = system.next_second_ns()
    system.wait_until(epoch_ns)
    if services.date_s is not None:
        time.clock_settime(time.CLOCK_REALTIME, services.date_s)
    hosts = {one.host for one in services.services}
    networks = {user_time.network_number(network.pid(host)): host for host in hosts}
    interval_s = plan.settings.sample_interval_s
    per_second = round(1 / interval_s)
    run.epoch_ns = epoch_ns

    def sample(tick: int) -> None:
        observers.sample(tick, tick * interval_s)
        if tick % per_second == 0:
            lookers = user_time.read(networks)["lookers"]
            send_event("progress", t_s=tick * interval_s, lookers=lookers)
        run.agenda.add(run.at((tick + 1) * interval_s), partial(sample, tick + 1))

    observers.start(services.timeout_s)
    faults = FaultRun(run, links)
    faults.plan()
    sample(0)
    status = run.run(epoch_ns)
    took_s = run.t_s()
    found_time = user_time.read(networks)
    observers.end()
    notes = faults.finish()
    run.end()
    after = network.read_back()
    (share / READBACK_FILE.format(site=0)).write_text(
        json.dumps({"before": before, "after": after})
    )
    shutil.copytree(raw, share / RAW_DIR, copy_function=shutil.copyfile)
    send_event(
        "done",
        status=status,
        took_s=took_s,
        services={
            name: {
                "status": state.status,
                "starts": state.starts,
                "ended_s": round((state.ended_ns - epoch_ns) / system.NS_PER_S, 9)
                if state.ended_ns
                else None,
            }
            for name, state in run.states.items()
        },
        faults=notes,
        killed_for_memory=run.groups.killed_for_memory(),
        user_time=found_time,
    )
