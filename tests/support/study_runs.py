"""Synthetic records of the companion experiments' runs: one loss, and a window that comes back."""

from __future__ import annotations

import shutil
from pathlib import Path as FilePath
from typing import Any

import pandas as pd

from farpath.base.project import experiment_folder
from farpath.mechanisms.trace.trace_table import COLUMNS, Trace
from farpath.metrics.measures import MEASURES_FILE
from farpath.record.record import Record, Samples, typed_frame, write_record
from farpath.runs.experiment import QUICK, RecordedRun, WantedRun, load_experiment
from farpath.spec.datagrams import notes_arrivals
from farpath.spec.plan import Plan
from farpath.spec.settings import HOST

#: The experiments that measures are taken of: those of the virtual lab, of the host lab, and all.
ANALYSES = load_experiment("companion").parts
HOST_ANALYSES = ("cpu-streams",)
ALL_ANALYSES = (*ANALYSES, *HOST_ANALYSES)
#: What the dropper of a run with chance losses saw and took.
SEEN, LOST = 1_000_000, 1_000
LOST_S, BACK_S = 2.0, 6.0
#: What all sending programs take of a core of 1000 MHz.
CPU_PART = 0.1


def window_bytes(plan: Plan, t_s: float) -> int:
    """Half of the receiver's window at the loss, from where it grows to the whole."""
    whole = plan.path.window_bytes
    at_s = next((one.numbers[-1] for one in plan.droppers if one.kind == "at"), LOST_S)
    if t_s <= at_s:
        return whole
    return round(whole * min(1.0, 0.5 + 0.5 * (t_s - at_s) / BACK_S))


def write_run(
    record_dir: FilePath, run: WantedRun, kernel: str = "7.2.1", slower: int = 1
) -> Record:
    """A run's record: flow 2 has half of what flow 1 has, and flow 1 a ``slower``th of half."""
    plan = run.plan
    flows = [
        (flow.name, flow.start_s + second, 1.0, plan.path.rate_bps / (2 + 2 * number) / slower,
         plan.path.rate_bps / (2 + 2 * number) / slower, 0,
         window_bytes(plan, flow.start_s + second), 10**7, round(1e3 * plan.path.rtt_ms))
        for number, flow in enumerate(plan.schedule.flows)
        for second in range(1, round(flow.stop_s - flow.start_s) + 1)
    ]  # fmt: skip
    seconds = range(round(plan.schedule.duration_s))
    queue = typed_frame("queue", [(float(t_s), 0, 0, 0) for t_s in seconds])
    samples = Samples(
        typed_frame("flows", flows),
        typed_frame("ping", [(float(t_s), plan.path.rtt_ms) for t_s in seconds]),
        queue.assign(marks=0) if plan.path.queue else queue,
    )
    raw = record_dir.parent / ".raw"
    raw.mkdir(parents=True, exist_ok=True)
    counted = {"dropper": "every:1000", "seen": SEEN, "lost": LOST}
    datagrams = {"sent": SEEN, "expected": SEEN, "lost": LOST, "out_of_order": 0}
    arrivals = {
        "deviations": 100, "jitter_us": 0.5, "most_us": 7.0, "histogram": [[-7, 1], [0, 99]],
    }  # fmt: skip
    counts = {
        flow.name: datagrams
        | ({"arrivals": arrivals} if notes_arrivals(plan.stack_of(flow)) else {})
        for flow in plan.schedule.flows
    }
    waited_s = len(plan.schedule.flows) * plan.schedule.duration_s / 2
    disk = {"moved_bytes": SEEN, "waited_s": waited_s, "idle_s": 0.0}
    readback: dict[str, Any] = {
        "before": {},
        "after": {"droppers": [counted], "disks": dict.fromkeys(plan.disks, disk)},
        "datagrams": counts,
    }
    if plan.settings.lab == HOST:
        readback["cpu"] = {"senders_s": plan.schedule.duration_s * CPU_PART, "mhz": 1000.0}
    made = {"kernel": {"release": kernel}}
    parts = [trace.part] if (trace := trace_of(plan)) else []
    return write_record(record_dir, plan, samples, made, readback, [], raw, parts=parts)


def trace_of(plan: Plan) -> Trace | None:
    """The same windows each tenth of a second: one recovery at the loss, and one timeout later."""
    if not plan.settings.trace_interval_s:
        return None

    times_s = [tick / 10 for tick in range(1, round(10 * plan.schedule.duration_s))]
    frame = pd.DataFrame(0, index=range(len(times_s)), columns=list(COLUMNS))
    frame["flow"], frame["t_s"] = plan.schedule.flows[0].name, times_s
    states = {LOST_S + 0.1: "recovery", LOST_S + 0.2: "recovery", LOST_S + 1: "loss"}
    frame["ca_state"] = [states.get(t_s, "open") for t_s in times_s]
    frame["mss_bytes"] = plan.path.mtu_bytes - 52
    frame["cwnd_packets"] = [window_bytes(plan, t_s) for t_s in times_s] // frame["mss_bytes"]
    return Trace(frame, {"sender": len(times_s)}, {"sender": len(times_s)})


def write_runs(
    folder: FilePath, experiment: str, which: str = QUICK, slower: int = 1
) -> list[Record]:
    """Records of a set of an experiment's runs."""
    runs = load_experiment(experiment).runs(which)
    return [
        write_run(folder / f"{experiment}-{number}", run, slower=slower)
        for number, run in enumerate(runs)
    ]


def copy_experiments(folder: FilePath) -> FilePath:
    """The companion experiments, of which nothing is shipped; gives their folder."""
    shipped = shutil.ignore_patterns("*records", MEASURES_FILE, "__pycache__")
    for name in (*ALL_ANALYSES, "companion"):
        source = experiment_folder(name)
        shutil.copytree(source, folder / source.name, ignore=shipped)
    return folder


def write_recorded_runs(folder: FilePath, experiment: str, which: str) -> list[RecordedRun]:
    """The runs of a set with synthetic records."""
    runs = load_experiment(experiment).runs(which)
    return [RecordedRun(run, write_run(folder / str(index), run)) for index, run in enumerate(runs)]
