"""packetdrill's scripts in the lab, by a stand-in for the tool and, where there is one, by it.

Debian has no package of packetdrill. The stand-in looks for the edge of a tick as it
does, and passes or fails as its script says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path as FilePath

import pytest

from farpath.lab.artifacts.images import find_images
from farpath.lab.packetdrill import (
    TOOL,
    Script,
    find_scripts,
    find_tool,
    orders_of,
    parse_families,
    run_scripts,
)

STAND_IN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/times.h>
#include <unistd.h>

int main(int count, char **arguments) {
    char said[80] = "";
    clock_t began = times(NULL);
    while (times(NULL) < began + 5)
        ;
    FILE *script = fopen(arguments[count - 1], "r");
    if (!script || !fgets(said, sizeof said, script)) return 2;
    if (access("/proc/sys/net/ipv6", F_OK)) return 3;
    fputs(said, stderr);
    for (int i = 1; i < count - 1; i++) fprintf(stderr, "%s ", arguments[i]);
    if (system(". ../common/defaults.sh; ip -br link show lo") != 0) return 4;
    return strncmp(said, "pass", 4) != 0;
}
"""
#: Where the kernel's scripts are, of a Linux tree of the user's.
SCRIPTS = "FARPATH_PACKETDRILL_SCRIPTS"


def run_all(
    tool: FilePath, folder: FilePath, log: FilePath, family: str | None = None
) -> dict[str, Script]:
    """Every script of a folder, by name."""
    families = parse_families(family, folder)
    orders = orders_of(find_scripts(folder), families, {})
    results = run_scripts(find_images(), tool, folder, orders, log, lambda _script: None)
    assert [script.name for script in results] == [order.name for order in orders]
    return {script.name: script for script in results}


def test_each_script_of_a_suite_runs_to_its_end_and_a_failure_is_told(tmp_path: FilePath) -> None:
    (tmp_path / "tool.c").write_text(STAND_IN)
    tool = tmp_path / TOOL
    subprocess.run(["cc", "-o", str(tool), str(tmp_path / "tool.c")], check=True)
    folder = tmp_path / "tcp"
    for place in ("sack/good.pkt", "close/bad.pkt"):
        (folder / place).parent.mkdir(parents=True)
        (folder / place).write_text("pass\n" if "good" in place else "fail: a packet too many\n")
    # What scripts read lies beside their folders, as a link to what lies beside the suite's
    (folder / "common").mkdir()
    (folder / "common" / "defaults.sh").symlink_to("../../common/defaults.sh")
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "defaults.sh").write_text("echo defaults are set >&2\n")
    results = run_all(find_tool(tool), folder, tmp_path / "log", "ipv4,ipv6")
    good, bad = results["sack/good.pkt (ipv4)"], results["close/bad.pkt (ipv6)"]
    assert good.passed
    assert "defaults are set" in good.output
    assert "--ip_version=ipv4" in good.output
    assert "LOOPBACK,UP" in good.output
    assert not bad.passed
    assert "a packet too many" in bad.output
    assert "-D TFO_COOKIE=c1d1e9742a47a9bc" in bad.output
    # Five edges of times(2)'s ticks, of a hundredth of a second
    assert 0.04 <= good.took_s < 0.5


@pytest.mark.skipif(
    not (shutil.which(TOOL) and os.environ.get(SCRIPTS)),
    reason=f"packetdrill is not in PATH (Debian has no package of it) or {SCRIPTS} is not set",
)
def test_the_kernels_own_scripts_pass(tmp_path: FilePath) -> None:
    results = run_all(find_tool(None), FilePath(os.environ[SCRIPTS]), tmp_path / "log")
    assert [script for script in results.values() if not script.passed] == []
