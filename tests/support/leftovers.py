"""What a process leaves that is killed while it makes a record."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path as FilePath

from farpath.base.project import PROJECT

#: A maker of a record that is killed while it works.
MAKER = """
import os, signal, sys
from pathlib import Path
from farpath.base import locks
with locks.fresh_partial(Path(sys.argv[1])) as partial:
    (partial / "flows.parquet").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_maker(out: FilePath) -> None:
    """Begin a record in a process that is killed before it ends."""
    done = subprocess.run(
        [sys.executable, "-c", MAKER, str(out)],
        env={"PYTHONPATH": str(PROJECT)},
        check=False,
    )
    assert done.returncode == -9
