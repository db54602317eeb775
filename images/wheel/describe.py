"""Describes the tree of the lab's archive: describe.py TREE RESULT.

RESULT gets the lists that the lab's wheel has beside the archive:
  files.tsv      size, SHA-256 or nothing, and path of each file; kernel and modules have a SHA-256
  packages.tsv   of each part the Debian packages, with the source that each was built from
  lab.json       release of the kernel, Debian's suite, bytes of all files
A kernel that is not Debian's, or a library that needs a newer glibc than the wheel's tag says,
is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from farpath.lab.artifacts import elf

#: Of manylinux_2_17: the newest glibc that may be needed by what runs with the machine's own.
GLIBC = (2, 17)
#: Parts whose files have a SHA-256.
HASHED = ("kernel", "stacks")
#: Part, package, version, architecture, source package, version of the source.
Row = tuple[str, str, str, str, str, str]
_VERSION_NEEDED, _FILE_NEEDED = struct.Struct("<IHHII"), struct.Struct("<HHIII")


def glibc_needed(program: bytes) -> tuple[int, ...]:
    """Return the newest version of glibc whose symbols an ELF file needs; (0,) for none.

    They stand in .gnu.version_r (Linux Standard Base, 10.7.3).
    """
    needed, names = elf.section(program, b".gnu.version_r"), elf.section(program, b".dynstr")
    versions: list[tuple[int, ...]] = [(0,)]
    at, more = 0, bool(needed)
    while more:
        _, count, _, first, following = _FILE_NEEDED.unpack_from(needed, at)
        here = at + first
        for _ in range(count):
            _, _, _, name, step = _VERSION_NEEDED.unpack_from(needed, here)
            text = names[name : names.index(b"\0", name)].decode()
            if match := re.fullmatch(r"GLIBC_([0-9.]+)", text):
                versions.append(tuple(map(int, match[1].split("."))))
            here += step
        at, more = at + following, following > 0
    return max(versions)


def files(tree: Path) -> Iterator[Path]:
    """Yield the regular files of a tree in order."""
    for folder, folders, names in os.walk(tree):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            if not file.is_symlink():
                yield file


def file_rows(tree: Path) -> Iterator[str]:
    """Yield the lines of files.tsv."""
    for file in files(tree):
        name = file.relative_to(tree).as_posix()
        hashed = name.split("/")[1] in HASHED
        digest = hashlib.sha256(file.read_bytes()).hexdigest() if hashed else ""
        yield f"{file.stat().st_size}\t{digest}\t{name}\n"


def package_rows(part: str, status: str) -> Iterator[Row]:
    """Yield the installed packages of dpkg's status file, with their sources (deb-control(5))."""
    for paragraph in status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line)
        if fields.get("Status", "").endswith("ok installed"):
            package, version = fields["Package"], fields["Version"]
            source, _, own = fields.get("Source", package).partition(" ")
            # A rebuild without a change of the source has +b and a number
            of_source = own.strip("()") or re.sub(r"\+b\d+$", "", version)
            yield part, package, version, fields["Architecture"], source, of_source


def kernel_row(manifest: dict[str, str]) -> Row:
    """Return the row of the kernel; ends the program if the kernel is not Debian's."""
    package, _, version = manifest["source"].partition(" ")
    if not package.startswith("linux-source-"):
        raise SystemExit(
            f"wheel: the kernel is built from {manifest['source']}, whose source nobody else has: "
            "run 'make kernel' without KERNEL_SRC"
        )
    return "kernel", package, version, "all", "linux", version


def udtperf_row(manifest: dict[str, str]) -> Row:
    """Return the row of the library that is linked into udtperf."""
    version = manifest["libudt-dev"]
    return "udtperf", "libudt-dev", version, "amd64", "udt", re.sub(r"\+b\d+$", "", version)


def check_glibc(library: Path) -> None:
    """End the program if a library that the machine's own programs load needs too new a glibc."""
    needed = glibc_needed(library.read_bytes())
    if needed > GLIBC:
        raise SystemExit(
            f"wheel: {library.name} needs glibc {'.'.join(map(str, needed))}, and the wheel's tag "
            f"says {'.'.join(map(str, GLIBC))}: build it on an older system"
        )


def main(tree: Path, udtperf: Path, result: Path) -> None:
    """Check a tree and write its lists."""
    build = tree / "build"
    kernel = json.loads((build / "kernel/manifest.json").read_text())
    check_glibc(build / "kernel/seedrandom.so")
    rows = [kernel_row(kernel), udtperf_row(json.loads((udtperf / "manifest.json").read_text()))]
    for part in ("lab", "sender"):
        rows += package_rows(part, (build / part / "rootfs/var/lib/dpkg/status").read_text())
    (result / "packages.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (result / "files.tsv").write_text("".join(file_rows(tree)))
    size_bytes = sum({one.st_ino: one.st_size for one in map(Path.stat, files(tree))}.values())
    suite = json.loads((build / "lab/manifest.json").read_text())["suite"]
    described = {"release": kernel["release"], "suite": suite, "bytes": size_bytes}
    (result / "lab.json").write_text(json.dumps(described))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
