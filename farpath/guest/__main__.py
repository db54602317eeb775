"""The guest's main line: prepare, build, verify, measure, report, power off."""

from __future__ import annotations

import importlib
import json
import sys
import time
import traceback
from pathlib import Path as FilePath
from typing import Any

from farpath.plan import PLAN_FILE, RAW_DIR, READBACK_FILE, Plan, event_line


def say(kind: str, **values: Any) -> None:
    """Tell the host."""
    print(event_line(kind, virtual_s=round(time.monotonic(), 6), **values), flush=True)


def play(share: FilePath) -> None:
    """One whole run."""
    from farpath.guest import system

    system.mount_all()
    system.prepare_kernel()
    system.start_open_vswitch()
    say("switch-ready")
    plan = Plan.from_dict(json.loads((share / PLAN_FILE).read_text()))
    from farpath.guest.hosts import EndHost
    from farpath.guest.network import Network
    from farpath.guest.traffic import QueueSampler, Traffic

    topology = importlib.import_module(f"topologies.{plan.topology}")
    network = Network(plan, topology)
    network.start()
    say("network-ready")
    raw = FilePath("/tmp") / RAW_DIR
    raw.mkdir(exist_ok=True)
    names = [host.name for host in network.mininet.hosts]
    hosts = {name: EndHost(name, network.pid(name), str(plan_image(share))) for name in names}
    say("hosts-ready")
    before = network.read_back()
    differences = network.differences(before)
    if differences:
        say("mismatch", differences=differences)
        return
    traffic = Traffic(plan, network, hosts, raw, lambda t_s: say("progress", t_s=t_s))
    traffic.measure_base_rtt(5)
    say("base-rtt-measured")
    sampler = QueueSampler(network.topology.bottleneck, raw / "queue.txt")
    traffic.play(sampler.sample)
    sampler.close()
    traffic.close()
    import shutil
    shutil.copytree(raw, share / RAW_DIR, copy_function=shutil.copyfile)
    (share / READBACK_FILE).write_text(
        json.dumps({"before": before, "after": network.read_back()})
    )
    say("done")


def plan_image(share: FilePath) -> FilePath:
    return FilePath((share / "image").read_text().strip())


def main() -> None:
    from farpath.guest import system

    try:
        play(FilePath(sys.argv[1]))
    except BaseException:
        say("failed", traceback=traceback.format_exc())
    system.power_off()
    while True:
        time.sleep(1)


main()
