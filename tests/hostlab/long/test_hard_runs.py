"""Runs of the host lab that ask much of a machine: droppers and traces, rates, company."""

from __future__ import annotations

import json

from farpath.lab.qemu import OUT, CommandResult, Machine
from farpath.mechanisms.dropper.drops_by_flow import dropper_counts
from farpath.metrics.run import summarise
from tests.hostlab.runs import REGION_S, TRAFFIC, fetched, host_run


def test_droppers_and_traces_work_on_a_parking_lot(machine: Machine) -> None:
    words = ("--topology=parking-lot:2", "--rate=4Mbit", "--drop=every:500", "--trace=100ms")
    done = host_run(machine, "--schedule=together", "--stack=reno", *words, "--json").wait()
    assert done.status == 0, done.stderr
    record = fetched(machine, json.loads(done.stdout)["record"])
    (dropper,) = dropper_counts(record)
    assert dropper["lost"] == dropper["seen"] // 500 > 0
    assert record.trace is not None
    assert set(record.trace["flow"]) == {flow.name for flow in record.plan.schedule.flows}


def test_traceroute_shows_the_routers_of_a_path_on_the_machines_own_kernel(
    machine: Machine,
) -> None:
    job = machine.start_farpath(
        *("run", "--lab=host", "--path=caltech", "--topology=routed", "--rate=10Mbit"),
        *("--background=none", "--stack=reno", "--schedule=together", f"--region={REGION_S}s"),
        *(f"--out={OUT}", "--json"),
    )
    done = job.wait()
    assert done.status == 0, done.stderr
    record = fetched(machine, json.loads(done.stdout)["record"])
    hops = [hop["name"] for hop in record.data["readback"]["hops"]]
    assert hops == [*record.plan.path.hop_names, "receiver"]


def test_cards_of_end_hosts_take_offloads_and_ports_of_the_path_none(machine: Machine) -> None:
    words = ("--offloads=on", "--stack=reno", "--schedule=together", "--json")
    done = host_run(machine, *words).wait()
    assert done.status == 0, done.stderr
    record = fetched(machine, json.loads(done.stdout)["record"])
    assert summarise(record.samples, record.plan).mean_bps > 0.5 * record.plan.path.rate_bps
    for link in record.data["readback"]["after"]["links"]:
        on = set(link["offloads"].values())
        assert on == {link["host"] in record.plan.hosts}, link["port"]
        assert (link["gso_max_segs"] > 1) == (link["host"] in record.plan.hosts)


def test_short_flows_start_in_time_and_end(machine: Machine) -> None:
    done = host_run(
        machine, "--background=tcp:10%", "--stack=reno", "--schedule=together", "--json"
    ).wait()
    assert done.status == 0, done.stderr
    frame = fetched(machine, json.loads(done.stdout)["record"]).short_flows
    assert frame is not None
    print(f"{len(frame)} short flows, median {frame['completion_s'].median():.3f} s")
    assert frame["completion_s"].notna().mean() > 0.5
    # Two round trips
    assert frame["completion_s"].min() >= 0.08


def test_a_rate_beyond_the_machine_is_marked_or_refused(machine: Machine) -> None:
    judged(machine, host_run(machine, "--rate=1Gbit", "--seed=7", "--json").wait())


def test_a_machine_that_is_busy_is_marked_or_refused(machine: Machine) -> None:
    job = host_run(machine, "--seed=8", "--json")
    job.until_said(TRAFFIC)
    spin = "for core in 0 1; do timeout 15 chrt -f 50 sh -c 'while :; do :; done' & done; wait"
    machine.run("sh", "-c", spin)
    judged(machine, job.wait())


def judged(machine: Machine, done: CommandResult) -> None:
    """A record of a machine that was too slow says so, or there is none and it is said why."""
    print(done.stderr[-1000:])
    if done.status == 0:
        record = fetched(machine, json.loads(done.stdout)["record"])
        print(record.data["warnings"])
        assert any("slow machine" in warning for warning in record.data["warnings"])
    else:
        assert done.status == 5, done.stderr
        assert "too slow" in done.stderr
