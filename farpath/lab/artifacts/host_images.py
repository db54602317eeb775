"""Users' own images for end hosts: what SENDER_IMAGE means, built and judged before any boot.

``./mine.tar`` is for every host that sends or receives, ``receiver=./mine.tar`` for one.
``docs/own-images.md`` has it step by step.
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
from farpath.spec.stack import IMAGE

VARIABLE = "SENDER_IMAGE"
TAR = ".tar"
#: How many links a name may have on its way (MAXSYMLINKS in include/linux/namei.h).
MOST_LINKS = 40
#: How a script begins, and how much of its first line counts (BINPRM_BUF_SIZE in
#: include/uapi/linux/binfmts.h).
SCRIPT = b"#!"
LONGEST_SCRIPT_LINE = 256
#: What to do about a program that an image lacks.
ADVICE = {
    "iperf3": "install it there, in a Dockerfile of Debian's with RUN apt-get install --yes iperf3",
    "udtperf": "copy it there from build/sender/rootfs/usr/bin/udtperf, with its libraries",
    "ping": "install it there, in a Dockerfile of Debian's with RUN apt-get install --yes "
    "iputils-ping",
}
_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.*)", re.DOTALL)


def programs_by_host(plan: Plan) -> dict[str, set[str]]:
    """The programs that each end host starts from its own image."""
    programs: dict[str, set[str]] = {host: set() for host in plan.hosts}
    programs[PINGER].add("ping")
    for flow in plan.schedule.all_flows:
        program = plan.stack_of(flow).program
        if program != IMAGE:
            programs[flow.sender].add(program)
            programs[flow.receiver].add(program)
    return programs


def places_by_host(text: str, programs: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Which image each host is to start from, as the user's text says.

    The image without a host's name is for all that run a flow's program and have none
    of their own. Raises BadInputError for what is malformed, names an unknown host, or
    would be used by no host.
    """
    named: dict[str, str] = {}
    for part in text.split(","):
        match = _NAMED.fullmatch(part)
        host, place = (match[1], match[2]) if match else ("", part)
        if host and host not in programs:
            raise BadInputError(
                f"{VARIABLE} is '{text}': there is no host '{host}'; allowed are "
                f"{', '.join(programs)}, or an image alone for all that send or receive (begin a "
                "path with ./ if it has a '=')"
            )
        if not place or host in named:
            raise BadInputError(
                f"{VARIABLE} is '{text}': give an image, ./mine.tar, or one for each host named, "
                "receiver=./mine.tar,sender=./other, each once"
            )
        named[host] = place
    rest = named.pop("", None)
    if rest is not None:
        others = [host for host in programs if host != PINGER and host not in named]
        named |= {host: rest for host in others if programs[host]}
    unused = [place for host, place in named.items() if not programs[host]]
    if rest is not None and rest not in named.values():
        unused.append(rest)
    if unused:
        raise BadInputError(
            f"{VARIABLE} is '{text}': no host would start a program from {', '.join(unused)}: "
            "leave it out; STACK=oci: brings its own image to sender and receiver"
        )
    return {host: named[host] for host in programs if host in named}


def host_images(text: str, plan: Plan, build: FilePath = BUILD) -> dict[str, HostImage]:
    """The images that a text means for the end hosts of a plan, built.

    Raises BadInputError for what is no image or lacks a program that its hosts run, and
    MachineLacksError for what building needs.
    """
    programs = programs_by_host(plan)
    places = places_by_host(text, programs)
    with errors_named(VARIABLE):
        images = {place: _built(place, build) for place in dict.fromkeys(places.values())}
        for host, place in places.items():
            root = build / "own" / images[place].build / "rootfs"
            for program in sorted(programs[host]):
                _check_program(place, images[place], root, program, host)
    return {host: images[place] for host, place in places.items()}


def _built(text: str, build: FilePath) -> HostImage:
    place = FilePath(os.path.abspath(text))
    if not place.exists():
        raise BadInputError(
            f"'{text}' is no directory or file: save an image of Docker's with: docker save "
            "--output mine.tar mine"
        )
    found = oci.read_image(place)
    made = unpacked(place, found)
    digest = json.loads((made / "manifest.json").read_text())["digest"]
    return HostImage(
        place.name.removesuffix(TAR),
        digest,
        linked(made, build / "own"),
        found.environment,
        found.directory,
    )


def resolved(root: FilePath, name: str) -> FilePath | None:
    """The file that an absolute name means to programs for which ``root`` is the root.

    None if there is none: links are followed as they do, so none leads out of it.
    """
    todo = list(reversed(PurePosixPath(name).parts[1:]))
    here: list[str] = []
    links = 0
    while todo:
        part = todo.pop()
        if part == "..":
            here = here[:-1]
            continue
        place = root.joinpath(*here, part)
        if not place.is_symlink():
            if not place.exists():
                return None
            here.append(part)
            continue
        links += 1
        if links > MOST_LINKS:
            return None
        target = PurePosixPath(place.readlink())
        if target.is_absolute():
            here = []
        todo += reversed([step for step in target.parts if step != "/"])
    return root.joinpath(*here)


def _executable(root: FilePath, name: str) -> FilePath | None:
    file = resolved(root, name)
    if file is None or not file.is_file() or not file.stat().st_mode & stat.S_IXUSR:
        return None
    return file


def _check_program(place: str, image: HostImage, root: FilePath, program: str, host: str) -> None:
    """Raise BadInputError for a program that a host could not start from an image."""
    path = image.variables.get("PATH", SEARCH_PATH)
    for directory in path.split(":"):
        name = f"{directory.rstrip('/')}/{program}"
        file = _executable(root, name) if directory.startswith("/") else None
        if file:
            break
    else:
        raise BadInputError(
            f"{place} has no {program} in its PATH ({path}), which the {host} runs: "
            f"{ADVICE[program]}"
        )
    content = file.read_bytes()
    if not content.startswith((elf.MAGIC, SCRIPT)):
        raise BadInputError(f"{name} of {place} is no program, neither ELF nor a script with '#!'")
    if content.startswith(elf.MAGIC) and not elf.is_x86_64(content):
        raise BadInputError(
            f"{name} of {place} is a program for another processor: the lab runs "
            f"{'/'.join(oci.PLATFORM)}; {oci.REMEDY}"
        )
    try:
        needed = _interpreter(content)
    except elf.ElfError as error:
        raise BadInputError(f"{name} of {place} is cut short: put it there again") from error
    if needed and not _executable(root, needed):
        raise BadInputError(
            f"{name} of {place} needs {needed}, which is not there: put the libraries that ldd "
            "names beside it, or link it statically"
        )


def _interpreter(content: bytes) -> str:
    """What the kernel starts for a program: its loader, or a script's shell."""
    if content.startswith(elf.MAGIC):
        return elf.interpreter(content)
    words = content[len(SCRIPT) : LONGEST_SCRIPT_LINE].split(b"\n")[0].split()
    return words[0].decode(errors="replace") if words else ""
