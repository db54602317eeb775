"""Host images: parses SENDER_IMAGE, and unpacks and checks users' images before the lab boots.

``./mine.tar`` is for every host that sends or receives, ``receiver=./mine.tar`` for one.
``docs/how-to/own-images.md`` explains it step by step.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from pathlib import PurePosixPath

from farpath.base.errors import BadInputError
from farpath.base.project import BUILD
from farpath.lab.artifacts import elf, oci
from farpath.lab.artifacts.scripts import errors_named, linked, unpacked
from farpath.spec.host_image import SEARCH_PATH, HostImage
from farpath.spec.hosts import PINGER
from farpath.spec.plan import Plan

OPTION = "sender_image"
#: Most symbolic links in the resolution of a name (MAXSYMLINKS in include/linux/namei.h).
MOST_LINKS = 40
#: First bytes of a script, and how many bytes of its first line the kernel reads
#: (BINPRM_BUF_SIZE in include/uapi/linux/binfmts.h).
SCRIPT = b"#!"
LONGEST_SCRIPT_LINE = 256
#: Remedy for each program that an image may lack.
ADVICE = {
    "iperf3": "install it there, in a Dockerfile of Debian's with RUN apt-get install --yes iperf3",
    "udtperf": "copy it there from build/sender/rootfs/usr/bin/udtperf, with its libraries",
    "ping": "install it there, in a Dockerfile of Debian's with RUN apt-get install --yes "
    "iputils-ping",
}
_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.*)", re.DOTALL)


def programs_by_host(plan: Plan) -> dict[str, set[str]]:
    """Return the programs that each end host starts from its image."""
    programs: dict[str, set[str]] = {host: set() for host in plan.hosts}
    programs[plan.pinger].add("ping")
    for flow in plan.schedule.all_flows:
        stack = plan.stack_of(flow)
        program = stack.executable
        if not stack.root:
            programs[flow.sender].add(program)
            programs[flow.receiver].add(program)
    return programs


def places_by_host(
    text: str, programs: Mapping[str, Iterable[str]], option: str = OPTION
) -> dict[str, str]:
    """Parse a user's text into the path of the image of each host.

    An image without a host's name is for all other hosts that run a flow's program. Raises
    BadInputError if the text is malformed, names an unknown host, or names an image that no
    host would use. ``option``: its name in messages.
    """
    named: dict[str, str] = {}
    for part in text.split(","):
        match = _NAMED.fullmatch(part)
        host, path = (match[1], match[2]) if match else ("", part)
        if host and host not in programs:
            raise BadInputError(
                option=option,
                given=text,
                problem=f"there is no host '{host}'",
                remedy=(
                    f"allowed are {', '.join(programs)}, or an image alone for all that "
                    "send or receive (begin a path with ./ if it has a '=')"
                ),
            )
        if not path or host in named:
            raise BadInputError(
                option=option,
                given=text,
                remedy="give an image, ./mine.tar, or one for each host named, "
                "receiver=./mine.tar,sender=./other, each once",
            )
        named[host] = path
    default = named.pop("", None)
    if default is not None:
        others = [host for host in programs if host != PINGER and host not in named]
        named |= {host: default for host in others if programs[host]}
    unused = [path for host, path in named.items() if not programs[host]]
    if default is not None and default not in named.values():
        unused.append(default)
    if unused:
        raise BadInputError(
            option=option,
            given=text,
            problem=f"no host would start a program from {', '.join(unused)}",
            remedy="leave it out; `stack=oci:` brings its own image to sender and receiver, and so "
            "does QUIC",
        )
    return {host: named[host] for host in programs if host in named}


def host_images(text: str, plan: Plan, build: FilePath = BUILD) -> dict[str, HostImage]:
    """Unpack and check the images of a user's text; return them by the end hosts of a plan.

    Raises BadInputError for a place that holds no image, or one without a program that its hosts
    run, and MachineLacksError if a tool for unpacking is missing.
    """
    programs = programs_by_host(plan)
    paths = places_by_host(text, programs)
    with errors_named(OPTION):
        images = {path: unpack_image(path, build) for path in dict.fromkeys(paths.values())}
        for host, path in paths.items():
            root = build / "own" / images[path].build / "rootfs"
            for program in sorted(programs[host]):
                _check_program(path, images[path], root, program, host)
    return {host: images[path] for host, path in paths.items()}


def check_places(text: str, plan: Plan) -> None:
    """Raise BadInputError if a text names no images for hosts of a plan; nothing is unpacked."""
    paths = places_by_host(text, programs_by_host(plan))
    with errors_named(OPTION):
        for path in paths.values():
            _require_image(path)


def _require_image(text: str) -> FilePath:
    """Return the path of a directory or regular file; nothing else can be an image."""
    path = FilePath(os.path.abspath(text))
    if not (path.is_dir() or path.is_file()):
        raise BadInputError(
            problem=f"'{text}' is no directory or file: save an image of Docker's with: "
            "docker save --output mine.tar mine"
        )
    return path


def unpack_image(text: str, build: FilePath = BUILD) -> HostImage:
    """Unpack the image at a path that a user names; raises as ``host_images``."""
    path = _require_image(text)
    image = oci.read_image(path)
    directory = unpacked(path, image)
    digest = json.loads((directory / "manifest.json").read_text())["digest"]
    return HostImage(
        path.name.removesuffix(oci.TAR),
        digest,
        linked(directory, build / "own"),
        image.environment,
        image.directory,
    )


def resolved(root: FilePath, name: str) -> FilePath | None:
    """Resolve an absolute name as programs do whose root directory is ``root``.

    Symbolic links are resolved inside ``root`` and cannot lead out of it. None if the file does
    not exist.
    """
    todo = list(reversed(PurePosixPath(name).parts[1:]))
    resolved_parts: list[str] = []
    links = 0
    while todo:
        part = todo.pop()
        if part == "..":
            resolved_parts = resolved_parts[:-1]
            continue
        path = root.joinpath(*resolved_parts, part)
        if not path.is_symlink():
            if not path.exists():
                return None
            resolved_parts.append(part)
            continue
        links += 1
        if links > MOST_LINKS:
            return None
        target = PurePosixPath(path.readlink())
        if target.is_absolute():
            resolved_parts = []
        todo += reversed([step for step in target.parts if step != "/"])
    return root.joinpath(*resolved_parts)


def _executable(root: FilePath, name: str) -> FilePath | None:
    file = resolved(root, name)
    if file is None or not file.is_file() or not file.stat().st_mode & stat.S_IXUSR:
        return None
    return file


def _check_program(source: str, image: HostImage, root: FilePath, program: str, host: str) -> None:
    """Raise BadInputError if a host could not start a program from an image."""
    path = image.variables.get("PATH", SEARCH_PATH)
    for directory in path.split(":"):
        name = f"{directory.rstrip('/')}/{program}"
        file = _executable(root, name) if directory.startswith("/") else None
        if file:
            break
    else:
        raise BadInputError(
            problem=f"{source} has no {program} in its PATH ({path}), which the {host} runs",
            remedy=ADVICE[program],
        )
    content = file.read_bytes()
    if not content.startswith((elf.MAGIC, SCRIPT)):
        raise BadInputError(
            problem=f"{name} of {source} is no program, neither ELF nor a script with '#!'"
        )
    if content.startswith(elf.MAGIC) and not elf.is_x86_64(content):
        raise BadInputError(
            problem=f"{name} of {source} is a program for another processor",
            remedy=f"the lab runs {'/'.join(oci.PLATFORM)}; {oci.REMEDY}",
        )
    try:
        needed = _interpreter(content)
    except elf.ElfError as error:
        raise BadInputError(
            problem=f"{name} of {source} is cut short", remedy="put it there again"
        ) from error
    if needed and not _executable(root, needed):
        raise BadInputError(
            problem=f"{name} of {source} needs {needed}, which is not there",
            remedy="put the libraries that ldd names beside it, or link it statically",
        )


def _interpreter(content: bytes) -> str:
    """Return the file that the kernel starts for a program: its loader, or a script's shell."""
    if content.startswith(elf.MAGIC):
        return elf.interpreter(content)
    words = content[len(SCRIPT) : LONGEST_SCRIPT_LINE].split(b"\n")[0].split()
    return words[0].decode(errors="replace") if words else ""
