"""The benchmark of the same path in ns-3, compiled on demand against the machine's packages."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path as FilePath

from benchmarks.lab.figure import Figure, Goal, UnavailableError, peer_figures, segments
from benchmarks.lab.lab_runs import lossless_path

SOURCE = FilePath(__file__).with_name("ns3_path.cc")
MODULES = ("core", "network", "internet", "point-to-point", "traffic-control", "applications")
#: ns-3 needs C++17 until 3.43 and C++20 since; the older one does not compile as C++20.
STANDARDS = ("c++17", "c++20")
RATIO_GOAL = 250.0
#: Simulated seconds until the window is open, and CPU seconds to measure after that.
WARMUP_SIM_S = 4.0
QUICK_CPU_S = 5.0
FULL_CPU_S = 20.0
#: Real seconds, far above the minute that it takes: only a broken ns-3 needs more.
HANG_LIMIT_S = 1200.0
REMEDY = "apt-get install libns3-dev g++ pkg-config"


def _output_of(command: list[str]) -> str:
    """Return a command's output; raise UnavailableError with its first error if it fails."""
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=HANG_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{command[0]}: {error}; {REMEDY}") from error
    if result.returncode:
        lines = result.stderr.splitlines()
        complaint = next((line for line in lines if "error" in line), *lines[:1])
        raise UnavailableError(f"{FilePath(command[0]).name} failed: {complaint}")
    return result.stdout


def _cache() -> FilePath:
    """Return the directory of the compiled program, next to other cached builds."""
    home = os.environ.get("XDG_CACHE_HOME") or FilePath.home() / ".cache"
    folder = FilePath(os.environ.get("FARPATH_CACHE") or FilePath(home) / "farpath") / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _options(packages: list[str]) -> tuple[list[str], list[str]]:
    """Return the compiler's and the linker's options, without libraries that ns-3's own use."""
    compiling = shlex.split(_output_of(["pkg-config", "--cflags", *packages]))
    linking = shlex.split(_output_of(["pkg-config", "--libs", *packages]))
    return compiling, [option for option in linking if option.startswith(("-l", "-L"))]


def _build(version: str) -> FilePath:
    """Return the program, compiled for this ns-3 unless it is in the cache."""
    packages = [f"ns3-{module}" for module in MODULES]
    compiler = _output_of(["g++", "--version"])
    key = hashlib.sha256(SOURCE.read_bytes() + f"{version} {compiler}".encode()).hexdigest()[:12]
    program = _cache() / f"ns3-path-{key}"
    if program.exists():
        return program
    compiling, linking = _options(packages)
    failures = []
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        fresh = FilePath(folder) / "ns3-path"
        for standard in STANDARDS:
            command = ["g++", f"-std={standard}", "-O2", *compiling, str(SOURCE), *linking]
            try:
                _output_of([*command, "-o", str(fresh)])
            except UnavailableError as error:
                failures.append(str(error))
                continue
            return fresh.rename(program)
    raise UnavailableError("; ".join(failures))


def _version() -> str:
    for tool in ("pkg-config", "g++"):
        if shutil.which(tool) is None:
            raise UnavailableError(f"{tool} is not installed: {REMEDY}")
    try:
        return _output_of(["pkg-config", "--modversion", "ns3-core"]).strip()
    except UnavailableError as error:
        raise UnavailableError(f"ns-3 is not installed: {REMEDY}") from error


def _packets_per_cpu_s(program: FilePath, quick: bool) -> float:
    path = lossless_path()
    arguments = {
        "rateBps": path.rate_bps,
        "rttMs": path.rtt_ms,
        "windowBytes": path.window_bytes,
        "bufferBytes": path.buffer_bytes,
        "warmupS": WARMUP_SIM_S,
        "cpuS": QUICK_CPU_S if quick else FULL_CPU_S,
    }
    output = _output_of([str(program), *(f"--{name}={value}" for name, value in arguments.items())])
    result = json.loads(output)
    if not (result["bytes"] > 0 and result["cpu_s"] > 0):
        raise UnavailableError(f"the flow carried nothing: {output.strip()}")
    return float(segments(result["bytes"]) / result["cpu_s"])


def ns3_figures(lab_packets_per_s: float | None, quick: bool) -> dict[str, Figure]:
    """Measure ns-3 on the lab's lossless path, and compare the lab with it."""

    def measure() -> tuple[float, str]:
        version = _version()
        return _packets_per_cpu_s(_build(version), quick), (
            f"ns-3 {version}, TcpHtcp, same rate, RTT, windows and buffer, but no switches: "
            f"segments delivered per CPU second once the window is open ({WARMUP_SIM_S:g} "
            "simulated s)"
        )

    return peer_figures(
        "ns3",
        ("the same path in ns-3", "lab against ns-3"),
        lab_packets_per_s,
        measure,
        "data packets in a real second: the lab's, a guest for each site, by those of ns-3, which "
        "runs on one core",
        Goal(RATIO_GOAL, False),
    )
