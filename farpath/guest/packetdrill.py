"""packetdrill: runs scripts in the guest, each in a fresh network namespace.

The kernel's own runner is used if the scripts' directory has it. Scripts with a command of their
own, the kernel's selftests, are run as they are.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.guest import system
from farpath.spec.protocol import ORDERS, PACKETDRILL_DIR, RAW_DIR, READBACK_FILE, RUNNER, TIMES
from farpath.tools import sysctl

#: The default congestion control of kernels with the usual configuration.
USUAL_CONGESTION_CONTROL = "cubic"
#: What a script finds in its namespace: the loopback is up, as in_netns.sh of packetdrill has it.
IN_NAMESPACE = 'ip link set lo up && exec "$@"'


def play(share: FilePath, send_event: Callable[..., None]) -> None:
    """Run every requested script, and send an event with each one's result."""
    system.mount_all()
    system.prepare_kernel()
    # Scripts select it in their own network namespaces, which are allowed the default.
    sysctl.write_setting("net.ipv4.tcp_congestion_control", USUAL_CONGESTION_CONTROL)
    directory = share / PACKETDRILL_DIR
    orders = json.loads((directory / ORDERS).read_text())
    environment = {**os.environ, "PATH": f"{directory / 'bin'}:{os.environ['PATH']}"}
    if (directory / TIMES).exists():
        environment["LD_PRELOAD"] = str(directory / TIMES)
    for script in orders["scripts"]:
        send_event("script", **_run_script(script, directory, environment))
    (share / RAW_DIR).mkdir()
    (share / READBACK_FILE.format(site=0)).write_text("{}")
    send_event("done")


def _run_script(
    script: Mapping[str, Any], directory: FilePath, environment: dict[str, str]
) -> dict[str, Any]:
    """Run a script in its own folder; return its name, exit status, output, and duration in s."""
    folder = directory / script["folder"]
    if "command" in script:
        command = script["command"]
    elif (folder / RUNNER).is_file():
        command = ["bash", f"./{RUNNER}", script["file"]]
    else:
        inside = ["packetdrill", *script["arguments"], script["file"]]
        command = ["unshare", "--net", "sh", "-c", IN_NAMESPACE, "sh", *inside]
    began_s = time.monotonic()
    result = subprocess.run(
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
    took_s = time.monotonic() - began_s
    return {
        "name": script["name"],
        "status": result.returncode,
        "said": result.stdout,
        "took_s": took_s,
    }
