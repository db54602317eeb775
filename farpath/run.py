"""One run from plan to record: cache, lab, checks, and a place that is never half made."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from farpath import __version__
from farpath.era import Era
from farpath.eras import era_by_text
from farpath.errors import BadInputError, MachineLacksError
from farpath.lab import virtual
from farpath.lab.images import PROJECT, Images, find_images
from farpath.lab.machine import cpu_model
from farpath.path import Path
from farpath.plan import Plan, Settings
from farpath.schedule import Schedule
from farpath.stack import Stack
from farpath.stacks import check_together, era_of, fitted, resolve_stack

NOT_WRITABLE = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ELOOP,
)
#: The code that decides what a run measures; an edit elsewhere leaves records valid.
DECIDING_CODE = (
    "farpath/era.py",
    "farpath/guest",
    "farpath/flows",
    "farpath/lab",
    "farpath/path.py",
    "farpath/plan.py",
    "farpath/record.py",
    "farpath/schedule.py",
    "farpath/stack.py",
    "topologies",
)
#: A directory's name holds so many stacks' names; of more, their number.
NAMED_STACKS = 4
#: What the guest needs beside the flows' packets, and what a byte of window costs
#: there at most: sent, queued on the path and received, each with its headers.
GUEST_BASE_BYTES = 512 << 20
GUEST_BYTES_PER_WINDOW_BYTE = 4


@dataclass(frozen=True)
class Outcome:
    """A record's place and whether it was there already."""

    directory: FilePath
    cached: bool
    wall_s: float


def make_plan(
    path: Path,
    schedule: Schedule,
    seed: int,
    clock: str,
    era: Era | None = None,
    own: Sequence[Stack] = (),
) -> Plan:
    """The plan of a run; the receiver discards payload on the virtual clock only.

    Flows name their stacks as texts of :mod:`farpath.stacks` or by the label of one
    of ``own``, the user's. Without an era the hosts are of that which the stacks
    belong to. Raises BadInputError for a text that means no stack, and for stacks
    that cannot be in one run.
    """
    by_text = {stack.label: stack for stack in own}
    for text in dict.fromkeys(flow.stack for flow in schedule.flows):
        if text not in by_text:
            by_text[text] = resolve_stack(text, era.name if era else None)
    used = {by_text[flow.stack].label: by_text[flow.stack] for flow in schedule.flows}
    stacks = tuple(fitted(stack, path) for stack in used.values())
    check_together(stacks)
    flows = tuple(replace(flow, stack=by_text[flow.stack].label) for flow in schedule.flows)
    schedule = replace(schedule, flows=flows)
    windows = len(flows) * path.window_bytes
    settings = Settings(
        clock=clock,
        receiver_discards=clock == "virtual",
        memory_bytes=GUEST_BASE_BYTES + GUEST_BYTES_PER_WINDOW_BYTE * windows,
    )
    hosts = era or era_by_text(era_of(stacks))
    return Plan(path, schedule, settings, seed, stacks=stacks, era=hosts)


def code_identity(project: FilePath = PROJECT) -> str:
    """SHA-256 over the names and contents of the code that decides a run."""
    places = [project / name for name in DECIDING_CODE]
    files = [
        file
        for place in places
        for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
    ]
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(project)}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()


def place_name(plan: Plan, images: Images) -> str:
    """A record's directory name: equal inputs, images and code give the same one."""
    text = json.dumps(
        [plan.as_dict(), images.identity(plan.stacks), code_identity()], sort_keys=True
    )
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    names = "+".join(dict.fromkeys(stack.name for stack in plan.stacks))
    if len(plan.stacks) > NAMED_STACKS:
        names = f"{len(plan.stacks)}stacks"
    region = f"{plan.schedule.region_s:g}s"
    return (
        f"{plan.path.name}-{names}-{region}-{plan.era.name}-seed{plan.seed}-"
        f"{plan.settings.clock}-{digest}"
    )


def _git_commit() -> str | None:
    """The project's commit, with a mark if files differ from it; None outside git."""
    command = ["git", "-C", str(PROJECT), "describe", "--always", "--abbrev=40", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def provenance(images: Images, stacks: Sequence[Stack]) -> dict[str, Any]:
    """Everything beside the plan that can change a result, for the record."""
    return {
        "farpath": __version__,
        "git_commit": _git_commit(),
        "code_sha256": code_identity(),
        "cpu_model": cpu_model(),
        "images_sha256": images.identity(stacks),
        "kernel": images.manifests["kernel"],
        "lab": images.manifests["lab"],
        "sender": images.manifests["sender"],
        "stacks": images.stack_manifests(stacks),
    }


@contextmanager
def _explained(place: FilePath) -> Iterator[None]:
    """Turn the file system's refusals into one clear line."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise MachineLacksError(
                f"no space left under {place}: free some, or give another place with OUT"
            ) from error
        if error.errno in NOT_WRITABLE:
            raise BadInputError(
                f"{place} cannot be written ({error.strerror}): give another place with OUT"
            ) from error
        raise


@contextmanager
def _locked(out: FilePath, name: str) -> Iterator[None]:
    """Hold a record's place; BadInputError naming the process that holds it already."""
    with (out / f".{name}.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise BadInputError(
                f"process {file.read().strip() or 'another'} is making this record in {out} "
                "already: wait for it, or give another place with OUT"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        try:
            yield
        finally:
            FilePath(file.name).unlink(missing_ok=True)


def _sweep(out: FilePath) -> None:
    """Remove what killed runs left: half-made records whose maker is gone."""
    for partial in out.glob(".partial-*"):
        pid = partial.name.split("-")[1]
        if not FilePath("/proc", pid).exists():
            shutil.rmtree(partial, ignore_errors=True)


def run(plan: Plan, out: FilePath, force: bool, watch: virtual.Watch) -> Outcome:
    """Make a plan's record under ``out``, or find it there.

    The record is made beside its place and renamed into it. Raises what the lab
    and the checks raise; then nothing is left but the console's log.
    """
    images = find_images()
    name = place_name(plan, images)
    place = out / name
    with _explained(out):
        if place.exists() and not force:
            return Outcome(place, cached=True, wall_s=0.0)
        out.mkdir(parents=True, exist_ok=True)
        with _locked(out, name):
            _sweep(out)
            partial = FilePath(tempfile.mkdtemp(prefix=f".partial-{os.getpid()}-", dir=out))
            try:
                wall_s = _fill(partial, plan, images, out / f"{name}.console.log", watch)
                partial.chmod(0o755)
                if place.exists():
                    place.rename(partial / "replaced")
                partial.rename(place)
                shutil.rmtree(place / "replaced", ignore_errors=True)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    return Outcome(place, cached=False, wall_s=wall_s)


def _fill(
    partial: FilePath,
    plan: Plan,
    images: Images,
    log: FilePath,
    watch: Callable[[dict[str, Any]], None],
) -> float:
    """Run the lab, check it and write record, figure and page; returns real seconds."""
    from farpath import checks, figures, page, record

    idle_rtt_ms: list[float] = []

    def check_and_watch(event: dict[str, Any]) -> None:
        if event["event"] == "idle-pings":
            rtt_ms = checks.check_base_rtt(event["output"], plan.path, plan.settings.clock)
            idle_rtt_ms.append(rtt_ms)
        watch(event)

    with virtual.play(plan, images, log, check_and_watch) as raw:
        samples = record.samples_from_raw(raw.raw, plan)
        checks.check_flows(samples, plan)
        checks.check_congestion(raw.raw, plan)
        checks.check_windows(samples, plan)
        cost = {
            "wall_s": raw.wall_s,
            "cpu_s": raw.cpu_s,
            "peak_memory_bytes": raw.peak_memory_bytes,
        }
        written = record.write_record(
            partial,
            plan,
            samples,
            provenance={**provenance(images, plan.stacks), "cost": cost},
            readback={**raw.readback, "idle_rtt_ms": idle_rtt_ms[0]},
            warnings=[],
            raw_dir=raw.raw,
        )
        figures.save_png(samples, plan, partial / "figure.png")
        page.save_page(written, partial / "page.html")
        shutil.move(log, partial / "console.log")
        return raw.wall_s
