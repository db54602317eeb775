"""Captures: places of a run whose packets are written to files, and how many bytes of each."""

from __future__ import annotations

import dataclasses

from farpath.base.errors import BadInputError
from farpath.base.options import Option, range_text
from farpath.mechanisms.capture import capture_files
from farpath.mechanisms.mechanism import Findings, Mechanism, Output, RecordPart
from farpath.platforms import real_time_option
from farpath.spec import capture_sizes
from farpath.spec.capture import (
    DEFAULT_SNAP_BYTES,
    MOST_CAPTURE_BYTES,
    SNAP_BYTES_RANGE,
    Capture,
    slot_bytes,
)
from farpath.spec.plan import Plan
from farpath.spec.program_captures import ROOM_BYTES
from topologies import lay_out

EXAMPLE = "sender,bottleneck:128"
#: Memory of the program that captures packets; measured: 8 MiB.
CAPTURER_BYTES = 16 << 20


def parse_captures(text: str) -> tuple[Capture, ...]:
    """Parse places, separated by commas, each with its bytes of a packet after a colon if given.

    Raises BadInputError for anything else, and for a place that is named twice.

    >>> [str(capture) for capture in parse_captures("sender, bottleneck:96")]
    ['sender', 'bottleneck:96']
    """
    captures = tuple(_parse_capture(part.strip(), text) for part in text.split(","))
    places = [capture.place for capture in captures]
    for place in places:
        if places.count(place) > 1:
            raise BadInputError(
                option="capture",
                given=text,
                problem=f"{place} is there twice",
                remedy="name a place once",
            )
    return captures


def _parse_capture(part: str, text: str) -> Capture:
    place, colon, size = part.partition(":")
    if not place:
        raise BadInputError(
            option="capture",
            given=text,
            problem="a comma must separate two places",
            remedy=f"write it as in {EXAMPLE}",
        )
    if not colon:
        return Capture(place)
    low, high = SNAP_BYTES_RANGE
    if not (size.isascii() and size.isdigit() and len(size) <= 5 and low <= int(size) <= high):
        raise BadInputError(
            option="capture",
            given=text,
            problem=f"after {place}: stands how many bytes of each packet are kept",
            remedy=f"give {low} to {high:,}, as in {place}:128",
        )
    return Capture(place, int(size))


def check_captures(plan: Plan) -> None:
    """Raise BadInputError for a capture that a run cannot make.

    Files stay in the guest's memory until the run ends, and so have a bound; for those of programs
    it is ``farpath.spec.program_captures``'s.
    """
    if not plan.captures:
        return
    names = ",".join(map(str, plan.captures))
    if not plan.settings.cpu_is_free:
        where = real_time_option(plan.settings)
        raise BadInputError(
            option="capture",
            given=names,
            problem=f"with {where} capturing takes time of its own and would change the run",
            remedy="leave one of them out",
        )
    places = capture_sizes.ports(lay_out(plan))
    for one in plan.captures:
        if one.place not in places:
            raise BadInputError(
                option="capture",
                given=names,
                problem=f"there is no {one.place} in this run",
                remedy=f"it must be one of {', '.join(places)}",
            )
    if plan.programs:
        return
    size_bytes = sum(capture_sizes.most_bytes(plan, one) for one in plan.captures)
    if size_bytes > MOST_CAPTURE_BYTES:
        raise BadInputError(
            option="capture",
            given=names,
            problem=(
                f"it may give {size_bytes / 1e6:,.0f} MB in "
                f"{plan.schedule.duration_s:g} s, and at most "
                f"{MOST_CAPTURE_BYTES / 1e6:,.0f} MB are possible"
            ),
            remedy=(
                "keep fewer bytes of each packet, as in "
                f"{plan.captures[0].place}:{SNAP_BYTES_RANGE[0]}, or give a shorter "
                "`time` or `region`, or fewer places"
            ),
        )


def memory_bytes(plan: Plan) -> int:
    """Return the memory of a guest's captured packets: their files, rings and program."""
    if not plan.captures:
        return 0
    slots = capture_sizes.slots(plan)
    rings_bytes = sum(slots * slot_bytes(one.snap_bytes) for one in plan.captures)
    files_bytes = (
        ROOM_BYTES
        if plan.programs
        else sum(capture_sizes.most_bytes(plan, one) for one in plan.captures)
    )
    return CAPTURER_BYTES + rings_bytes + files_bytes


def _examine(output: Output) -> Findings:
    captured = capture_files.from_raw(output.raw_dir, output.plan)
    if not captured:
        return Findings()
    entry = {place: one.as_dict() for place, one in captured.items()}
    part = RecordPart(
        capture_files.NAME, entry, lambda directory: capture_files.write(captured, directory)
    )
    return Findings(warnings=capture_files.missed_packets(captured), parts=(part,))


MECHANISM = Mechanism(
    order=90,
    of_programs=True,
    lasts=lambda plan: bool(plan.captures),
    options={
        "capture": Option(
            "Places whose packets are captured into files of pcapng: end hosts and bottlenecks, "
            "separated by commas, each with the bytes of a packet that are kept after a colon.",
            EXAMPLE,
            f"none; {DEFAULT_SNAP_BYTES} bytes of each packet",
            "bytes",
            range_text(SNAP_BYTES_RANGE, "bytes"),
            see="how-to/looking-inside.md#packets-in-wireshark",
            after="trace",
            placeholder="PLACES",
        )
    },
    apply=lambda plan, texts: dataclasses.replace(plan, captures=parse_captures(texts["capture"])),
    texts=lambda plan: {"capture": ",".join(map(str, plan.captures))} if plan.captures else {},
    check=check_captures,
    memory_bytes=memory_bytes,
    examine=_examine,
    lines=capture_files.capture_lines,
)
