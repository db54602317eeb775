"""A user's own stack: the source of a kernel module, or an OCI image with a program.

``./tcp_mine.c`` is compiled for the lab's kernel, ``oci:./mine`` unpacked for its end
hosts; both before anything boots, and once for each content. ``docs/own-stacks.md``
has both ways step by step.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath

from farpath.errors import BadInputError, MachineLacksError
from farpath.lab import oci
from farpath.lab.images import BUILD, PROJECT
from farpath.stack import IMAGE, IPERF3, Stack
from farpath.stacks import Parameter, catalogue, checked_parameters, label_of, split_text

IMAGE_MARK = "oci:"
TAR = ".tar"
#: The scripts that make builds, each of which prints where one stands.
MODULES_SCRIPT = PROJECT / "images" / "kernel" / "modules"
IMAGE_SCRIPT = PROJECT / "images" / "own-image"
#: The name under which the image script finds the one image to unpack.
IMAGE_NAME = "farpath"
#: TCP_CA_NAME_MAX is 16 with the end (include/net/tcp.h); images follow the modules.
NAME = "[a-z0-9_]{1,15}"
#: Types of module parameters that are whole numbers or truth values, and their ranges
#: (include/linux/moduleparam.h; long is 64 bits on x86-64).
TYPES = {
    "bool": (0, 1),
    "invbool": (0, 1),
    "byte": (0, (1 << 8) - 1),
    "short": (-(1 << 15), (1 << 15) - 1),
    "ushort": (0, (1 << 16) - 1),
    "int": (-(1 << 31), (1 << 31) - 1),
    "uint": (0, (1 << 32) - 1),
    "long": (-(1 << 63), (1 << 63) - 1),
    "ulong": (0, (1 << 64) - 1),
    "ullong": (0, (1 << 64) - 1),
}
#: Options that a program gets from farpath (farpath.flows.programs).
TAKEN = ("server", "one_off", "client", "port", "time", "interval", "json")
_PARAMETER = re.compile(r"[a-z][a-z0-9_]{0,31}")
_VALUE = re.compile(r"[A-Za-z0-9_.+:/@%-]{1,64}")


def own_stack(text: str, build: FilePath = BUILD) -> Stack | None:
    """The stack that a text means as a user's own, built; None if it names another.

    Raises BadInputError for what cannot be built or run, with the compiler's lines as
    detail, and MachineLacksError for what building needs.
    """
    is_image = text.startswith(IMAGE_MARK)
    text = text.removeprefix(IMAGE_MARK)
    place = text.partition(":")[0]
    if not is_image and "/" not in place and not place.endswith(".c"):
        return None
    place, given = split_text(text)
    make = _own_image if is_image else _own_module
    return make(FilePath(os.path.abspath(place)), place, given, build)


def _checked_name(name: str, place: str, what: str) -> str:
    """A name for a stack of one's own; BadInputError for none and for another's."""
    if not re.fullmatch(NAME, name):
        raise BadInputError(
            f"STACK is '{place}': {what}; the name has at most 15 of a-z, 0-9 and _"
        )
    taken = catalogue()
    if name in taken or any(name in entry.aliases for entry in taken.values()):
        raise BadInputError(
            f"STACK is '{place}': farpath has a stack '{name}' of its own: rename yours, so that "
            "records tell them apart"
        )
    return name


def _own_module(file: FilePath, text: str, given: Mapping[str, str], build: FilePath) -> Stack:
    if not file.is_file():
        raise BadInputError(
            f"STACK is '{text}': that is no file; give a module's source, tcp_<name>.c, or oci: "
            "and an image"
        )
    match = re.fullmatch(r"tcp_(.*)\.c", file.name)
    what = "a module's source is called tcp_<name>.c, <name> as in its struct tcp_congestion_ops"
    name = _checked_name(match[1] if match else "", text, what)
    place = _built(MODULES_SCRIPT, str(build / "kernel"), str(file))
    module = f"tcp_{name}"
    known = module_parameters(place / f"{module}.ko")
    for parameter, kind in known.items():
        if parameter in given and kind not in TYPES:
            raise BadInputError(
                f"STACK: {parameter} of {name} is of type {kind}: it can be given if it is one of "
                f"{', '.join(TYPES)}"
            )
    numbers = [
        Parameter(parameter, "the module's own", low=TYPES[kind][0], high=TYPES[kind][1])
        for parameter, kind in known.items()
        if kind in TYPES
    ]
    parameters = checked_parameters(name, numbers, given)
    label = label_of(name, parameters)
    own = _linked(place, build / "own")
    return Stack(
        label, name, IPERF3, congestion=name, module=module, parameters=parameters, build=own
    )


def _own_image(image: FilePath, text: str, given: Mapping[str, str], build: FilePath) -> Stack:
    if not text or not (image.is_dir() or image.is_file()):
        raise BadInputError(
            f"STACK is 'oci:{text}': there is no such directory or file; give an OCI image layout "
            "or a tar of one"
        )
    what = "an image's directory or tar is called like the stack, mine or mine.tar"
    name = _checked_name(image.name.removesuffix(TAR), text, what)
    parameters = _program_parameters(name, given)
    try:
        found = oci.read_image(image)
    except BadInputError as error:
        raise BadInputError(f"STACK: {error.message}") from error
    place = _built(IMAGE_SCRIPT, str(image), found.index_text(IMAGE_NAME), found.manifest_text)
    return Stack(
        label_of(name, parameters),
        name,
        IMAGE,
        parameters=parameters,
        build=_linked(place, build / "own"),
        command=found.command,
        environment=found.environment,
        directory=found.directory,
    )


def _program_parameters(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Parameters in the order of their names; the program itself judges most."""
    for parameter, value in given.items():
        if not _PARAMETER.fullmatch(parameter) or parameter in TAKEN:
            raise BadInputError(
                f"STACK: '{parameter}' can be no parameter of {name}: it becomes the option "
                f"--name, of a-z, 0-9 and _, and is none of farpath's: {', '.join(TAKEN)}"
            )
        if not _VALUE.fullmatch(value):
            raise BadInputError(
                f"STACK: {parameter} of {name} is '{value}': a value has at most 64 letters, "
                "digits and _.+:/@%-"
            )
    return {parameter: given[parameter] for parameter in sorted(given)}


def _built(script: FilePath, *arguments: str) -> FilePath:
    """Run a script that builds and prints a place; its last words become the error."""
    done = subprocess.run(
        [str(script), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        return FilePath(done.stdout.strip())
    *before, last = done.stderr.strip().splitlines() or [f"{script} said nothing"]
    message = last.removeprefix(f"{script.name}: ")
    error = BadInputError if done.returncode == BadInputError.exit_status else MachineLacksError
    raise error(f"STACK: {message}", "\n".join(before))


def _linked(place: FilePath, builds: FilePath) -> str:
    """Make a build known to the lab, for all runs at once; returns its name."""
    link = builds / place.name
    try:
        builds.mkdir(parents=True, exist_ok=True)
        if link.resolve() != place.resolve():
            fresh = builds / f".{place.name}-{os.getpid()}"
            fresh.symlink_to(place)
            fresh.replace(link)
    except OSError as error:
        raise MachineLacksError(
            f"{builds} cannot be written ({error.strerror}): it holds links to what is built"
        ) from error
    return place.name


def module_parameters(module: FilePath) -> dict[str, str]:
    """The parameters of a built kernel module, each with its type's name.

    Source: the texts 'parmtype=<name>:<type>' of the section .modinfo
    (include/linux/moduleparam.h, __MODULE_PARM_TYPE).
    """
    found = {}
    for entry in _section(module.read_bytes(), b".modinfo").split(b"\0"):
        key, _, value = entry.decode(errors="replace").partition("=")
        if key == "parmtype":
            name, _, kind = value.partition(":")
            found[name] = kind
    return found


def _section(elf: bytes, wanted: bytes) -> bytes:
    """A section of a 64-bit little-endian ELF file, empty if there is none; elf(5)."""
    for name, start, length in _sections(elf):
        if name == wanted:
            return elf[start : start + length]
    return b""


def _sections(elf: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Name, place and length of each section."""
    (table,) = struct.unpack_from("<Q", elf, 40)  # e_shoff
    size, count, names = struct.unpack_from("<3H", elf, 58)  # e_shentsize, e_shnum, e_shstrndx
    headers = [struct.unpack_from("<2I4Q", elf, table + k * size) for k in range(count)]
    for at, _kind, _flags, _address, start, length in headers:
        begin = headers[names][4] + at
        yield elf[begin : elf.index(b"\0", begin)], start, length
