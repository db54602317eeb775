"""One run from plan to record: reuses a cached record, or runs the lab, checks and writes it.

A record is made in a partial directory and renamed when it is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.files import require_unicode, user_errors
from farpath.lab.artifacts.images import Images
from farpath.lab.artifacts.program_builds import build_programs
from farpath.lab.platforms import LAB_PLATFORMS
from farpath.lab.process import RawRun, Watch
from farpath.lab.provenance import cycles_mhz, provenance, record_name
from farpath.lab.replacement import circumstances, whole_record
from farpath.mechanisms.mechanism import Output, RecordPart
from farpath.mechanisms.registry import examine
from farpath.planning.plan_warnings import plan_warnings
from farpath.record.record import RECORD_FILE, Record, Samples
from farpath.spec.hosts import PINGER
from farpath.spec.plan import Plan

#: Function that runs a plan, as ``LabPlatform.play`` does.
Play = Callable[[Plan, Images, FilePath, Watch], AbstractContextManager[RawRun]]
#: Function that adds files to a complete record before it is renamed to its directory.
Finish = Callable[[Record], None]


@dataclass(frozen=True)
class Outcome:
    """Directory of a record, whether it existed already, and the real seconds that it took."""

    directory: FilePath
    cached: bool
    wall_s: float


def run(
    plan: Plan,
    out: FilePath,
    force: bool,
    watch: Watch,
    images: Images | None = None,
    finish: Finish | None = None,
    request: Mapping[str, str] | None = None,
    play: Play | None = None,
) -> Outcome:
    """Make a plan's record under ``out``, or find it there.

    ``force``: make it even if it exists. ``watch``: called with every event of the guest.
    ``images``: by default those built for the project. ``finish``: adds files, such as figures,
    to the record before it is renamed to its directory. ``request``: the options that the record
    keeps as they were typed. ``play``: in place of the lab's own. Raises the errors of
    the lab and the checks; only the console's log is left then, and after an interruption no file.
    """
    if images is None:
        images = LAB_PLATFORMS[plan.settings.lab].find_images(plan)
    build_programs(plan.stacks, images)
    require_unicode(str(out))
    name = record_name(plan, images)
    record_dir = out / name
    with user_errors(out):
        # The directory alone proves nothing: Snakemake makes the directories that it waits for.
        if (record_dir / RECORD_FILE).exists() and not force:
            return Outcome(record_dir, cached=True, wall_s=0.0)
    with whole_record(out, name, RECORD_FILE) as (partial, log):
        wall_s = _fill(partial, plan, images, log, watch, finish, request, play)
    return Outcome(record_dir, cached=False, wall_s=wall_s)


def _fill(
    partial: FilePath,
    plan: Plan,
    images: Images,
    log: FilePath,
    watch: Watch,
    finish: Finish | None,
    request: Mapping[str, str] | None,
    play: Play | None,
) -> float:
    """Run the lab, check the run and write its record; return the real seconds it took."""
    from farpath.record import checks, idle_path, record
    from farpath.record.failed_flows import named_causes

    idle: dict[str, idle_path.IdleRtt] = {}
    hops: dict[str, Any] = {}

    def check_and_watch(event: dict[str, Any]) -> None:
        if event["event"] == "idle-pings":
            name = event.get("name", PINGER)
            idle[name] = idle_path.check_base_rtt(event["output"], plan, name)
        if event["event"] == "traceroute":
            hops["hops"] = checks.check_hops(event["output"], plan)
        watch(event)

    play = play or LAB_PLATFORMS[plan.settings.lab].play
    with named_causes(plan), play(plan, images, log, check_and_watch) as raw:
        checked = _checked(raw, plan)
        written = record.write_record(
            partial,
            plan,
            checked.samples,
            provenance={**provenance(images, plan), **circumstances(raw)},
            readback={
                **raw.readback,
                **idle_path.idle_rtts(idle),
                **hops,
                **checked.health,
                **checked.readback,
                **checks.counted_flows(raw.raw, plan),
                **checks.sender_cpu(raw.raw, plan, cycles_mhz()),
            },
            warnings=[
                *plan_warnings(plan),
                *raw.warnings,
                *idle_path.idle_warnings(idle),
                *checked.warnings,
            ],
            raw_dir=raw.raw,
            parts=checked.parts,
            request=request,
        )
        if finish:
            finish(written)
        return raw.wall_s


@dataclass(frozen=True)
class _Checked:
    """A run's samples that passed the checks, and what else its record has of them."""

    samples: Samples
    readback: Mapping[str, Any]
    parts: tuple[RecordPart, ...]
    health: dict[str, Any]
    warnings: tuple[str, ...]


def _checked(raw: RawRun, plan: Plan) -> _Checked:
    """Parse and check a lab's raw output; raise CheckFailedError if it differs from the plan."""
    from farpath.record import (
        checks,
        queue_table,
        record,
    )

    # Effects of a slow machine on the flows are reported as the machine's fault.
    health, doubts = checks.check_machine(raw.raw, plan)
    with checks.slow_machine_errors(doubts):
        samples = record.samples_from_raw(raw.raw, plan)
        starved = checks.check_flows(samples, raw.raw, plan)
        late = checks.late_flows(samples, plan)
        checks.check_programs(samples, raw.raw, plan)
        queues = queue_table.from_raw(raw.raw, plan)
        output = Output(plan, raw.raw, raw.readback, samples.flows)
        found = examine(output)
    return _Checked(
        samples,
        found.readback,
        parts=(*([queues.part] if queues else []), *found.parts),
        health=health,
        warnings=(*doubts, *starved, *late, *found.warnings),
    )
