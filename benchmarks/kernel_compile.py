"""CPU time of compiling the lab's kernel in other ways, by turns.

``python -m benchmarks.kernel_compile 40`` compiles 40 drawn files of the kernel that was built last
with and without compiled headers, and 40 of those parts that a run hardly uses with ``-O2`` in
place of ``-O3``. It prints the CPU seconds and their ratios. The cache must have its objects.
"""

from __future__ import annotations

import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as FilePath

from farpath.base.project import PROJECT, cache_directory

KERNEL = PROJECT / "images" / "kernel"
#: The object of which the headers get their options.
FIRST = "kernel/params.o"
#: Parts of the kernel in which a run spends its time.
MUCH_USED = ("net/", "kernel/sched/", "kernel/time/", "mm/")
_COMMAND = re.compile(r"savedcmd_(\S+\.o) := (\S+) (.*)")


def commands(objects: FilePath) -> dict[str, list[str]]:
    """Return the compilers' arguments of the kernel's C files, by object."""
    found = {}
    for file in objects.rglob(".*.o.cmd"):
        match = _COMMAND.match(file.read_text(errors="replace"))
        if match and "-D__KERNEL__" in match[3]:
            words = shlex.split(match[3].partition(" ; ")[0])
            if words[-1].endswith(".c"):
                found[match[1]] = [word for word in words if not word.startswith("-Wp,-MMD")]
    return found


def cpu_s(command: list[str], directory: FilePath) -> float:
    """Run a command, which must succeed; return the user and system time that it took, in s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=directory, check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def drawn(found: Iterable[str], count: int) -> list[str]:
    """Return some of the objects, the same in each call."""
    objects = sorted(found)
    return random.Random(1).sample(objects, min(count, len(objects)))


def headers_ratio(found: Mapping[str, list[str]], objects: FilePath, count: int) -> str:
    """Compile drawn files with and without compiled headers; say what both took."""
    plain_s = shared_s = 0.0
    with tempfile.TemporaryDirectory() as name:
        place = FilePath(name)
        compiler = str(shutil.copy(KERNEL / "compiler", place))
        # It makes the headers with this object, which is not written into the cache here
        text = FilePath(compiler).read_text()
        FilePath(compiler).write_text(text.replace(FIRST, str(place / "one.o")))
        shutil.copy(KERNEL / "headers.h", place)
        headers_s = cpu_s([compiler, "--headers", *into(place, found[FIRST])], objects)
        for each in drawn(found, count):
            plain_s += cpu_s(["gcc", *into(place, found[each])], objects)
            shared_s += cpu_s([compiler, *into(place, found[each])], objects)
    return (
        f"gcc {plain_s:.1f} s, with compiled headers {shared_s:.1f} s, "
        f"ratio {shared_s / plain_s:.2f}; the headers once {headers_s:.1f} s"
    )


def level_ratio(found: Mapping[str, list[str]], objects: FilePath, count: int) -> str:
    """Compile drawn files of parts that a run hardly uses with -O3 and -O2; say what both took."""
    rarely_used = [each for each in found if not each.startswith(MUCH_USED)]
    took_s = {"-O3": 0.0, "-O2": 0.0}
    with tempfile.TemporaryDirectory() as name:
        for number, each in enumerate(drawn(rarely_used, count)):
            words = [word for word in into(FilePath(name), found[each]) if word not in took_s]
            # Neither is always the one that finds its headers read already
            for level in sorted(took_s, reverse=number % 2 == 0):
                took_s[level] += cpu_s(["gcc", level, *words], objects)
    ratio = took_s["-O2"] / took_s["-O3"]
    return (
        f"{len(rarely_used)} of {len(found)} files are rarely used: gcc -O3 {took_s['-O3']:.1f} s, "
        f"-O2 {took_s['-O2']:.1f} s, ratio {ratio:.2f}"
    )


def into(place: FilePath, arguments: Sequence[str]) -> list[str]:
    """Return a compiler's arguments with another place for its object."""
    index = arguments.index("-o")
    return [*arguments[: index + 1], str(place / "one.o"), *arguments[index + 2 :]]


def main(count: int) -> None:
    """Compile drawn files in all ways, and print what they took."""
    objects = max((cache_directory() / "build").iterdir(), key=lambda place: place.stat().st_mtime)
    found = commands(objects)
    for ratio in (headers_ratio, level_ratio):
        sys.stdout.write(f"{count} files: {ratio(found, objects, count)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
