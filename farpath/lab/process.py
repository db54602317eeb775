"""Guest process: starts a guest with its shared directory and follows it to its end."""

from __future__ import annotations

import json
import logging
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO, Any

from farpath.base.errors import (
    BadInputError,
    CheckFailedError,
    LabFailedError,
    MachineLacksError,
)
from farpath.base.files import open_regular
from farpath.base.locks import hold_directory
from farpath.lab import machine
from farpath.lab.artifacts import elf
from farpath.lab.artifacts.images import REMEDY, Images
from farpath.lab.console import Console, guest_end
from farpath.lab.guest_code import write_code
from farpath.lab.watchdog import LOOK_S, Hang, LastProgress, Patience, VirtualClock, Watchdog
from farpath.platforms import platform_of
from farpath.record.readback import merged
from farpath.spec import user_time
from farpath.spec.plan import Plan
from farpath.spec.protocol import (
    CONGESTIONS_DIR,
    IMAGES_DIR,
    PLAN_FILE,
    RAW_DIR,
    READBACK_FILE,
    parse_event,
    site_modules,
)
from farpath.tools.commands import note
from topologies import lay_out

#: Real seconds between two ``waiting`` events for a guest that works but sends no event.
WAITING_S = 30.0
PATIENCE = Patience()
#: Receives every command that the guest runs.
GUEST_LOG = logging.getLogger("farpath.commands.guest")
#: Events of the guest that decide whether a run succeeded.
DECIDING = ("done", "failed", "mismatch", "refused", "traffic-failed")
#: Events that every site of a lab sends; one of them is enough.
COMMON_EVENTS = ("network-ready", "hosts-ready", "progress", "waiting", "done")

Watch = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class RawRun:
    """Raw result of a lab.

    ``raw``: directory with the tools' output. ``readback``: settings that were read back.
    ``wall_s``, ``cpu_s``, ``peak_memory_bytes``: cost of all guests. ``critical_cpu_s``: duration
    of the run with a core for each site, None in one guest. ``warnings``: sentences.
    """

    raw: FilePath
    readback: dict[str, Any]
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int
    warnings: tuple[str, ...] = ()
    critical_cpu_s: float | None = None


def _fill(share: FilePath, images: Images, plan: Plan | None) -> None:
    """Fill the shared directory: code, links to root file systems, and the plan's files."""
    boots_kernel = plan is None or platform_of(plan).boots_kernel
    root = (images.lab / "rootfs").resolve()
    write_code(share, root if boots_kernel else None)
    if boots_kernel:
        (share / "root").symlink_to(root)
    if plan is not None:
        _fill_plan(share, images, plan)


def _fill_plan(share: FilePath, images: Images, plan: Plan) -> None:
    (share / PLAN_FILE).write_text(plan.to_json())
    (share / "sender").symlink_to((images.sender / "rootfs").resolve())
    (share / IMAGES_DIR).mkdir()
    layout = lay_out(plan)
    for site in range(layout.sites):
        _copy_modules(share / site_modules(site), images.at_site(layout, site), plan)
    user_builds = {image.build for image in plan.images.values()}
    roots = {build: images.own / build for build in user_builds}
    roots |= {stack.root: images.build(stack) for stack in plan.stacks if stack.root}
    if plan.programs:
        addresses = user_time_addresses(images)
        (share / user_time.ADDRESSES_FILE).write_text(json.dumps(addresses))
    for name, directory in roots.items():
        (share / IMAGES_DIR / name).symlink_to((directory / "rootfs").resolve())
    for library in {stack.own_congestion for stack in plan.stacks if stack.own_congestion}:
        target = share / CONGESTIONS_DIR / library
        target.parent.mkdir(parents=True)
        shutil.copyfile(images.own / library, target)


def _copy_modules(directory: FilePath, images: Images, plan: Plan) -> None:
    """Copy the kernel modules of a site, which are built for its kernel.

    Raises MachineLacksError for a module that an older farpath did not build.
    """
    directory.mkdir()
    modules = {module for stack in plan.stacks if (module := images.module(stack))}
    if platform_of(plan).boots_kernel:
        modules |= set(images.devices)
    if plan.programs:
        modules.add(images.user_time)
    for module in modules:
        if not module.is_file():
            raise MachineLacksError(f"the lab has no module {module.name} yet: {REMEDY}")
        shutil.copyfile(module, directory / module.name)


def user_time_addresses(images: Images) -> dict[str, int]:
    """Return the parameters of the module of user time; MachineLacksError if one is missing."""
    program = images.linux_elf.read_bytes()
    found = elf.symbols(program, [name.encode() for name in user_time.SYMBOLS])
    addresses = {name: found.get(name.encode()) for name in user_time.SYMBOLS}
    addresses[user_time.SLOT] = elf.import_slot(program, user_time.FUNCTION.encode())
    if missing := [name for name, address in addresses.items() if address is None]:
        raise MachineLacksError(
            f"the lab's kernel {images.manifests['kernel']['release']} has no {missing[0]}, which "
            "programs need: build it from Debian's source ('make kernel' without KERNEL_SRC)"
        )
    return {name: address for name, address in addresses.items() if address is not None}


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
        machine.make_share(share)
        with hold_directory(share):
            _fill(share, images, plan)
            yield share
    finally:
        janitor.stdin.close()
        janitor.wait()


@dataclass(frozen=True)
class Guest:
    """How one guest of a lab is started.

    ``clock``: its virtual clock, None if it has none. ``site``: the number of its site. ``title``:
    words that name the site in messages and in the log, where there are several. ``started``:
    called with the id of its first process, which leads its process group.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    clock: VirtualClock | None = None
    site: int = 0
    title: str = ""
    started: Callable[[int], None] = lambda _pid: None

    @property
    def where(self) -> str:
        """The title as it continues a message; empty for one guest alone."""
        return f" at the {self.title}" if self.title else ""


def _allow_files(pid: int) -> None:
    """Let a process open as many files as it may: those of a guest's programs are its own too."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, most))


class _RunningGuest:
    """A guest that has been started, its console, and how it ended."""

    def __init__(
        self, guest: Guest, share: FilePath, log: IO[bytes], descriptors: Sequence[int]
    ) -> None:
        note(guest.command)
        self.guest = guest
        self.process = subprocess.Popen(
            guest.command,
            cwd=share,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": os.environ.get("PATH", os.defpath), **guest.environment},
            start_new_session=True,
            pass_fds=descriptors,
        )
        _allow_files(self.process.pid)
        assert self.process.stdout is not None
        guest.started(self.process.pid)
        self.stdout = self.process.stdout
        self.console = Console(self.stdout, log, guest.title)
        self.last: dict[str, Any] = {}
        self.cpu_s = 0.0
        self.peak_memory_bytes = 0

    def follow(self, watch: Watch, patience: Patience, progress: LastProgress) -> None:
        """Follow the console to the guest's end; raises Hang if it makes no progress.

        ``progress``: of all guests of the run.
        """
        watchdog = Watchdog(self.process.pid, patience, self.guest.clock, progress)
        self.last = _follow(self.console, watch, watchdog)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_memory_bytes = usage.ru_maxrss * 1024

    @property
    def virtual_ns(self) -> int:
        """The guest's virtual time; 0 if it is unknown."""
        clock = self.guest.clock
        return (clock.read_ns(self.process.pid) if clock else None) or 0

    def kill(self) -> None:
        """Kill every process of the guest."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Wait for the first process of a guest that was killed."""
        if self.process.returncode is None:
            self.process.wait()
        self.stdout.close()


def _follow(console: Console, watch: Watch, watchdog: Watchdog) -> dict[str, Any]:
    """Read the console to its end, and return the guest's last event in ``DECIDING``.

    ``watch`` is called with every event, and with a ``waiting`` event now and then while the
    guest works without sending one. Raises Hang if the guest makes no progress, and OutOfTime
    if its real time is over.
    """
    last: dict[str, Any] = {}
    reported_s = time.monotonic()
    for line in console.lines(LOOK_S):
        watchdog.check_wall()
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


def _judge(running: _RunningGuest, log: FilePath) -> None:
    """Raise the error that matches how a guest ended; return if it succeeded."""
    last, status, where = running.last, running.process.returncode, running.guest.where
    tail = running.console.tail()
    event = last.get("event")
    if event == "mismatch":
        differences = "; ".join(last["differences"])
        raise CheckFailedError(f"the lab differs from its plan{where}: {differences}")
    if event == "done":
        return
    if event == "refused":
        raise BadInputError(problem=f"{last['what']}", remedy=f"the lab's console is in {log}")
    cause = last.get("what", f"the guest{where} ended early with status {status}")
    verdict = guest_end(last.get("traceback", cause) if last else tail)
    error = verdict.error if verdict else LabFailedError
    meaning = verdict.meaning if verdict else cause
    # The message of a failed program is in the event already; the console would repeat it.
    detail = "" if event == "traffic-failed" else tail
    raise error(f"the lab failed{where}: {meaning}; its console is in {log}", detail)


def run_guests(
    guests: Sequence[Guest],
    share: FilePath,
    log: FilePath,
    watch: Watch,
    patience: Patience = PATIENCE,
    descriptors: Sequence[int] = (),
) -> RawRun:
    """Start the guests of a lab in their shared directory and follow all to their end.

    ``log``: file for the consoles' output. ``watch``: called with every event; if it raises, the
    guests are killed, as they are when one of them fails. ``descriptors``: files that the guests
    inherit. Raises LabFailedError if a guest hangs, panics or fails, CheckFailedError if the lab
    differs from its plan, and BadInputError if the kernel refuses a setting or module.
    """
    started_s = time.monotonic()
    running: list[_RunningGuest] = []
    with os.fdopen(open_regular(log, os.O_TRUNC), "wb") as log_stream:
        try:
            for guest in guests:
                running.append(_RunningGuest(guest, share, log_stream, descriptors))
            _follow_all(running, log, watch, patience)
        finally:
            for ending in running:
                ending.kill()
            for ending in running:
                ending.close()
    return RawRun(
        raw=share / RAW_DIR,
        readback=merged(
            [
                json.loads((share / READBACK_FILE.format(site=guest.site)).read_text())
                for guest in guests
            ]
        ),
        wall_s=time.monotonic() - started_s,
        cpu_s=sum(ended.cpu_s for ended in running),
        peak_memory_bytes=sum(ended.peak_memory_bytes for ended in running),
    )


def _follow_all(
    running: Sequence[_RunningGuest], log: FilePath, watch: Watch, patience: Patience
) -> None:
    """Follow all guests, each in a thread, until they have ended or one of them fails.

    If one hangs, the others wait for it, since it is behind them.
    """
    progress = LastProgress()

    def follow(guest: _RunningGuest) -> None:
        try:
            guest.follow(_watch_of(guest.guest, watch), patience, progress)
        except Hang as hang:
            alive = [one for one in running if one.process.returncode is None]
            hanging = min(alive, key=lambda one: (one.virtual_ns, one is not guest))
            raise LabFailedError(
                f"the lab hangs{hanging.guest.where}: {hang}; its console is in {log}",
                hanging.console.tail() if patience.shows_console else "",
            ) from None

    with ThreadPoolExecutor(len(running)) as threads:
        try:
            futures = {threads.submit(follow, guest): guest for guest in running}
            for future in as_completed(futures):
                future.result()
                _judge(futures[future], log)
        finally:
            # Their consoles end with them, and so do the threads
            for guest in running:
                guest.kill()


def _watch_of(guest: Guest, watch: Watch) -> Watch:
    """Return the watcher of a guest's events; of those that all sites send it passes one on."""
    if not guest.site:
        return watch
    return lambda event: None if event["event"] in COMMON_EVENTS else watch(event)
