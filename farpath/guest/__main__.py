"""The guest's main line: prepare, build, verify, measure, report, end."""

from __future__ import annotations

import json
import logging
import shutil
import sys
import time
import traceback
from pathlib import Path as FilePath
from typing import Any

from farpath.guest import packetdrill, system
from farpath.guest.containers import EndHosts
from farpath.guest.droppers import Droppers
from farpath.guest.network import Network
from farpath.guest.platforms import Platform, platform_here
from farpath.guest.tracers import TracerError
from farpath.guest.traffic import Traffic, TrafficError
from farpath.spec.plan import Plan
from farpath.spec.protocol import (
    MODULES_DIR,
    PACKETDRILL_DIR,
    PLAN_FILE,
    RAW_DIR,
    READBACK_FILE,
    event_line,
)
from farpath.tools import commands, congestion_control, sysctl

#: Pings of the idle path before any traffic.
IDLE_PINGS = 5


def say(kind: str, **values: Any) -> None:
    """Tell the host."""
    print(event_line(kind, virtual_s=round(time.monotonic(), 6), **values), flush=True)


class CommandEvents(logging.Handler):
    """Tells the host each command of the guest, as an event."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one event."""
        say("command", command=record.getMessage())


def read_back(plan: Plan, network: Network) -> dict[str, Any]:
    """What the lab really is."""
    return {**network.read_back(), "parameters": congestion_control.parameters(plan.stacks)}


def verified(plan: Plan, network: Network, found: dict[str, Any]) -> bool:
    """Whether the lab is what was asked; else the host is told how it differs."""
    differences = network.differences(found)
    differences += congestion_control.differences(plan.stacks, found["parameters"])
    if differences:
        say("mismatch", differences=differences)
    return not differences


def play(share: FilePath, ground: Platform) -> None:
    """One whole run. What the tools say gathers in memory until the end."""
    ground.prepare(share)
    system.whole_second()
    system.start_open_vswitch()
    plan = Plan.from_dict(json.loads((share / PLAN_FILE).read_text()))
    ground.take_stacks(plan.stacks, share / MODULES_DIR)
    network = Network(plan, ground)
    network.start()
    say("network-ready")
    hosts = EndHosts(plan, {host.name: host.pid for host in network.mininet.hosts}, ground)
    say("hosts-ready")
    before = read_back(plan, network)
    if not verified(plan, network, before):
        return
    raw = FilePath("/tmp") / RAW_DIR
    raw.mkdir()
    droppers = Droppers(plan, network)
    traffic = Traffic(plan, network, hosts, raw, droppers.moments())
    say("idle-pings", output=traffic.ping_idle_path(IDLE_PINGS))
    for host, output in traffic.ping_from_senders(IDLE_PINGS):
        say("idle-pings", host=host, output=output)
    with ground.watched(raw) as sample:

        def progress(t_s: float) -> None:
            sample(t_s)
            say("progress", t_s=t_s)

        traffic.play(progress)
    if ground.shared:
        traffic.await_idle_path()
        traffic.ping_idle_path(IDLE_PINGS, "ping-idle-after")
    after = {**read_back(plan, network), "droppers": droppers.counted()}
    if not verified(plan, network, after):
        return
    (share / READBACK_FILE).write_text(json.dumps({"before": before, "after": after}))
    shutil.copytree(raw, share / RAW_DIR, copy_function=shutil.copyfile)
    say("done")


def main() -> None:
    """Run the plan in the directory named on the command line; the lab ends with it.

    Or, where that holds packetdrill's scripts, these.
    """
    share = FilePath(sys.argv[1])
    commands.LOG.setLevel(logging.INFO)
    commands.LOG.addHandler(CommandEvents())
    ground = platform_here()
    try:
        if (share / PACKETDRILL_DIR).is_dir():
            packetdrill.play(share, say)
        else:
            play(share, ground)
    except congestion_control.StackError as error:
        say("refused", what=f"STACK: {error}")
    except sysctl.SettingError as error:
        say("refused", what=f"SYSCTL: {error}")
    except (TrafficError, TracerError) as error:
        say("traffic-failed", what=str(error))
    except Exception as error:
        say("failed", what=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())
    ground.end()


main()
