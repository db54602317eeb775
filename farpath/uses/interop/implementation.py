"""Endpoints: images of the QUIC interop runner, and programs that speak its protocol.

An image has its role, its case and its files by environment variables and fixed directories
(github.com/quic-interop/quic-interop-runner, ``quic.md``).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, on_one_line
from farpath.lab.artifacts import oci
from farpath.lab.artifacts.host_images import unpack_image
from farpath.lab.exec.engine_images import engine_image
from farpath.lab.exec.roots import check_program
from farpath.lab.exec.service_roots import image_place, machine_environment
from farpath.planning.program_plan import parse_command
from farpath.spec.host_image import HostImage
from farpath.spec.programs import Place
from farpath.spec.protocol import MACHINE_ROOT

#: The endpoint of the kernel's TCP, which farpath brings; the programs of this machine.
TCP, MACHINE = "tcp", "machine"
_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.*)", re.DOTALL)
#: The usual ends of such images' names.
_ENDS = re.compile(r"(-qns|-interop|-quic-interop)+$")


@dataclass(frozen=True)
class Endpoint:
    """An endpoint: its name in tables, its command, where it runs, and its image if it has one.

    ``is_tcp``: whether it is the kernel's TCP, which understands no QUIC.
    """

    name: str
    command: tuple[str, ...]
    place: Place
    image: HostImage | None = None
    is_tcp: bool = False


def endpoints(texts: Sequence[str]) -> tuple[Endpoint, ...]:
    """Return the endpoints that a user names; images are unpacked.

    Each is ``tcp``, an image (``./quiche.tar``, or the name that a local engine knows), or
    ``machine:COMMAND``, with ``NAME=`` before it if it shall have another name. Raises
    BadInputError, and MachineLacksError if a tool for unpacking or the engine is missing.
    """
    found: dict[str, Endpoint] = {}
    for text in texts:
        one = endpoint(text)
        if one.name in found:
            raise BadInputError(
                option="endpoint",
                given=on_one_line(text),
                problem=f"there are two endpoints {one.name}",
                remedy=f"give one of them another name, as in {one.name}2={text}",
            )
        found[one.name] = one
    return tuple(found.values())


def endpoint(text: str) -> Endpoint:
    """Return one endpoint; parameters and errors as of ``endpoints``."""
    match = _NAMED.fullmatch(text)
    name, place = (match[1], match[2]) if match else ("", text)
    kind, _, command = place.partition(":")
    if place == TCP:
        script = str(FilePath(__file__).with_name("tcp_endpoint.py"))
        command_words = (sys.executable, "-B", script)
        return Endpoint(name or TCP, command_words, _of_machine(), is_tcp=True)
    if kind == MACHINE:
        words = parse_command(command, "endpoint")
        check_program(words[0], FilePath.cwd())
        return Endpoint(name or FilePath(words[0]).stem, words, _of_machine())
    if not place:
        raise BadInputError(
            option="endpoint",
            given=on_one_line(text),
            remedy="give an image, as ./quiche.tar or an engine's name, machine:COMMAND, or tcp",
        )
    return _of_image(name, place)


def _of_machine() -> Place:
    """Return the place of this machine's programs, which start in this process's directory."""
    # Equal hashes, so that every set of Python has the same order in each run
    return Place(MACHINE_ROOT, (*machine_environment(), "PYTHONHASHSEED=0"), os.getcwd())


def _of_image(name: str, place: str) -> Endpoint:
    is_file = place.startswith((".", "/")) or FilePath(place).exists()
    path = FilePath(place) if is_file else engine_image(place, name or place)
    if is_file and not path.exists():
        raise BadInputError(
            option="endpoint", given=place, problem="there is no such image", remedy="name its file"
        )
    image, unpacked = oci.read_image(path), unpack_image(str(path))
    if not image.command:
        raise BadInputError(
            option="endpoint",
            given=place,
            problem="the image has no command",
            remedy="build it with an ENTRYPOINT, as the runner demands",
        )
    name = name or _name_of(place, is_file)
    return Endpoint(name, image.command, image_place(unpacked), unpacked)


def _name_of(place: str, is_file: bool) -> str:
    """Return the name of an image without its registry, its tag and its usual end.

    >>> _name_of("registry/project/quiche-qns:latest", False), _name_of("./ngtcp2.tar", True)
    ('quiche', 'ngtcp2')
    """
    last = place.rstrip("/").rpartition("/")[2]
    stem = last.removesuffix(oci.TAR) if is_file else last.partition("@")[0].partition(":")[0]
    return _ENDS.sub("", stem) or stem


def chosen(
    found: Sequence[Endpoint], names: Sequence[str] | None, option: str
) -> tuple[Endpoint, ...]:
    """Return the endpoints of these names, or all; raises BadInputError for an unknown name."""
    by_name = {one.name: one for one in found}
    for name in names or ():
        if name not in by_name:
            raise BadInputError(
                option=option,
                given=on_one_line(name),
                problem="there is no such endpoint",
                remedy=f"the endpoints are {', '.join(by_name)}",
            )
    return tuple(by_name[name] for name in names or by_name)
