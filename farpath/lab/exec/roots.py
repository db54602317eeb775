"""Program roots: file systems of a user's programs on the lab's hosts, with their checks."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.project import BUILD
from farpath.lab.artifacts.host_images import places_by_host, unpack_image
from farpath.lab.artifacts.scripts import errors_named
from farpath.spec.host_image import HostImage
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, Place
from farpath.spec.protocol import IMAGES_DIR, MACHINE_ROOT

#: Roots by the user's word: this machine's own, and that of the lab's end hosts.
MACHINE, LAB = "machine", "lab"
ROOTS = (MACHINE, LAB)
#: Variables of this machine that its programs get, each with its value where it is not set. The
#: locale stays the lab's, C.UTF-8, and with it the language of messages.
USUAL_VARIABLES = {"PATH": os.defpath, "HOME": "/", "TERM": "dumb"}
FURTHER_VARIABLES = ("USER", "LOGNAME", "TZ")
#: Directory of the lab's end hosts in the shared directory.
LAB_ROOT = "sender"


@dataclass(frozen=True)
class Roots:
    """Roots of the hosts, and the directory that the user shares.

    ``places``: by host. ``images``: users' images, by host. ``share``: the directory that is
    mounted for programs to read, at its own path; None for none. ``files``: the directory of each
    host's root; None for this machine's own.
    """

    places: dict[str, Place]
    images: dict[str, HostImage]
    share: FilePath | None
    files: dict[str, FilePath | None]

    def with_variables(self, variables: tuple[str, ...]) -> dict[str, Place]:
        """Return the places with further variables, which replace those of the same name."""
        return {
            host: replace(place, environment=(*place.environment, *variables))
            for host, place in self.places.items()
        }


def roots(
    root: str,
    image: str | None,
    share: FilePath | None,
    variables: Sequence[str],
    commands: Mapping[str, Sequence[Sequence[str]]],
    build: FilePath = BUILD,
) -> Roots:
    """Return the place of each host's programs, and check that the programs exist.

    ``root``: a word of ``ROOTS``, for hosts without an image. ``image``: images by host, as in
    ``places_by_host``. ``variables``: NAME=value, or NAME of one of this process's environment.
    ``commands``: by host. ``build``: where images are unpacked. Raises BadInputError.
    """
    if root not in ROOTS:
        raise BadInputError(
            option="root", given=str(root), remedy=f"it must be one of {', '.join(ROOTS)}"
        )
    if share is not None and not share.is_dir():
        raise BadInputError(
            option="share",
            given=str(share),
            problem="it is no directory",
            remedy="give one to read from",
        )
    directory = FilePath(os.path.abspath(share or os.curdir))
    environment = _environment(variables)
    images = _images(image, commands, build)
    places, files = {}, dict[str, FilePath | None]()
    for host in (CLIENT_HOST, SERVER_HOST):
        if host in images:
            own = images[host]
            inside = str(directory) if share else own.directory
            unpacked = f"{IMAGES_DIR}/{own.build}"
            files[host] = build / "own" / own.build / "rootfs"
            places[host] = Place(unpacked, (*own.environment, *environment), inside)
        elif root == LAB:
            files[host] = build / LAB_ROOT / "rootfs"
            places[host] = Place(LAB_ROOT, tuple(environment), str(directory) if share else "/")
        else:
            for command in commands[host]:
                check_program(command[0], directory)
            usual = _environment_of_machine()
            files[host] = None
            places[host] = Place(MACHINE_ROOT, (*usual, *environment), str(directory))
    is_mounted = share is not None and any(place.root != MACHINE_ROOT for place in places.values())
    return Roots(places, images, directory if is_mounted else None, files)


def _images(
    text: str | None, commands: Mapping[str, Sequence[Sequence[str]]], build: FilePath
) -> dict[str, HostImage]:
    if text is None:
        return {}
    programs = {host: [command[0] for command in of_host] for host, of_host in commands.items()}
    paths = places_by_host(text, programs, "image")
    with errors_named("image"):
        unpacked = {path: unpack_image(path, build) for path in dict.fromkeys(paths.values())}
    return {host: unpacked[path] for host, path in paths.items()}


def _environment_of_machine() -> tuple[str, ...]:
    """Return the environment of this machine's programs: their search path and their user."""
    further = {name: os.environ[name] for name in FURTHER_VARIABLES if name in os.environ}
    usual = {name: os.environ.get(name, other) for name, other in USUAL_VARIABLES.items()}
    usual["TERM"] = USUAL_VARIABLES["TERM"]
    return tuple(f"{name}={value}" for name, value in {**usual, **further}.items())


def _environment(variables: Sequence[str]) -> tuple[str, ...]:
    values = []
    for text in variables:
        name, equals, value = text.partition("=")
        if not name or (not equals and name not in os.environ):
            raise BadInputError(
                option="env",
                given=text,
                remedy="give NAME=value, or the NAME of a variable that is set",
            )
        values.append(f"{name}={value if equals else os.environ[name]}")
    return tuple(values)


def check_program(name: str, directory: FilePath) -> None:
    """Raise BadInputError if there is no such program, as a shell in ``directory`` finds it."""
    if len(name.split()) > 1 and not (directory / name).is_file():
        raise BadInputError(
            problem=f"'{name}' is no program",
            remedy=f"give its words apart, or a line for a shell as in sh -c {shlex.quote(name)}",
        )
    if "/" in name:
        file = directory / name
        if not file.is_file() or not os.access(file, os.X_OK):
            raise BadInputError(
                problem=f"'{name}' is no program in {directory}", remedy="name one that can be run"
            )
    elif shutil.which(name) is None:
        raise BadInputError(
            problem=f"'{name}' is no program in PATH", remedy="install it, or name its file"
        )
