"""Volumes of a service: places of this machine, which are only read, and shared directories.

Source: compose-spec, ``volumes`` in 05-services.md; containerlab's ``binds`` have the short form.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, on_one_line
from farpath.planning.deployment import VolumeRequest
from farpath.planning.yaml_text import nearest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
#: Access modes, and those without an effect here.
_READ_ONLY, _READ_WRITE = ("ro",), ("rw",)
_WITHOUT_EFFECT = ("z", "Z", "nocopy", "cached", "delegated", "consistent")


@dataclass
class Volumes:
    """The volumes of all services of a file.

    ``folder``: the file's. ``home``: what a tilde stands for. ``declared``: names of volumes that
    the file has. ``warnings``: what a service would write and where it stays. ``absent``: places
    that are not there, which are empty directories then, with their names. ``all_places``: whether
    every source is a place, as of containerlab's binds, which have no named volumes.
    """

    folder: FilePath
    home: str
    declared: Iterable[str]
    warnings: list[str] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    own_count: int = 0
    all_places: bool = False

    def short(self, service: str, text: str) -> VolumeRequest | None:
        """Return a volume of the form SOURCE:TARGET:MODE; None for a directory of its own.

        Raises BadInputError.
        """
        parts = text.split(":")
        if len(parts) == 1:
            self._require_target(text)
            return None
        source, target, *modes = parts
        words = modes[0].split(",") if modes else []
        for word in words:
            if word not in (*_READ_ONLY, *_READ_WRITE, *_WITHOUT_EFFECT):
                raise BadInputError(
                    option="volumes",
                    given=on_one_line(text),
                    problem=f"'{on_one_line(word)}' is no mode",
                    remedy="give none, ro or rw",
                )
        if len(modes) > 1 or not source or not target:
            raise BadInputError(
                option="volumes",
                given=on_one_line(text),
                remedy="write it as in ./conf:/etc/app:ro or data:/var/lib/app",
            )
        if source[0] in "./~" or self.all_places:
            return self.place(service, source, target, is_read_only="ro" in words)
        return self.named(source, target)

    def place(
        self, service: str, source: str, target: str, is_read_only: bool, may_lack: bool = True
    ) -> VolumeRequest:
        """Return a place of this machine; an empty directory if it is not there and may lack.

        Raises BadInputError for what is neither a directory nor a file, and for a place that is not
        there.
        """
        self._require_target(target)
        if source == "~" or source.startswith("~/"):
            source = self.home + source[1:]
        path = os.path.normpath(os.path.abspath(self.folder / source))
        is_there = os.path.lexists(path)
        is_usual = os.path.isdir(path) or os.path.isfile(path)
        shown = on_one_line(source)
        if not is_there and may_lack:
            name = self.absent.setdefault(path, f"absent+{len(self.absent) + 1}")
            self.warnings.append(
                f"service {service}: {shown} is not there, so {on_one_line(target)} is an empty "
                "directory at first"
            )
            return VolumeRequest(name, target)
        if not is_usual:
            problem = "it is neither a directory nor a file" if is_there else "it is not there"
            raise BadInputError(
                option="volumes", given=shown, problem=problem, remedy="leave it out"
            )
        if not is_read_only:
            self.warnings.append(
                f"service {service}: what it writes to {on_one_line(target)} stays in the lab, and "
                f"{shown} is only read (:ro says so)"
            )
        return VolumeRequest(path, target)

    def named(self, name: str, target: str) -> VolumeRequest:
        """Return a directory that services share by its name; raise BadInputError."""
        self._require_target(target)
        if not _NAME.fullmatch(name) or name not in self.declared:
            raise BadInputError(
                option="volumes",
                given=on_one_line(name),
                problem=f"there is no such volume{nearest(name, self.declared)}",
                remedy="name it under volumes at the file's end, or begin a path with ./",
            )
        return VolumeRequest(name, target)

    def own(self, service: str, target: str) -> VolumeRequest:
        """Return an empty directory of one service alone; raise BadInputError."""
        self._require_target(target)
        self.own_count += 1
        # A plus is in no volume's name
        return VolumeRequest(f"{service}+{self.own_count}", target)

    @staticmethod
    def _require_target(target: str) -> None:
        if not target.startswith("/") or os.path.normpath(target).strip("/") == "":
            raise BadInputError(
                option="volumes",
                given=on_one_line(target),
                problem="it is no place in a service's files",
                remedy="give an absolute path below /",
            )
