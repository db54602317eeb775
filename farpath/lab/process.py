"""Guest process: starts a guest with its shared directory and follows it to its end."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, CheckFailedError, LabFailedError
from farpath.base.files import open_regular
from farpath.base.locks import hold_directory
from farpath.base.project import PROJECT
from farpath.lab import machine
from farpath.lab.artifacts.images import Images
from farpath.lab.console import Console, guest_end
from farpath.lab.watchdog import LOOK_S, Hang, Patience, VirtualClock, Watchdog
from farpath.spec.plan import Plan
from farpath.spec.protocol import (
    CODE_DIR,
    IMAGES_DIR,
    MODULES_DIR,
    PLAN_FILE,
    RAW_DIR,
    READBACK_FILE,
    parse_event,
)
from farpath.spec.settings import VIRTUAL
from farpath.spec.stack import IMAGE
from farpath.tools.commands import note

#: The parts of farpath's code that the guest imports.
GUEST_PACKAGES = ("farpath/guest", "farpath/spec", "farpath/tools", "topologies")
GUEST_FILES = ("farpath/__init__.py", "farpath/base/__init__.py", "farpath/base/errors.py")
#: Real seconds between two ``waiting`` events for a guest that works but sends no event.
WAITING_S = 30.0
PATIENCE = Patience()
#: Receives every command that the guest runs.
GUEST_LOG = logging.getLogger("farpath.commands.guest")
#: Events of the guest that decide whether a run succeeded.
DECIDING = ("done", "failed", "mismatch", "refused", "traffic-failed")

Watch = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class RawRun:
    """Raw result of a lab.

    ``raw``: directory with the tools' output. ``readback``: settings that were read back.
    ``wall_s``, ``cpu_s``, ``peak_memory_bytes``: cost of the guest. ``warnings``: sentences.
    """

    raw: FilePath
    readback: dict[str, Any]
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int
    warnings: tuple[str, ...] = ()


def _fill(share: FilePath, images: Images, plan: Plan | None) -> None:
    """Fill the shared directory: code, links to root file systems, and the plan's files."""
    code = share / CODE_DIR
    for package in GUEST_PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__", "paths")
        shutil.copytree(PROJECT / package, code / package, ignore=ignored)
    for file in GUEST_FILES:
        (code / file).parent.mkdir(exist_ok=True)
        shutil.copy(PROJECT / file, code / file)
    if plan is None or plan.settings.lab == VIRTUAL:
        (share / "root").symlink_to((images.lab / "rootfs").resolve())
    if plan is not None:
        _fill_plan(share, images, plan)


def _fill_plan(share: FilePath, images: Images, plan: Plan) -> None:
    (share / PLAN_FILE).write_text(plan.to_json())
    (share / "sender").symlink_to((images.sender / "rootfs").resolve())
    (share / MODULES_DIR).mkdir()
    (share / IMAGES_DIR).mkdir()
    user_builds = {image.build for image in plan.images.values()}
    for stack in plan.stacks:
        module = images.module(stack)
        if module:
            shutil.copyfile(module, share / MODULES_DIR / module.name)
        if stack.program == IMAGE:
            user_builds.add(stack.build)
    for build in user_builds:
        (share / IMAGES_DIR / build).symlink_to((images.own / build / "rootfs").resolve())


@contextmanager
def shared_directory(images: Images, plan: Plan | None) -> Iterator[FilePath]:
    """Create and fill a guest's shared directory; it is removed even if this process is killed.

    ``plan``: None for a guest without a plan. A janitor process waits on a pipe, which closes
    when this process ends in any way, and then removes the directory. A lock shows
    ``farpath.base.locks`` that the directory is in use.
    """
    share = machine.share_directory()
    janitor = subprocess.Popen(
        ["sh", "-c", 'read -r _ || :; rm -rf -- "$1"', "farpath-janitor", str(share)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    assert janitor.stdin is not None
    try:
        with hold_directory(share):
            _fill(share, images, plan)
            yield share
    finally:
        janitor.stdin.close()
        janitor.wait()


def _end(guest: subprocess.Popen[bytes]) -> None:
    """Kill every process of the guest, and wait for the first."""
    with suppress(ProcessLookupError):
        os.killpg(guest.pid, signal.SIGKILL)
    guest.wait()


def _follow(console: Console, watch: Watch, watchdog: Watchdog) -> dict[str, Any]:
    """Read the console to its end, and return the guest's last event in ``DECIDING``.

    ``watch`` is called with every event, and with a ``waiting`` event now and then while the
    guest works without sending one. Raises Hang if the guest makes no progress.
    """
    last: dict[str, Any] = {}
    reported_s = time.monotonic()
    for line in console.lines(LOOK_S):
        event = None if line is None else parse_event(line)
        if event is not None:
            watchdog.feed()
            if event["event"] == "command":
                GUEST_LOG.info("%s", event["command"])
                continue
            watch(event)
            reported_s = time.monotonic()
            if event["event"] in DECIDING:
                last = event
        elif watchdog.look() and time.monotonic() - reported_s > WAITING_S:
            reported_s = time.monotonic()
            if (silence_s := watchdog.silence_s()) is not None:
                watch({"event": "waiting", "silence_s": silence_s})
    return last


def _judge(last: dict[str, Any], console: Console, status: int, log: FilePath) -> None:
    """Raise the error that matches how the guest ended; return if it succeeded."""
    tail = console.tail()
    event = last.get("event")
    if event == "mismatch":
        raise CheckFailedError("the lab differs from its plan: " + "; ".join(last["differences"]))
    if event == "done":
        return
    if event == "refused":
        raise BadInputError(f"{last['what']}; the lab's console is in {log}")
    cause = last.get("what", f"the guest ended early with status {status}")
    verdict = guest_end(last.get("traceback", cause) if last else tail)
    error = verdict.error if verdict else LabFailedError
    meaning = verdict.meaning if verdict else cause
    # The message of a failed program is in the event already; the console would repeat it.
    detail = "" if event == "traffic-failed" else tail
    raise error(f"the lab failed: {meaning}; its console is in {log}", detail)


def run_guest(
    command: Sequence[str],
    environment: Mapping[str, str],
    share: FilePath,
    log: FilePath,
    watch: Watch,
    patience: Patience = PATIENCE,
    clock: VirtualClock | None = None,
) -> RawRun:
    """Start a guest in its shared directory, follow it to its end, and return its raw result.

    ``log``: file for the console's output. ``watch``: called with every event; if it raises, the
    guest is killed. ``clock``: the guest's virtual clock, None if it has none. Raises
    LabFailedError if the guest hangs, panics or fails, CheckFailedError if the lab differs
    from its plan, and BadInputError if the kernel refuses a setting or module.
    """
    started_s = time.monotonic()
    note(command)
    with os.fdopen(open_regular(log, os.O_TRUNC), "wb") as log_stream:
        guest = subprocess.Popen(
            command,
            cwd=share,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": os.environ.get("PATH", os.defpath), **environment},
            start_new_session=True,
        )
        assert guest.stdout is not None
        console = Console(guest.stdout, log_stream)
        try:
            last = _follow(console, watch, Watchdog(guest.pid, patience, clock))
            usage = os.wait4(guest.pid, 0)
            guest.returncode = os.waitstatus_to_exitcode(usage[1])
        except Hang as hang:
            raise LabFailedError(
                f"the lab hangs: {hang}; its console is in {log}", console.tail()
            ) from None
        finally:
            if guest.returncode is None:
                _end(guest)
            guest.stdout.close()
    _judge(last, console, guest.returncode, log)
    return RawRun(
        raw=share / RAW_DIR,
        readback=json.loads((share / READBACK_FILE).read_text()),
        wall_s=time.monotonic() - started_s,
        cpu_s=usage[2].ru_utime + usage[2].ru_stime,
        peak_memory_bytes=usage[2].ru_maxrss * 1024,
    )
