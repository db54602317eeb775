"""Services: runs a user's services on the hosts of a network of sites, with its faults."""

from __future__ import annotations

import json
import os
import shutil
import time
from functools import partial
from pathlib import Path as FilePath

from farpath.guest import mptcp, service_links, system, user_time
from farpath.guest.device import Site
from farpath.guest.far_links import FarLinks
from farpath.guest.platforms import Platform
from farpath.guest.program_network import add_default_routes, add_ipv6, start_network
from farpath.guest.program_observers import (
    SendEvent,
)
from farpath.guest.service_faults import FaultRun
from farpath.guest.service_run import ServiceRun
from farpath.guest.site_control import SiteControl
from farpath.guest.site_observers import SiteObservers
from farpath.guest.traffic import TrafficError
from farpath.spec.plan import Plan
from farpath.spec.protocol import (
    PLAN_FILE,
    PROGRAMS_FILE,
    RAW_DIR,
    READBACK_FILE,
    SITE_VARIABLE,
    site_modules,
)
from farpath.spec.services import Services
from farpath.spec.site_clock import (
    clock_start_ns,
    epoch_after_ns,
    first_turn_after_ns,
    turns_after_ns,
)
from farpath.spec.site_network import plan_of_sites
from farpath.spec.wire import from_wire
from topologies import lay_out
from topologies.sites import with_control_links


def play(share: FilePath, platform: Platform, send_event: SendEvent) -> None:
    """Run this guest's services, and leave in the shared directory what the host asks for."""
    platform.prepare(share)
    plan = plan_of_sites(json.loads((share / PLAN_FILE).read_text()))
    services = from_wire(Services, json.loads((share / PROGRAMS_FILE).read_text()))
    number = int(os.environ.get(SITE_VARIABLE, "0"))
    far = _load_far_links(plan, number, platform, share)
    system.start_second()
    network = start_network(plan, share, platform, number)
    # Before the first packet: around a loop switches that learn would pass it on for ever
    links = service_links.SiteLinks(plan, services, network)
    links.set_ways()
    send_event("network-ready")
    before = {**network.read_back(), **(far.read_back() if far else {})}
    differences = network.differences(before) + (far.differences(before) if far else [])
    if differences:
        send_event("mismatch", differences=differences)
        return
    if services.both_families or plan.ip_version == 6:
        add_ipv6(network)
    add_default_routes(network, services.both_families)
    versions = (4, 6) if services.both_families else (plan.ip_version,)
    differences = mptcp.configure(network, versions)
    before |= mptcp.read_back(network)
    differences += mptcp.differences(network, before, versions)
    if differences:
        send_event("mismatch", differences=differences)
        return
    control = SiteControl(far.site) if far else None
    run = ServiceRun(services, network, share, send_event, control)
    send_event("hosts-ready")
    raw = FilePath("/tmp") / RAW_DIR
    raw.mkdir()
    own = [state.service for state in run.own]
    observers = SiteObservers(plan, network, raw, own)
    epoch_ns = _ping_idle(plan, services, observers, send_event)
    if services.date_s is not None and not far:
        time.clock_settime(time.CLOCK_REALTIME, services.date_s)
    networks = {user_time.network_number(network.pid(one.host)): one.host for one in own}
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
    after = {
        **network.read_back(),
        **(far.read_back() if far else {}),
        **mptcp.read_back(network),
    }
    if far:
        far.end()
    (share / READBACK_FILE.format(site=number)).write_text(
        json.dumps({"before": before, "after": after})
    )
    shutil.copytree(raw, share / RAW_DIR, copy_function=shutil.copyfile, dirs_exist_ok=True)
    send_event(
        "services-ended",
        status=status,
        took_s=took_s,
        services={
            state.service.name: {
                "status": state.status,
                "starts": state.starts,
                "ended_s": round((state.ended_ns - epoch_ns) / system.NS_PER_S, 9)
                if state.ended_ns
                else None,
            }
            for state in run.own
        },
        faults=notes,
        killed_for_memory=run.groups.killed_for_memory(),
        user_time=found_time,
    )
    send_event("done")


def _load_far_links(
    plan: Plan, number: int, platform: Platform, share: FilePath
) -> FarLinks | None:
    """Load the links to other guests; None for one guest alone."""
    layout = with_control_links(plan, lay_out(plan))
    if not layout.far_links:
        return None
    far = FarLinks(Site(plan, layout, number, platform, share / site_modules(number)))
    far.load()
    return far


def _ping_idle(
    plan: Plan, services: Services, observers: SiteObservers, send_event: SendEvent
) -> int:
    """Ping over the idle network, and wait for the first services' start; return that moment.

    Times are in ns of the monotonic clock. Guests agree upon them in advance. Raises TrafficError
    if this guest was not ready in time.
    """
    if plan.settings.one_guest:
        system.start_second()
        send_event("idle-pings", outputs=observers.idle_pings({}))
        epoch_ns = system.next_second_ns()
    else:
        start_ns = system.monotonic_ns_of(clock_start_ns(plan, services))
        turns_ns = {name: start_ns + at for name, at in turns_after_ns(plan, services).items()}
        if time.monotonic_ns() >= start_ns + first_turn_after_ns(services):
            raise TrafficError("the hosts of services were not made in time")
        send_event("idle-pings", outputs=observers.idle_pings(turns_ns))
        epoch_ns = start_ns + epoch_after_ns(plan, services)
    system.wait_until(epoch_ns)
    system.renew_random_numbers()
    return epoch_ns
