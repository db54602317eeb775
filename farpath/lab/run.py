"""One run from plan to record: cache, lab, checks, and a place that is never half made."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path as FilePath
from typing import Any

from farpath import __version__
from farpath.base.errors import StoppedError
from farpath.base.files import replace_directory, require_unicode, user_errors
from farpath.base.locks import exclusive_lock, fresh_partial, remove_stale_partials
from farpath.base.project import PROJECT
from farpath.lab import host, uml
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.artifacts.sources import source_identity
from farpath.lab.machine import cpu_mhz, cpu_model
from farpath.lab.process import Watch
from farpath.planning.plan_warnings import plan_warnings
from farpath.record.identity import RESULTS_VERSION, code_identity
from farpath.record.record import RECORD_FILE, Record
from farpath.spec.hosts import PINGER
from farpath.spec.plan import Plan
from farpath.spec.schedule import SEVEN_REGIONS
from farpath.spec.settings import HOST, VIRTUAL

#: The variable that says of a machine whose clock counts instructions how many ns each
#: takes, of all cores together (farpath.lab.qemu). There a cycle is an instruction.
INSTRUCTION_NS = "FARPATH_INSTRUCTION_NS"
#: A directory's name holds so many stacks' names; of more, their number.
NAMED_STACKS = 4


#: Adds files to a record that is whole but for its place.
Finish = Callable[[Record], None]


@dataclass(frozen=True)
class Outcome:
    """A record's place and whether it was there already."""

    directory: FilePath
    cached: bool
    wall_s: float


def place_name(plan: Plan, images: Images) -> str:
    """A record's directory name: equal inputs, images and code give the same one."""
    text = json.dumps(
        [plan.as_dict(), images.identity(plan.stacks, plan.images), code_identity()],
        sort_keys=True,
    )
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    names = "+".join(dict.fromkeys(stack.name for stack in plan.stacks))
    if len(plan.stacks) > NAMED_STACKS:
        names = f"{len(plan.stacks)}stacks"
    region = f"{plan.schedule.region_s:g}s"
    if plan.schedule.name != SEVEN_REGIONS:
        region = f"{plan.schedule.name}-{region}"
    # The host lab has one clock only.
    clock = plan.settings.clock if plan.settings.lab == VIRTUAL else plan.settings.lab
    return f"{plan.path.name}-{names}-{region}-{plan.era.name}-seed{plan.seed}-{clock}-{digest}"


def git_commit() -> str | None:
    """The project's commit, with a mark if files differ from it; None if unknown.

    A container has no git and is told.
    """
    if told := os.environ.get("FARPATH_GIT_COMMIT"):
        return told
    command = ["git", "-C", str(PROJECT), "describe", "--always", "--abbrev=40", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def instruction_ns() -> int | None:
    """How long an instruction takes where the machine's clock counts these; else None."""
    told = os.environ.get(INSTRUCTION_NS)
    return int(told) if told else None


def cycles_mhz() -> float | None:
    """Million cycles a second of this machine's cores; of instructions where it counts these."""
    ns = instruction_ns()
    return 1e3 / ns if ns else cpu_mhz()


def provenance(images: Images, plan: Plan) -> dict[str, Any]:
    """Everything beside the plan that can change a result, for the record."""
    counted = {"instruction_ns": ns} if (ns := instruction_ns()) else {}
    return {
        "farpath": __version__,
        "git_commit": git_commit(),
        "code_sha256": code_identity(),
        "results_version": RESULTS_VERSION,
        "cpu_model": cpu_model(),
        "runtime": os.environ.get("FARPATH_RUNTIME", "process"),
        "images_sha256": images.identity(plan.stacks, plan.images),
        "source_sha256": source_identity(plan, images),
        **counted,
        "kernel": images.manifests["kernel"],
        "lab": images.manifests["lab"],
        "sender": images.manifests["sender"],
        "stacks": images.stack_manifests(plan.stacks),
        "images": images.host_manifests(plan.images),
    }


def _now() -> str:
    """Date and time of the real clock, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def run(
    plan: Plan,
    out: FilePath,
    force: bool,
    watch: Watch,
    images: Images | None = None,
    finish: Finish | None = None,
) -> Outcome:
    """Make a plan's record under ``out``, or find it there.

    ``images``: what the lab boots, if not what was built for the project. ``finish``: adds to
    the record's directory, pictures for instance, before the record is renamed into its place.
    Raises what the lab and the checks raise; then nothing is left but the console's log, and
    where it was interrupted not even that.
    """
    if images is None:
        images = host.find_images(plan) if plan.settings.lab == HOST else find_images()
    require_unicode(str(out))
    name = place_name(plan, images)
    place = out / name
    with user_errors(out):
        # Who waits for a record may have made its directory (Snakemake does).
        if (place / RECORD_FILE).exists() and not force:
            return Outcome(place, cached=True, wall_s=0.0)
        out.mkdir(parents=True, exist_ok=True)
        lock = out / f".{name}.lock"
        with exclusive_lock(lock, f"is making this record in {out}"):
            remove_stale_partials(out)
            log = out / f"{name}.console.log"
            with fresh_partial(out) as partial, _kept_for_failures(log):
                wall_s = _fill(partial, plan, images, log, watch, finish)
                partial.chmod(0o755)
                replace_directory(partial, place)
    return Outcome(place, cached=False, wall_s=wall_s)


@contextmanager
def _kept_for_failures(log: FilePath) -> Iterator[None]:
    """Remove the console's log of a run that somebody ended: it tells of no fault."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, StoppedError):
        log.unlink(missing_ok=True)
        raise


def _fill(
    partial: FilePath,
    plan: Plan,
    images: Images,
    log: FilePath,
    watch: Watch,
    finish: Finish | None,
) -> float:
    """Run the lab, check it and write the record; returns real seconds."""
    from farpath.record import checks, record, trace_table

    idle_rtt_ms: dict[str, float] = {}

    def check_and_watch(event: dict[str, Any]) -> None:
        if event["event"] == "idle-pings":
            host = event.get("host", PINGER)
            idle_rtt_ms[host] = checks.check_base_rtt(event["output"], plan, host)
        watch(event)

    play = host.play if plan.settings.lab == HOST else uml.play
    with play(plan, images, log, check_and_watch) as raw:
        # What a slow machine did to the flows is told as the machine's fault.
        seen, doubts = checks.check_machine(raw.raw, plan)
        with checks.slow_machine_errors(doubts):
            samples = record.samples_from_raw(raw.raw, plan)
            checks.check_flows(samples, plan)
            checks.check_congestion(raw.raw, plan)
            checks.check_windows(samples, plan)
            checks.check_segments(raw.raw, plan)
            checks.check_background(raw.readback, plan)
            idle = checks.check_droppers(raw.readback, plan)
            trace = trace_table.from_raw(raw.raw, plan)
            missing = checks.check_trace(trace, samples, plan)
        cpu = checks.sender_cpu(raw.raw, plan, cycles_mhz())
        cost = {
            "wall_s": raw.wall_s,
            "cpu_s": raw.cpu_s,
            "peak_memory_bytes": raw.peak_memory_bytes,
        }
        written = record.write_record(
            partial,
            plan,
            samples,
            provenance={**provenance(images, plan), "cost": cost, "recorded_at": _now()},
            readback={**raw.readback, **checks.idle_rtts(idle_rtt_ms), **seen, **cpu},
            warnings=[*plan_warnings(plan), *raw.warnings, *doubts, *idle, *missing],
            raw_dir=raw.raw,
            trace=trace,
        )
        if finish:
            finish(written)
        shutil.move(log, partial / "console.log")
        return raw.wall_s
