"""CPU time of compiling the lab's kernel with and without compiled headers, by turns.

``python -m benchmarks.kernel_headers 40`` compiles 40 drawn files of the kernel that was built last
in each way, and prints the CPU seconds of both and their ratio. The cache must have its objects.
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
from pathlib import Path as FilePath

from farpath.base.project import PROJECT, cache_directory

KERNEL = PROJECT / "images" / "kernel"
#: The object of which the headers get their options.
FIRST = "kernel/params.o"
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


def main(count: int) -> None:
    """Compile drawn files in both ways, and print what they took."""
    objects = max((cache_directory() / "build").iterdir(), key=lambda place: place.stat().st_mtime)
    found = commands(objects)
    plain_s = shared_s = 0.0
    with tempfile.TemporaryDirectory() as name:
        place = FilePath(name)
        compiler = str(shutil.copy(KERNEL / "compiler", place))
        # It makes the headers with this object, which is not written into the cache here
        text = FilePath(compiler).read_text()
        FilePath(compiler).write_text(text.replace(FIRST, str(place / "one.o")))
        shutil.copy(KERNEL / "headers.h", place)

        def words(of: str) -> list[str]:
            arguments = found[of]
            index = arguments.index("-o")
            return [*arguments[: index + 1], str(place / "one.o"), *arguments[index + 2 :]]

        headers_s = cpu_s([compiler, "--headers", *words(FIRST)], objects)
        for each in random.Random(1).sample(sorted(found), min(count, len(found))):
            plain_s += cpu_s(["gcc", *words(each)], objects)
            shared_s += cpu_s([compiler, *words(each)], objects)
    sys.stdout.write(
        f"{count} of {len(found)} files: gcc {plain_s:.1f} s, with compiled headers "
        f"{shared_s:.1f} s, ratio {shared_s / plain_s:.2f}; the headers once {headers_s:.1f} s\n"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
