"""Sources of a user's kernel module: finds them, and writes a copy of them for kbuild.

A user names a source, ``./tcp_mine.c``, or a directory with a Kbuild or Makefile. Nothing is
written beside them. A single source that needs no change is built where it is.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.project import IMAGES
from farpath.lab.artifacts import elf
from farpath.lab.artifacts.user_modules.adaptation import (
    Source,
    adapted,
    compat_options,
    with_pr_fmt,
)

COMPAT = IMAGES / "kernel" / "compat" / "linux_compat.h"
#: A user's files for kbuild, in the order in which it takes them, and the copy's name of the one.
MAKEFILES = ("Kbuild", "Makefile")
USER_MAKEFILE = "Kbuild.user"
#: Most bytes of the files of a module: its directory may hold anything.
MOST_BYTES = 20_000_000
#: Headers of the kernel that declare what congestion controls use.
_HEADERS = (
    "net/tcp.h",
    "net/ip.h",
    "net/snmp.h",
    "linux/prandom.h",
    "linux/random.h",
    "linux/timer.h",
    "linux/hrtimer.h",
    "linux/timekeeping.h",
    "linux/timekeeping32.h",
    "linux/compiler.h",
    "linux/tcp.h",
    "linux/skbuff.h",
    "linux/btf.h",
    "linux/btf_ids.h",
)
#: Directories of the kernel's source in which headers lie.
_INCLUDED = ("include", "include/uapi", "net/ipv4")
#: The key of lines about changes in a module's .modinfo (``linux_compat.h``).
_CHANGED = "farpath="
_SOURCE_OF_TREE = re.compile(r"^include\s+(\S+)/Makefile\s*$", re.MULTILINE)
_MODULES = re.compile(r"\bobj-(?:m|\$)")
_COMPOSITE = re.compile(r"^[ \t]*(?!(?:cc|as|ld)flags-)[\w-]+-(?:objs|y)[ \t]*[:+]?=", re.MULTILINE)
_COMMENT_OF_MAKE = re.compile(r"#.*")


@dataclass(frozen=True)
class ModuleSources:
    """The sources of a module.

    ``main``: the file with its ``struct tcp_congestion_ops``. ``makefile``: the Kbuild or Makefile
    that is followed, None without one. ``registered``: the name that it registers, empty if the
    source does not say it.
    """

    main: FilePath
    makefile: FilePath | None
    registered: str


def find_sources(path: FilePath, given: str) -> ModuleSources:
    """Return the sources that a path names: a source, a Kbuild or Makefile, or their directory.

    ``given``: the path as the user gave it. Raises BadInputError if they are no module or several.
    """
    if path.is_file() and path.name not in MAKEFILES:
        makefile = _makefile(path.parent)
        if makefile and not re.search(rf"\b{re.escape(path.stem)}\.o\b", _make_code(makefile)):
            makefile = None
        ops = Source(_read(path)).ops
        return ModuleSources(path, makefile, ops[0].name if ops else "")
    directory = path.parent if path.is_file() else path
    makefile = path if path.is_file() else _makefile(directory)
    found = {file: ops for file in _c_files(directory) if (ops := Source(_read(file)).ops)}
    if len(found) != 1:
        raise BadInputError(
            option="stack",
            given=given,
            problem=(
                f"it holds several modules: {', '.join(file.name for file in found)}"
                if found
                else "no source (*.c) there defines a struct tcp_congestion_ops"
            ),
            remedy="give one source, <directory>/tcp_<name>.c; the Kbuild or Makefile beside it "
            "is followed",
        )
    ((main, ops),) = found.items()
    return ModuleSources(main, makefile, ops[0].name)


def _c_files(directory: FilePath) -> list[FilePath]:
    return sorted(file for file in directory.glob("*.c") if not file.name.endswith(".mod.c"))


def _makefile(directory: FilePath) -> FilePath | None:
    """Return the Kbuild or Makefile of a directory that has modules; None if it has none."""
    for file in (directory / name for name in MAKEFILES):
        if file.is_file() and _MODULES.search(_make_code(file)):
            return file
    return None


def _make_code(file: FilePath) -> str:
    return _COMMENT_OF_MAKE.sub("", _read(file))


def _read(file: FilePath) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise BadInputError(
            option="stack", given=str(file), problem=f"it cannot be read: {error.strerror}"
        ) from error


def kernel_source(kernel: FilePath) -> FilePath | None:
    """Return the source tree of a built kernel; None if there is none.

    ``kernel``: what images/kernel/build has printed. Its tree, as one of a distribution's headers,
    includes the Makefile of its source.
    """
    tree = kernel / "tree"
    try:
        makefile = (tree / "Makefile").read_text(encoding="utf-8")
    except OSError:
        return None
    found = _SOURCE_OF_TREE.search(makefile)
    return FilePath(found[1]) if found else tree


def write_copy(
    sources: ModuleSources, name: str, linux: FilePath, copy: FilePath
) -> list[str] | None:
    """Write a module's sources for kbuild into an empty directory.

    ``name``: the stack's; the module is ``tcp_<name>``. ``linux``: the kernel's source. Returns the
    headers that the sources include and that are nowhere, which are taken for empty; None if the
    sources need no change, so that they can be built where they are. Raises BadInputError for
    sources that are too large.
    """
    root = sources.main.parent
    texts = {file: Source(_read(file)) for file in _files(sources)}
    headers = _kernel_headers(linux)
    compat = COMPAT.read_text(encoding="utf-8")
    missing = {
        include
        for file, source in texts.items()
        for include, quoted in source.includes
        if quoted and not (file.parent / include).exists() and not _in_kernel(linux, include)
    }
    options = set[str]()
    copies = {}
    for file, source in texts.items():
        own = name if file == sources.main else ""
        copies[file] = adapted(source, file.name, own, missing, headers)
        options |= compat_options(source, compat, headers)
    changed = any(copies[file] != source.text for file, source in texts.items())
    of_ipv4 = any(
        quoted and not (file.parent / include).exists() and include not in missing
        for file, source in texts.items()
        for include, quoted in source.includes
    )
    needs_compat = changed or bool(options - {"LACKS_cwnd_event_tx_start"})
    if not (needs_compat or of_ipv4 or sources.makefile or sources.main.stem != f"tcp_{name}"):
        return None
    for file, text in copies.items():
        target = copy / file.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = with_pr_fmt(text, file.name) if needs_compat else text
        target.write_text(text, encoding="utf-8", errors="surrogateescape")
    if needs_compat:
        shutil.copyfile(COMPAT, copy / COMPAT.name)
    if sources.makefile:
        shutil.copyfile(sources.makefile, copy / USER_MAKEFILE)
    if sources.makefile and sources.main.stem == f"tcp_{name}":
        # An object of a module cannot have its name if there are others
        (copy / f"tcp_{name}_main.c").write_text(f'#include "{sources.main.name}"\n')
    (copy / "Kbuild").write_text(_kbuild(sources, name, options if needs_compat else None))
    return sorted(missing)


def _files(sources: ModuleSources) -> list[FilePath]:
    """Return the files of a module: its sources, headers, and what they include beside them."""
    root = sources.main.parent
    files = {sources.main, *root.glob("*.h")}
    if sources.makefile and _COMPOSITE.search(_make_code(sources.makefile)):
        files |= set(_c_files(root))
    total = 0
    waiting = sorted(files)
    while waiting:
        file = waiting.pop()
        total += file.stat().st_size
        if total > MOST_BYTES:
            raise BadInputError(
                option="stack",
                given=str(root),
                problem=f"the sources and headers there are larger than {MOST_BYTES} bytes",
                remedy="give the module a directory of its own",
            )
        for include, quoted in Source(_read(file)).includes:
            beside = FilePath(os.path.normpath(file.parent / include))
            if quoted and beside.is_file() and beside.is_relative_to(root) and beside not in files:
                files.add(beside)
                waiting.append(beside)
    return sorted(files)


def _kernel_headers(linux: FilePath) -> str:
    """Return the code of headers of the kernel that declare what congestion controls use."""
    files = (linux / "include" / name for name in _HEADERS)
    return "\n".join(Source(_read(file)).code for file in files if file.is_file())


def _in_kernel(linux: FilePath, include: str) -> bool:
    return any((linux / directory / include).is_file() for directory in _INCLUDED)


def _kbuild(sources: ModuleSources, name: str, options: set[str] | None) -> str:
    """Return a Kbuild of one module, tcp_<name>, from the objects of the user's own.

    ``options``: macros for the compat header; None leaves it out.
    """
    main, module = sources.main.stem, f"tcp_{name}"
    flags = "-I$(srctree)/net/ipv4"
    if options is not None:
        defined = "".join(f"-D{option} " for option in sorted(options))
        flags += f" {defined}-include $(src)/{COMPAT.name}"
    lines = ["# Written by farpath"]
    if sources.makefile is None:
        lines += [f"obj-m := {module}.o", *([f"{module}-y := {main}.o"] if main != module else [])]
    else:
        # The module of the user's that the main source is a part of, and its objects
        lines += [
            "obj-m :=",
            f"include $(src)/{USER_MAKEFILE}",
            "of = $($(1)-objs) $($(1)-y)",
            f"user := $(firstword $(foreach each,$(obj-m:.o=),"
            f"$(if $(filter {main}.o,$(each).o $(call of,$(each))),$(each))))",
            "objects := $(strip $(if $(user),$(call of,$(user))))",
            f"objects := $(or $(objects),{main}.o)",
            "obj-y :=",
            f"obj-m := {module}.o",
            f"ifneq ($(objects),{module}.o)",
            f"CFLAGS_{module}_main.o += $(CFLAGS_{module}.o)",
            f"{module}-objs :=",
            f"{module}-y := $(patsubst {module}.o,{module}_main.o,$(objects))",
            "endif",
            "ccflags-y += $(EXTRA_CFLAGS)",
        ]
    return "\n".join([*lines, f"ccflags-y += {flags}", ""])


def changes_of(module: FilePath) -> Iterator[str]:
    """Yield what of Linux was mapped in a built module, each once."""
    seen = set[str]()
    for entry in elf.section(module.read_bytes(), b".modinfo").split(b"\0"):
        text = entry.decode(errors="replace")
        if text.startswith(_CHANGED) and text not in seen:
            seen.add(text)
            yield text.removeprefix(_CHANGED)
