"""Reader of path files: named paths in topologies/paths, and an experiment's own."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path as FilePath
from typing import Any

from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError
from farpath.base.instances import instance_of
from farpath.mechanisms.changes.rate_traces import trace_of_file
from farpath.mechanisms.queue.mechanism import parse_queue
from farpath.planning.end_host_sysctls import why_without_effect
from farpath.spec.path import (
    ETHERNET_HEADER_BYTES,
    LOSS_RANGE,
    OPTION_OF_FIELD,
    RTT_MS_RANGE,
    Path,
)
from farpath.spec.wire import as_wire, wire_fields, with_python_names

#: Fields of a path for which a file must state a source.
NUMERIC_FIELDS = ("rtt_ms", "rate_bps", "buffer_bytes", "loss", "mtu_bytes", "window_bytes")
#: Sysctls that every path must set, since the kernel's defaults follow the guest's small memory.
REQUIRED_SYSCTLS = (
    "net.core.rmem_max",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_mem",
)
#: Fields that need a source only if they are present.
OPTIONAL_FIELDS = (
    "sysctl",
    "background",
    "jitter_ms",
    "reorder",
    "duplicate",
    "buffer_packets",
    "hops",
    "short_flows",
    "queue",
    "rate_changes",
    "rtt_changes",
    "rate_trace",
    "up_rate_bps",
    "up_buffer_bytes",
)
SYSCTL_TEXT = re.compile(r"(net(?:\.[a-z0-9_]+)+)=([0-9a-z_]+(?: [0-9]+){0,2})")


def _without_sources(data: dict[str, Any]) -> list[str]:
    sources = data.get("sources", {})
    if not isinstance(sources, dict):
        return []
    required = [*NUMERIC_FIELDS, *(name for name in OPTIONAL_FIELDS if data.get(name))]
    return [
        f"sources.{name}: missing; say in a sentence where {name} comes from"
        for name in required
        if not str(sources.get(name, "")).strip()
    ]


def _sysctl_problems(sysctl: Mapping[str, Any]) -> list[str]:
    """Describe the faults of the sysctls of a path file."""
    problems = [
        f"sysctl: {name!r} is {value!r}: it must be a sysctl of the network and its value, both "
        'text, as in "net.ipv4.tcp_sack" = "0"'
        for name, value in sysctl.items()
        if not isinstance(value, str)
        or not SYSCTL_TEXT.fullmatch(f"{name}={' '.join(value.split())}")
    ]
    problems += [
        f"sysctl: '{name}' is missing; without it the guest's small default limits the flows"
        for name in REQUIRED_SYSCTLS
        if name not in sysctl
    ]
    problems += [
        f"sysctl: '{name}' has no effect: {reason}; leave it out"
        for name in sysctl
        if (reason := why_without_effect(name))
    ]
    return problems


def _with_own_ranges(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Give a path the least of a range in the place of a value out of it; return problems too.

    A path of links of the user's own has wider ranges than one of a file.
    """
    problems = []
    for name, (low, high), unit in (("rtt_ms", RTT_MS_RANGE, " ms"), ("loss", LOSS_RANGE, "")):
        value: Any = data.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and not low <= value <= high:
            problems.append(
                f"{name} is {value:g}{unit}: it must lie between {low:g} and {high:g}{unit}"
            )
            data = {**data, name: low}
    return data, problems


def _with_buffer_bytes(data: dict[str, Any]) -> dict[str, Any]:
    """Give a path whose buffer counts packets the bytes of as many full frames."""
    packets, mtu_bytes = data.get("buffer_packets"), data.get("mtu_bytes")
    sources = data.get("sources")
    if "buffer_bytes" in data or not (isinstance(packets, int) and isinstance(mtu_bytes, int)):
        return data
    if isinstance(sources, dict):
        sources = {"buffer_bytes": "as many full frames as buffer_packets says", **sources}
    bytes_of_all = packets * (mtu_bytes + ETHERNET_HEADER_BYTES)
    return {**data, "buffer_bytes": bytes_of_all, "sources": sources}


def _with_queue(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Give a path the fields of its queue, which a file names as ``queue`` does, and problems.

    The length of the queue stands in the file as that of any buffer.
    """
    if "queue" not in data:
        return data, []
    without = {key: value for key, value in data.items() if key != "queue"}
    try:
        request = parse_queue(str(data["queue"]))
    except BadInputError as error:
        return without, [error.message]
    if request.limit is not None:
        return without, [f"queue: '{data['queue']}' has a limit: write buffer_packets"]
    return ({**data, "queue": as_wire(request.aqm)} if request.aqm else without), []


def _with_rate_trace(data: dict[str, Any], folder: FilePath) -> tuple[dict[str, Any], list[str]]:
    """Give a path the times of the trace that ``rate_trace`` names, and problems.

    The trace is a file beside the path's own.
    """
    name = data.get("rate_trace")
    if not isinstance(name, str):
        return data, []
    without = {key: value for key, value in data.items() if key != "rate_trace"}
    if FilePath(name).name != name:
        return without, [f"rate_trace: {name!r} is no name of a file beside the path's"]
    try:
        times_ms = trace_of_file(folder / name, "rate_trace", name)
    except BadInputError as error:
        return without, [error.message]
    return {**data, "rate_trace": list(times_ms)}, []


def _content(file: FilePath) -> dict[str, Any]:
    """Return the content of a file, which is read again only after a change."""
    try:
        changed_ns = file.stat().st_mtime_ns
    except OSError:
        return read_toml(file)
    return _read(file, changed_ns)


@lru_cache
def _read(file: FilePath, changed_ns: int) -> dict[str, Any]:
    return read_toml(file)


def _path_of(data: dict[str, Any]) -> Path:
    """Return the path of a file's fields; raise BadInputError that names each wrong one."""
    data = with_python_names(Path, data)
    try:
        path: Path = instance_of(Path, data)
    except (TypeError, BadInputError):
        from farpath.base.validation import validated

        return validated(Path, data, every_field=True)
    return path


def _with_field(error: BadInputError) -> str:
    """Return the message of an error of a path, with the field of a file for its option."""
    fields = {option: field for field, option in OPTION_OF_FIELD.items()}
    return BadInputError(
        option=fields.get(error.option, error.option),
        given=error.given,
        problem=error.problem,
        remedy=error.remedy,
    ).message


def load_path(file: FilePath) -> Path:
    """Read a path from a TOML file.

    Raises BadInputError that names the file and every field that is missing, unknown, of the
    wrong type, out of range or without a source.
    """
    data, problems = _with_queue(_with_buffer_bytes(_content(file)))
    data, out_of_range = _with_own_ranges(data)
    data, of_trace = _with_rate_trace(data, file.parent)
    problems += [*out_of_range, *of_trace]
    field_names = tuple(wire_fields(Path))
    problems += [
        f"{name}: unknown field; the fields are {', '.join(field_names)}"
        for name in sorted(set(data) - set(field_names))
    ]
    problems += _without_sources(data)
    problems += [
        f"{name}: must be one line of printable characters"
        for name in ("name", "title")
        if not str(data.get(name, "")).isprintable()
    ]
    sysctl = data.get("sysctl")
    if sysctl is not None and not isinstance(sysctl, dict):
        problems.append("sysctl: is no table; write [sysctl] and a line for each sysctl")
    if isinstance(sysctl, dict):
        problems += _sysctl_problems(sysctl)
    try:
        path = _path_of({key: data[key] for key in field_names if key in data})
    except BadInputError as error:
        problems.append(_with_field(error))
    if problems:
        raise BadInputError(file=str(file), problem="; ".join(problems))
    if path.name != file.stem:
        raise BadInputError(
            file=str(file),
            option="name",
            given=path.name,
            remedy=f"it must be the file's name, '{file.stem}'",
        )
    return path


def named_paths() -> dict[str, FilePath]:
    """Return the files in topologies/paths by the name of their path."""
    folder = FilePath(str(resources.files("topologies"))) / "paths"
    files = sorted(folder.glob("*.toml"), key=lambda file: file.stem)
    return {file.stem: file for file in files}


def rtts_ms() -> Mapping[str, Any]:
    """Return the RTT of each named path in ms, as its file has it."""
    return {name: _content(file).get("rtt_ms") for name, file in named_paths().items()}


def path_by_name(name: str) -> Path:
    """Return a named path; raises BadInputError with all names for an unknown one."""
    files = named_paths()
    if name in files:
        return load_path(files[name])
    close = difflib.get_close_matches(name.lower(), files, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise BadInputError(
        option="path", given=name, remedy=f"it must be one of {', '.join(files)}{hint}"
    )
