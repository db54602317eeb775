"""Runs of the host lab that are ended, fail, or are refused, and what they leave."""

from __future__ import annotations

import re

from farpath.lab.qemu import CODE, OUT, Machine
from tests.hostlab.runs import TRAFFIC, host_run
from tests.hostlab.traces import left_since, traces

#: A killed run's connections have nobody to close them: until the kernel gives them up,
#: which takes it minutes at worst, it keeps their congestion control's module loaded.
LOADED = "congestion controls"


def test_an_interrupted_run_leaves_no_trace(machine: Machine) -> None:
    before = traces(machine)
    job = host_run(machine, "--seed=2")
    job.until_said(TRAFFIC)
    job.kill("INT")
    done = job.wait()
    assert done.status == 130, done.stderr
    assert left_since(machine, before) == {}


def test_a_killed_run_leaves_nothing_that_clean_does_not_remove(machine: Machine) -> None:
    before = traces(machine)
    job = host_run(machine, "--seed=3")
    job.until_said(TRAFFIC)
    job.kill("KILL")
    assert job.wait().status == 137
    # Nobody was left to give settings back and to remove what is beside the records
    but = ("kernel-wide settings", LOADED, "allowed controls", "half-made records")
    assert left_since(machine, before, but) == {}
    assert traces(machine)["kernel-wide settings"] != before["kernel-wide settings"]
    done = machine.farpath("clean", f"--out={OUT}")
    assert done.status == 0, done.stderr
    assert "net.core.netdev_max_backlog" in done.stdout
    assert left_since(machine, before, [LOADED]) == {}


def test_the_next_run_gives_back_what_a_killed_one_changed(machine: Machine) -> None:
    before = traces(machine)
    job = host_run(machine, "--seed=4")
    job.until_said(TRAFFIC)
    job.kill("KILL")
    job.wait()
    job = host_run(machine, "--seed=5")
    job.until_said(TRAFFIC)
    job.kill("TERM")
    done = job.wait()
    assert done.status == 143, done.stderr
    # The lock of the killed run's record is clean's to remove
    assert left_since(machine, before, [LOADED, "half-made records"]) == {}
    assert machine.farpath("clean", f"--out={OUT}").status == 0
    assert left_since(machine, before, [LOADED]) == {}


def test_a_failing_run_says_why_and_leaves_no_trace(machine: Machine) -> None:
    before = traces(machine)
    job = host_run(machine, "--seed=6")
    job.until_said(TRAFFIC)
    assert machine.run("pkill", "-KILL", "-x", "iperf3").status == 0
    done = job.wait()
    assert done.status == 4, done.stderr
    assert re.search(r"flow1-\w+ exited with 137", done.stderr), done.stderr
    assert left_since(machine, before) == {}


def test_a_stack_that_the_kernel_has_no_module_for_is_refused_by_name(machine: Machine) -> None:
    before = traces(machine)
    stacks = f"{CODE}/build/host-stacks"
    machine.do("mv", stacks, f"{stacks}.away")
    try:
        done = host_run(machine, "--stack=htcp_2004").wait()
        remedies = machine.farpath("preflight", "--lab=host", "--stack=htcp_2004")
    finally:
        machine.do("mv", f"{stacks}.away", stacks)
    assert done.status == 3, done.stderr
    assert "tcp_htcp_2004" in done.stderr
    assert remedies.status == 3
    assert "make modules" in remedies.stdout
    assert left_since(machine, before) == {}


def test_all_missing_modules_are_named_at_once(machine: Machine) -> None:
    command = "mount -t tmpfs tmpfs /usr/lib/modules && exec env PYTHONPATH=/code "
    run = f"/opt/farpath/venv/bin/python -m farpath run --lab=host --stack=bic --out={OUT}"
    unloaded = "for m in openvswitch sch_netem sch_tbf; do rmmod $m || true; done 2>/dev/null; "
    done = machine.run("unshare", "--mount", "sh", "-c", unloaded + command + run)
    assert done.status == 3, done.stderr
    for name in ("openvswitch", "sch_netem", "sch_tbf", "tcp_bic"):
        assert name in done.stderr
