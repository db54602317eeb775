"""packetdrill's scripts in the guest: each by the kernel's own runner, in a fresh namespace."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

from farpath.guest import system
from farpath.spec.protocol import ORDERS, PACKETDRILL_DIR, RAW_DIR, READBACK_FILE, RUNNER, TIMES
from farpath.tools import sysctl

#: The default of kernels that are configured as usual.
USUAL_CONGESTION_CONTROL = "cubic"


def play(share: FilePath, say: Callable[..., None]) -> None:
    """Run every script that is ordered, and tell of each how it ended."""
    system.mount_all()
    system.prepare_kernel()
    # The scripts ask for it in namespaces of their own, which may have what is the default
    sysctl.write_setting("net.ipv4.tcp_congestion_control", USUAL_CONGESTION_CONTROL)
    place = share / PACKETDRILL_DIR
    orders = json.loads((place / ORDERS).read_text())
    environment = {
        **os.environ,
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "LD_PRELOAD": str(place / TIMES),
    }
    for script in orders["scripts"]:
        say("script", **_one(script, place / orders["folder"], environment))
    (share / RAW_DIR).mkdir()
    (share / READBACK_FILE).write_text("{}")
    say("done")


def _one(script: str, folder: FilePath, environment: dict[str, str]) -> dict[str, Any]:
    """A script's name, exit status, what was said, and how long it took."""
    if (folder / RUNNER).is_file():
        command = ["bash", f"./{RUNNER}", script]
    else:
        command = ["unshare", "--net", "packetdrill", script]
    began = time.monotonic()
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    took_s = time.monotonic() - began
    return {"name": script, "status": done.returncode, "said": done.stdout, "took_s": took_s}
