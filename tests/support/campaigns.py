"""Synthetic campaigns: runs whose figures are the published ones, or set by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path as FilePath
from typing import Any

from experiments.seven_regions.paper_stacks import paper_names
from experiments.seven_regions.published import all_published
from farpath.metrics.results import ResultSet, RunSummary, result_set_of
from farpath.metrics.run import RegionSummary, Summary
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.programs.catalog import catalogue
from farpath.record.record import RECORD_FILE, Record, Samples, typed_frame, write_record
from farpath.spec.path import Path
from farpath.spec.schedule import seven_regions

#: Labels of the forms of 2004, by the paper's names.
LABELS = {
    entry.published: name
    for name, entry in catalogue().items()
    if entry.published and not entry.form_2004
}
PATHS = ("caltech", "ufl", "cern")
Change = Callable[[RunSummary], RunSummary]


def summary_of(name: str, path: str = "cern", seed: int = 1) -> Summary:
    """A run with exactly the figures that the paper prints for a stack."""
    row = all_published()[name]
    regions = tuple(
        RegionSummary(
            number=region.number,
            seconds=240.0 if region.number == 4 else 120.0,
            flows=present.flows,
            mean_bps=row.mean_mbps * 1e6,
            std_bps=region.stability * row.mean_mbps * 1e6,
            stability=region.stability,
            fairness=region.fairness,
            flow_means_bps=(row.mean_mbps * 1e6,),
            rtt_max_ms=200.0,
            peak_bps=row.mean_mbps * 1e6,
            rtt_min_ms=164.0,
            rtt_std_ms=row.rtt_std_ms,
        )
        for region, present in zip(
            row.regions, seven_regions(LABELS[name], 120.0).regions(), strict=True
        )
    )
    return Summary(
        schedule="seven-regions", path_name=path, stack=LABELS[name], era="2004", clock="virtual",
        region_s=120.0, seed=seed, rate_bps=450e6, base_rtt_ms=164.0,
        mean_bps=row.mean_mbps * 1e6, std_bps=row.std_mbps * 1e6, stability=row.stability,
        fairness_min=row.fairness_min, fairness_max=row.fairness_max, rtt_std_ms=row.rtt_std_ms,
        rtt_min_ms=164.0, rtt_p99_ms=200.0, rtt_max_ms=210.0, pings=960, pings_lost=0,
        queue_max_bytes=1, queue_max_packets=1, queue_drops=0, retransmits=0, regions=regions,
        cpu_percent=row.cpu_util_as_printed, mhz_per_mbps=row.mhz_per_mbps,
        sent_mean_bps=row.mean_mbps * 1e6, sent_stability=row.stability,
    )  # fmt: skip


def run_of(name: str, path: str = "cern", seed: int = 1, **changes: Any) -> RunSummary:
    """A run of one of the paper's stacks; ``describe_changes`` are of its summary."""
    summary = dataclasses.replace(summary_of(name, path, seed), **changes)
    return RunSummary(
        record=f"{path}-{summary.stack}-seed{seed}", fingerprint=f"{seed:02x}" * 32, kernel="7.2.1",
        images=f"images of {summary.stack}", code="code", summary=summary, lab="lab",
        parts=f"parts of {summary.stack}", settings=f"settings of {path}",
    )  # fmt: skip


def write_three_records(folder: FilePath) -> FilePath:
    """Records at CERN, of H-TCP with two seeds and of Reno with one; gives the folder."""
    write_seven_regions(folder / "htcp-1", seed=1)
    write_seven_regions(folder / "htcp-2", seed=2)
    write_seven_regions(folder / "reno-1", stack="reno_2004")
    return folder


def published_campaign(seeds: Iterable[int] = (1, 2, 3), paths: Iterable[str] = PATHS) -> ResultSet:
    """All nine stacks as printed for CERN, on every path and with every seed alike."""
    return result_set_of(
        run_of(name, path, seed) for name in paper_names() for path in paths for seed in seeds
    )


def changed(campaign: ResultSet, change: Change) -> ResultSet:
    """A campaign with every run changed."""
    return result_set_of(map(change, campaign.runs), map(change, campaign.cpu_runs))


def set_figures(name: str, path: str = "cern", seed: int | None = None, **figures: Any) -> Change:
    """What sets figures of one stack's runs on a path, of one seed or of all."""

    def change(run: RunSummary) -> RunSummary:
        meant = (run.stack, run.path) == (LABELS[name], path) and seed in (None, run.seed)
        if not meant:
            return run
        return dataclasses.replace(run, summary=dataclasses.replace(run.summary, **figures))

    return change


def set_regions(name: str, numbers: Iterable[int], **figures: Any) -> Change:
    """What sets figures of some regions of one stack's runs at CERN."""
    which = tuple(numbers)

    def change(run: RunSummary) -> RunSummary:
        if (run.stack, run.path) != (LABELS[name], "cern"):
            return run
        regions = tuple(
            dataclasses.replace(region, **figures) if region.number in which else region
            for region in run.summary.regions
        )
        return dataclasses.replace(run, summary=dataclasses.replace(run.summary, regions=regions))

    return change


def write_seven_regions(
    directory: FilePath, stack: str = "htcp_2004", seed: int = 1, region_s: float = 10.0,
    kernel: str = "7.2.1", path: Path | None = None, compiler: str = "gcc 12",
    config: str = "c", module: str = "m", warnings: Sequence[str] = (),
) -> Record:  # fmt: skip
    """A record on disk of the seven regions: 100 Mbit/s a flow, RTT 164 ms, 300 in region 4."""
    schedule = seven_regions(stack, region_s)
    plan = make_plan(path or path_by_name("cern"), schedule, seed, "virtual")
    flows = [
        (
            flow.name,
            flow.start_s + second + 1,
            1.0,
            100e6 + 1e3 * seed * second,
            100e6 + 2e3 * seed * second,
            0,
            10**6,
            10**7,
            164_000,
        )
        for flow in plan.schedule.flows
        for second in range(round(flow.stop_s - flow.start_s))
    ]
    seconds = range(round(plan.schedule.duration_s))
    middle = plan.schedule.regions()[3]
    pings = [
        (float(t_s), 300.0 if middle.start_s <= t_s < middle.stop_s else 164.0) for t_s in seconds
    ]
    samples = Samples(
        typed_frame("flows", flows),
        typed_frame("ping", pings),
        typed_frame("queue", [(float(t_s), 0, 0, 0) for t_s in seconds]),
    )
    made = {
        "kernel": {
            "release": kernel, "source_hash": f"source of {kernel}", "compiler": compiler,
            "linux_hash": f"{kernel} by {compiler}", "config_hash": f"{config} by {compiler}",
        },
        "lab": {"packages_hash": "l"},
        "sender": {"packages_hash": "s"},
        "stacks": {stack: {"source_hash": module, "module_hash": f"{module} by {compiler}"}},
        "images_sha256": f"{kernel} and {stack} by {compiler}",
        "code_sha256": "c" * 64,
    }  # fmt: skip
    raw = directory.parent / ".raw"
    raw.mkdir(parents=True, exist_ok=True)
    return write_record(directory, plan, samples, made, {"before": {}}, warnings, raw)


def write_named(records: FilePath, path: str, stack: str, seed: int, **more: Any) -> Record:
    """The same, short, on a named path, called after path, stack and seed."""
    record_dir = records / f"{path}-{stack}-{seed}"
    return write_seven_regions(record_dir, stack, seed, 5.0, path=path_by_name(path), **more)


def make_empty_record(out: FilePath, name: str) -> None:
    """A record's folder with an empty description; its lock goes."""
    (out / name).mkdir()
    (out / name / RECORD_FILE).touch()
    (out / f".{name}.lock").unlink(missing_ok=True)
