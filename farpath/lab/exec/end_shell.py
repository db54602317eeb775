"""End shell: a shell on an end of a path, beside servers at the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import IO

from farpath.lab.artifacts.images import Images
from farpath.lab.exec.program_run import put_programs
from farpath.lab.shell import run_shell
from farpath.spec.plan import Plan
from farpath.spec.programs import Programs, server_label
from farpath.spec.protocol import OUTPUT_DIR, READABLE_DIR, SHELL_FILE


def run_end_shell(
    plan: Plan,
    programs: Programs,
    host: str,
    share: FilePath | None,
    out: FilePath,
    stdout: IO[bytes],
    stderr: IO[bytes],
    read_line: Callable[[list[str]], str | None],
    images: Images | None = None,
) -> int:
    """Run the user's lines on a host until their end; return the status of the shell.

    ``programs``: the servers, whose output goes to ``stderr``; the client does not run. ``share``:
    the directory that programs may read. The rest is as of ``run_shell``.
    """

    def prepare(place: FilePath) -> Mapping[FilePath, IO[bytes]]:
        put_programs(place, programs)
        (place / SHELL_FILE).write_text(host)
        if share is not None:
            (place / READABLE_DIR).symlink_to(share)
        labels = [server_label(number) for number in range(len(programs.servers))]
        output = place / OUTPUT_DIR
        return {output / f"{label}.{end}": stderr for label in labels for end in ("out", "err")}

    return run_shell(plan, out, stdout, read_line, images, prepare)
