"""Path files: named paths in topologies/paths and a user's own, validated on reading."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path as FilePath
from typing import Any

from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError
from farpath.planning.end_host_sysctls import OWN_SETTINGS as OWN_SETTINGS
from farpath.planning.end_host_sysctls import why_without_effect
from farpath.spec.path import Path

#: Fields of a path that a file must name a source for.
NUMERIC_FIELDS = ("rtt_ms", "rate_bps", "buffer_bytes", "loss", "mtu_bytes", "window_bytes")
#: Settings every path must make: the guest is small, and so are its defaults.
NEEDED_SETTINGS = (
    "net.core.rmem_max",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_mem",
)
#: Fields that need no source where they are not there.
OPTIONAL_FIELDS = ("sysctl", "background", "jitter_ms", "reorder", "duplicate")
SETTING_TEXT = re.compile(r"(net(?:\.[a-z0-9_]+)+)=([0-9a-z_]+(?: [0-9]+){0,2})")


def _without_sources(data: dict[str, Any]) -> list[str]:
    sources = data.get("sources", {})
    if not isinstance(sources, dict):
        return []
    wanted = [*NUMERIC_FIELDS, *(name for name in OPTIONAL_FIELDS if data.get(name))]
    return [
        f"sources.{name}: missing; say in a sentence where {name} comes from"
        for name in wanted
        if not str(sources.get(name, "")).strip()
    ]


def _odd_settings(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with names and values of settings that a path file has."""
    return [
        f"sysctl: {name!r} is {value!r}: it must be a setting of the network and its value, both "
        'text, as in "net.ipv4.tcp_sack" = "0"'
        for name, value in settings.items()
        if not isinstance(value, str)
        or not SETTING_TEXT.fullmatch(f"{name}={' '.join(value.split())}")
    ]


def load_path(file: FilePath) -> Path:
    """The path in a TOML file.

    Raises :class:`BadInputError` that names the file and every field that is
    missing, unknown, of the wrong type, out of range or without a source.
    """
    from farpath.base.validation import validated

    data = read_toml(file)
    known = [field.name for field in dataclasses.fields(Path)]
    problems = [
        f"{name}: unknown field; the fields are {', '.join(known)}"
        for name in sorted(set(data) - set(known))
    ]
    problems += _without_sources(data)
    problems += [
        f"{word}: must be one line of printable letters"
        for word in ("name", "title")
        if not str(data.get(word, "")).isprintable()
    ]
    settings = data.get("sysctl")
    if settings is not None and not isinstance(settings, dict):
        problems.append("sysctl: is no table; write [sysctl] and a line for each setting")
    if isinstance(settings, dict):
        problems += _odd_settings(settings)
        problems += [
            f"sysctl: '{name}' is missing; without it the guest's small default limits the flows"
            for name in NEEDED_SETTINGS
            if name not in settings
        ]
        problems += [
            f"sysctl: '{name}' would change nothing: {why}"
            for name in settings
            if (why := why_without_effect(name))
        ]
    try:
        path = validated(Path, {key: data[key] for key in known if key in data}, every_field=True)
    except BadInputError as error:
        problems.append(error.message)
    if problems:
        raise BadInputError(f"{file}: {'; '.join(problems)}")
    if path.name != file.stem:
        raise BadInputError(f"{file}: name is '{path.name}': it must be the file's, '{file.stem}'")
    return path


def named_paths() -> dict[str, FilePath]:
    """The files in topologies/paths, by the name of their path."""
    folder = FilePath(str(resources.files("topologies"))) / "paths"
    return {file.stem: file for file in sorted(folder.glob("*.toml"))}


def path_by_name(name: str) -> Path:
    """The named path; raises :class:`BadInputError` listing the names there are."""
    files = named_paths()
    if name in files:
        return load_path(files[name])
    close = difflib.get_close_matches(name.lower(), files, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise BadInputError(f"PATH_NAME is '{name}': it must be one of {', '.join(files)}{hint}")
