"""User stacks: builds a kernel module, a congestion control for UDT, or an OCI image as a stack.

``./tcp_mine.c`` is compiled for the lab's kernel, ``./mine.cpp`` for its UDT, ``oci:./mine``
unpacked for its end hosts, all before the lab boots and once for each content.
``docs/how-to/own-stacks.md`` explains each step by step.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.project import BUILD
from farpath.lab.artifacts import elf, oci
from farpath.lab.artifacts.scripts import (
    CONGESTION_SCRIPT,
    MODULES_SCRIPT,
    build_artifact,
    errors_named,
    linked,
    print_to_stderr,
    unpacked,
)
from farpath.lab.artifacts.user_modules.linux_changes import explained, missing_header
from farpath.lab.artifacts.user_modules.module_sources import (
    ModuleSources,
    changes_of,
    find_sources,
    kernel_source,
    write_copy,
)
from farpath.programs.catalog import catalogue, split_text
from farpath.programs.entry import Parameter, checked_parameters, label_of
from farpath.programs.program import TAKEN
from farpath.programs.udtperf.program import PROGRAM as UDT
from farpath.spec.stack import IMAGE, IPERF3, Stack

OPTION = "stack"
IMAGE_MARK = "oci:"
CONGESTION_END = ".cpp"
#: Pattern of stack names. TCP_CA_NAME_MAX is 16 with the terminating zero (include/net/tcp.h);
#: images follow the same rule.
NAME = "[a-z0-9_]{1,15}"
#: Integer and boolean types of module parameters, with their ranges
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
_PARAMETER = re.compile(r"[a-z][a-z0-9_]{0,31}")
_VALUE = re.compile(r"[A-Za-z0-9_.+:/@%-]{1,64}")


def _virtual_kernel(build: FilePath) -> FilePath:
    return build / "kernel"


def is_user_stack(text: str) -> bool:
    """Whether a text names a user's stack: a source file or an image."""
    path = text.partition(":")[0]
    return text.startswith(IMAGE_MARK) or "/" in path or path.endswith((".c", CONGESTION_END))


def user_stack(
    text: str,
    build: FilePath = BUILD,
    kernel: Callable[[FilePath], FilePath] = _virtual_kernel,
    tell: Callable[[str], None] = print_to_stderr,
) -> Stack | None:
    """Build the user's stack that a text names; None if it names another stack.

    ``kernel``: function that returns the kernel, within ``build``, that a module is built for.
    ``tell``: called with a line for each interface of Linux that was mapped in a module.

    Raises BadInputError for a stack that cannot be built or run, with the compiler's output as
    detail, and MachineLacksError if a tool for building is missing.
    """
    if not is_user_stack(text):
        return None
    is_image = text.startswith(IMAGE_MARK)
    path, given = split_text(text.removeprefix(IMAGE_MARK))
    file = FilePath(os.path.abspath(path))
    if is_image:
        return _user_image(file, path, given, build)
    if path.endswith(CONGESTION_END):
        return _user_congestion(file, path, given, build)
    return _user_module(file, path, given, build, kernel, tell)


def _is_taken(name: str) -> bool:
    """Whether farpath has a stack of its own of a name."""
    taken = catalogue()
    return name in taken or any(name in entry.aliases for entry in taken.values())


def _checked_name(name: str, path: str, rule: str) -> str:
    """Return a user stack's name; raises BadInputError if it is malformed or taken."""
    if not re.fullmatch(NAME, name):
        raise BadInputError(
            option="stack",
            given=str(path),
            problem=rule,
            remedy="the name has at most 15 of a-z, 0-9 and _",
        )
    if _is_taken(name):
        raise BadInputError(
            option="stack",
            given=str(path),
            problem=f"farpath has its own stack '{name}'",
            remedy="rename yours, so that records tell them apart",
        )
    return name


def _user_module(
    file: FilePath,
    text: str,
    given: Mapping[str, str],
    build: FilePath,
    kernel: Callable[[FilePath], FilePath],
    tell: Callable[[str], None],
) -> Stack:
    if not file.exists():
        raise BadInputError(
            option="stack",
            given=text,
            problem="that is no file",
            remedy="give a module's source, tcp_<name>.c, its directory, a congestion control "
            "for UDT, <name>.cpp, or oci: and an image",
        )
    sources = find_sources(file, text)
    name = _module_name(sources, text)
    module = f"tcp_{name}"
    directory = _built_module(sources, name, kernel(build))
    for change in changes_of(directory / f"{module}.ko"):
        tell(f"{sources.main.name}: {change}")
    known = module_parameters(directory / f"{module}.ko")
    for parameter, type_name in known.items():
        if parameter in given and type_name not in TYPES:
            raise BadInputError(
                option="stack",
                problem=f"{parameter} of {name} is of type {type_name}",
                remedy=f"it can be given if it is one of {', '.join(TYPES)}",
            )
    numbers = [
        Parameter(parameter, "the module's own", low=TYPES[type_name][0], high=TYPES[type_name][1])
        for parameter, type_name in known.items()
        if type_name in TYPES
    ]
    parameters = checked_parameters(name, numbers, given)
    label = label_of(name, parameters)
    build_name = linked(directory, build / "own")
    return Stack(
        label, name, IPERF3, congestion=name, module=module, parameters=parameters, build=build_name
    )


def _module_name(sources: ModuleSources, text: str) -> str:
    """Return the name of a user's module as a stack, which no stack of farpath's has.

    It is that of the file behind ``tcp_``; or what the module registers; or the file's whole name;
    or the first of these with ``own_`` before it, if the source says what it registers, so that
    this can be another. Raises BadInputError if none is a name.
    """
    stem = sources.main.stem
    registered = sources.registered.replace("-", "_")
    if stem.startswith("tcp_"):
        candidates = [stem[4:], registered]
    else:
        candidates = [registered, stem] if registered else []
    names = [name for name in candidates if re.fullmatch(NAME, name)]
    if not names or sources.main.suffix != ".c":
        raise BadInputError(
            option="stack",
            given=text,
            problem="a module's source is called tcp_<name>.c, or has a .name in its "
            "struct tcp_congestion_ops",
            remedy="the name has at most 15 of a-z, 0-9 and _",
        )
    if not sources.registered:
        return _checked_name(names[0], text, "")
    return next((name for name in names if not _is_taken(name)), f"own_{names[0]}"[:15])


def _built_module(sources: ModuleSources, name: str, kernel: FilePath) -> FilePath:
    """Build a user's module as ``tcp_<name>``, adapted to the kernel; return the directory."""
    linux = kernel_source(kernel)
    with errors_named(OPTION), tempfile.TemporaryDirectory(prefix="farpath-module-") as copy:
        missing = write_copy(sources, name, linux, FilePath(copy)) if linux else None
        source = str(sources.main) if missing is None else copy
        try:
            return build_artifact(MODULES_SCRIPT, str(kernel), source)
        except BadInputError as error:
            lines = [*error.detail.splitlines(), *map(missing_header, missing or [])]
            raise BadInputError(
                problem=error.text.replace(copy, str(sources.main)),
                detail="\n".join(explained(lines)),
            ) from error


def _user_congestion(file: FilePath, text: str, given: Mapping[str, str], build: FilePath) -> Stack:
    if not file.is_file():
        raise BadInputError(
            option="stack",
            given=text,
            problem="that is no file",
            remedy="give a source, <name>.cpp",
        )
    rule = "a congestion control for UDT is called <name>.cpp"
    name = _checked_name(file.name.removesuffix(CONGESTION_END), text, rule)
    of_udt = UDT.user_parameters
    parameters = {
        **_program_parameters(
            name, {key: given[key] for key in given if key not in of_udt}, UDT.taken
        ),
        **checked_parameters(
            name, of_udt.values(), {key: given[key] for key in given if key in of_udt}
        ),
    }
    with errors_named(OPTION):
        directory = build_artifact(CONGESTION_SCRIPT, str(build / "sender"), str(file))
    return Stack(
        label_of(name, parameters),
        name,
        UDT.name,
        parameters=parameters,
        build=linked(directory, build / "own"),
    )


def _user_image(image: FilePath, text: str, given: Mapping[str, str], build: FilePath) -> Stack:
    if not text or not (image.is_dir() or image.is_file()):
        raise BadInputError(
            option="stack",
            given=f"oci:{text}",
            problem="there is no such directory or file",
            remedy="give an OCI image layout, a tar of one or of docker save",
        )
    rule = "an image's directory or tar is called like the stack, mine or mine.tar"
    name = _checked_name(image.name.removesuffix(oci.TAR), text, rule)
    parameters = _program_parameters(name, given)
    with errors_named(OPTION):
        description = oci.read_image(image)
        oci.check_command(image, description)
        directory = unpacked(image, description)
    return Stack(
        label_of(name, parameters),
        name,
        IMAGE,
        parameters=parameters,
        build=linked(directory, build / "own"),
        command=description.command,
        environment=description.environment,
        directory=description.directory,
    )


def _program_parameters(
    name: str, given: Mapping[str, str], taken: Sequence[str] = TAKEN
) -> dict[str, str]:
    """Check and sort a program's parameters by name; the program itself checks most values.

    ``taken``: names of the program's own options.
    """
    for parameter, value in given.items():
        if not _PARAMETER.fullmatch(parameter) or parameter in taken:
            raise BadInputError(
                option="stack",
                problem=f"'{parameter}' cannot be a parameter of {name}",
                remedy="it becomes an option --name, so it has only a-z, 0-9 and _ and is "
                f"none of {', '.join(taken)}",
            )
        if not _VALUE.fullmatch(value):
            raise BadInputError(
                option="stack",
                problem=f"{parameter} of {name} is '{value}'",
                remedy="a value has at most 64 letters, digits and _.+:/@%-",
            )
    return {parameter: given[parameter] for parameter in sorted(given)}


def module_parameters(module: FilePath) -> dict[str, str]:
    """Return the parameters of a built kernel module, each with its type.

    Source: the texts 'parmtype=<name>:<type>' of the section .modinfo
    (include/linux/moduleparam.h, __MODULE_PARM_TYPE).
    """
    types = {}
    for entry in elf.section(module.read_bytes(), b".modinfo").split(b"\0"):
        key, _, value = entry.decode(errors="replace").partition("=")
        if key == "parmtype":
            name, _, type_name = value.partition(":")
            types[name] = type_name
    return types
