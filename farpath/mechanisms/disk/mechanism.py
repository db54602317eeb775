"""Disks: the storage that sending programs read (SOURCE) and receiving ones write (SINK)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.base.options import HOSTS, Option
from farpath.base.words import parse_words
from farpath.mechanisms.mechanism import Fact, Findings, Mechanism, Output, Recorded, Texts
from farpath.mechanisms.quantities import RATE_BPS, SIZE_BYTES
from farpath.platforms import platform_of
from farpath.programs.program import FlowOutput
from farpath.programs.registry import program_of, program_of_flow
from farpath.spec.disk import CACHE_BYTES_RANGE, Disk
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL_CLOCK
from farpath.tools import iperf3

KIND = "disk:"
#: Name of the cache between program and disk, by the option.
CACHES = {"source": "readahead", "sink": "writeback"}
EXAMPLES = {
    "source": f"{KIND}445MB/s,readahead=2MB",
    "sink": f"{KIND}200MB/s,writeback=64MB",
}
#: Read-ahead is that of Linux unless it is set (VM_READAHEAD_PAGES in include/linux/mm.h).
#: Write-back depends on a host's memory there; without any, programs write at the disk's rate.
DEFAULT_BYTES = {"source": 128 << 10, "sink": 0}
#: Blocks of iperf3 by which a flow's bytes may differ from those of its disk: one read or written,
#: and one that came late.
BLOCKS_OFF = 2


def parse_disk(text: str, option: str) -> Disk:
    """Parse ``disk:445MB/s`` or ``disk:445MB/s,readahead=2MB``; ``option``: ``source`` or ``sink``.

    Raises BadInputError for anything else.

    >>> parse_disk("disk:445MB/s,readahead=2MB", "source")
    Disk(rate_bps=3560000000, cache_bytes=2000000)
    """
    cache = CACHES[option]
    words = text.strip().removeprefix(KIND)
    values, rates = parse_words(words, option, text, EXAMPLES[option], (cache,), bare=True)
    if not text.strip().startswith(KIND) or len(rates) != 1:
        raise BadInputError(
            option=option,
            given=text,
            problem=f"it must be a disk's rate, and {cache} if given",
            remedy=f"write it as in {EXAMPLES[option]}",
        )
    cache_bytes = DEFAULT_BYTES[option]
    if cache in values:
        cache_bytes = SIZE_BYTES.parse(values[cache], f"{option}: {cache}", CACHE_BYTES_RANGE)
    return Disk(RATE_BPS.parse(rates[0], f"{option}: rate"), cache_bytes)


def disk_text(disk: Disk | None, option: str) -> str | None:
    """Return the shortest text that ``parse_disk`` parses to a disk; None for none.

    >>> disk_text(Disk(3_560_000_000, 2_000_000), "source"), disk_text(Disk(800, 0), "sink")
    ('disk:445MB/s,readahead=2MB', 'disk:0.0001MB/s')
    """
    if disk is None:
        return None
    text = f"{KIND}{disk.rate_bps / 8e6:.12g}MB/s"
    if disk.cache_bytes == DEFAULT_BYTES[option]:
        return text
    return f"{text},{CACHES[option]}={disk.cache_bytes / 1e6:.12g}MB"


def disk_texts(plan: Plan) -> dict[str, str]:
    """Return the disks of a plan as they are typed, by option."""
    texts = {"source": disk_text(plan.source, "source"), "sink": disk_text(plan.sink, "sink")}
    return {name: text for name, text in texts.items() if text}


def _apply(plan: Plan, texts: Texts) -> Plan:
    disks: dict[str, Any] = {name: parse_disk(text, name) for name, text in texts.items()}
    plan = replace(plan, **disks)
    if plan.sink is None:
        return plan
    # A receiver with a disk reads payload to write it
    return replace(plan, settings=replace(plan.settings, receiver_discards=False))


def check_plan(plan: Plan) -> None:
    """Raise BadInputError for disks that no program would read or write, or that no lab has."""
    option = next(iter(disk_texts(plan)), "")
    if not option:
        return
    if not platform_of(plan).boots_kernel:
        raise BadInputError(
            option=option,
            problem=(
                "with `lab=host` there is no such disk: it is a device of the lab's own kernel"
            ),
            remedy="leave one of them out",
        )
    if plan.settings.clock != VIRTUAL_CLOCK:
        raise BadInputError(
            option=option,
            problem=(
                f"with `clock={plan.settings.clock}` copying takes time too, as no disk "
                "of that rate would"
            ),
            remedy=f"use `clock={VIRTUAL_CLOCK}`",
        )
    if plan.schedule.reverse:
        raise BadInputError(
            option=option,
            problem=(
                "a disk is read or written here, and with `reverse` hosts with flows "
                "both ways would do both"
            ),
            remedy="leave one of them out",
        )
    for stack in plan.stacks:
        if not program_of(stack).reads_files:
            raise BadInputError(
                option=option,
                problem=f"the program of `stack={stack.label}` neither reads nor writes a file",
                remedy="use a stack of TCP, which iperf3 runs, or leave the disks out",
            )


def check_disks(readback: Mapping[str, Any], raw_dir: FilePath, plan: Plan) -> None:
    """Raise CheckFailedError if a disk gave or took other bytes than its flows sent or received.

    iperf3 counts a block when it has sent it, which is after it was read, or before it writes it,
    and counts none that comes after the test's end.
    """
    counted: dict[str, int] = dict.fromkeys(plan.disks, 0)
    allowed = dict.fromkeys(plan.disks, 0)
    for flow in plan.schedule.flows if counted else ():
        program, output = program_of_flow(flow, plan), FlowOutput(raw_dir, flow)
        sent = program.parse_sender(output.sender)
        received = program.parse_receiver(output.receiver)
        for host, intervals in ((flow.sender, sent), (flow.receiver, received)):
            if host in counted:
                counted[host] += sum(interval.bytes for interval in intervals)
                allowed[host] += BLOCKS_OFF * iperf3.BLOCK_BYTES
    for host, flow_bytes in counted.items():
        moved = readback["after"]["disks"][host]["moved_bytes"]
        if abs(moved - flow_bytes) > allowed[host]:
            raise CheckFailedError(
                f"the disk of {host} has {moved:,} bytes of its programs, but the flows there "
                f"have {flow_bytes:,} (within {allowed[host]:,})"
            )


def disk_counts(record: Recorded) -> dict[str, dict[str, Any]]:
    """Return the bytes that each host's disk moved (``moved_bytes``), and waiting times.

    ``waited_s``: the programs for the disk. ``idle_s``: the disk for the programs.
    """
    disks: dict[str, dict[str, Any]] = record.readback.get("after", {}).get("disks", {})
    return disks


def _words(plan: Plan) -> Iterator[str]:
    return (f"{name} {text}" for name, text in disk_texts(plan).items())


def _host_facts(plan: Plan) -> Iterator[Fact]:
    return (Fact(name, text) for name, text in disk_texts(plan).items())


def _examine(output: Output) -> Findings:
    check_disks(output.readback, output.raw_dir, output.plan)
    return Findings()


_SEE = "how-to/flows.md#from-disk-to-disk"
MECHANISM = Mechanism(
    order=55,
    of_flows="programs read and write files as they like",
    options={
        "source": Option(
            "Disk that the sending programs read: its rate, and how much it reads ahead.",
            EXAMPLES["source"],
            "none: they send from memory; readahead=128KiB",
            allowed="disk:RATE, readahead=SIZE",
            see=_SEE,
            group=HOSTS,
            after="era",
            placeholder="DISK",
        ),
        "sink": Option(
            "Disk that the receiving programs write: its rate, and how much may wait to be "
            "written.",
            EXAMPLES["sink"],
            "none: what arrives is discarded; writeback=0",
            allowed="disk:RATE, writeback=SIZE",
            see=_SEE,
            group=HOSTS,
            after="source",
            placeholder="DISK",
        ),
    },
    apply=_apply,
    texts=disk_texts,
    check=check_plan,
    words=_words,
    host_facts=_host_facts,
    examine=_examine,
)
