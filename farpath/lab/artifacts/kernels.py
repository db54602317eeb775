"""Kernels: builds the kernel that a user names, with farpath's stacks, for a virtual lab."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.project import PROJECT
from farpath.lab.artifacts.images import Images, find_images, manifest
from farpath.lab.artifacts.scripts import MODULES_SCRIPT, build_artifact
from farpath.lab.artifacts.sources import DEVICES, STACKS
from farpath.spec.hosts import RECEIVER, SENDER

BUILD_SCRIPT = PROJECT / "images" / "kernel" / "build"
_SERIES = re.compile(r"(?:linux-source-)?(\d+\.\d+)")
#: A kernel for one side of a run.
_SIDE = re.compile(rf"({SENDER}|{RECEIVER})=")
#: Flags of /proc/cpuinfo that each level of x86-64 adds to the one below (System V psABI for
#: x86-64, 3.1.1), as far as they distinguish levels.
_LEVELS = {
    2: {"ssse3", "sse4_1", "sse4_2", "popcnt"},
    3: {"avx2", "bmi1", "bmi2", "fma", "movbe"},
    4: {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def processor_level(cpuinfo: str) -> int:
    r"""Return the level of x86-64, 1 to 4, from the contents of /proc/cpuinfo.

    >>> processor_level("flags : ssse3 sse4_1 sse4_2 popcnt avx2")
    2
    """
    rows = [line for line in cpuinfo.splitlines() if line.startswith("flags")]
    flags = set(rows[0].partition(":")[2].split()) if rows else set()
    level = 1
    while level + 1 in _LEVELS and _LEVELS[level + 1] <= flags:
        level += 1
    return level


def kernel_environment(text: str) -> dict[str, str]:
    """Return the build script's variables for a kernel: linux-source-7.3, or a Linux tree.

    Raises BadInputError if the text is neither.
    """
    if match := _SERIES.fullmatch(text):
        return {"KERNEL_VERSION": match[1]}
    tree = FilePath(text).expanduser()
    if not text or not tree.is_dir():
        raise BadInputError(
            f"kernel '{text}': it must be a series of Debian's sources such as linux-source-7.3, "
            "7.3, or the directory of a Linux tree"
        )
    return {"KERNEL_SRC": str(tree.resolve())}


def images_of(text: str, tell: Callable[[str], None]) -> Images:
    """Build a user's kernels with farpath's stacks as their modules; return the lab's images.

    ``text``: a kernel, or one for a side, as in receiver=linux-source-7.3, or for each side, with
    a space between. Builds are cached. ``tell`` is called with each line that the builds print.
    Raises as ``kernel_environment`` and ``build_artifact``.
    """
    words = text.split()
    if not all(_SIDE.match(word) for word in words) or not words:
        return _built(text, tell)
    kernels = dict(word.split("=", 1) for word in words)
    if len(kernels) < len(words):
        raise BadInputError(f"kernel '{text}': it names a side twice")
    sides = {side: _built(kernel, tell) for side, kernel in kernels.items()}
    return dataclasses.replace(find_images(), sides=sides)


def _built(text: str, tell: Callable[[str], None]) -> Images:
    """Build one kernel of a user's, and its modules."""
    variables = kernel_environment(text)
    default_images = find_images()
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("KERNEL_VERSION", "KERNEL_SRC")
    }
    kernel = build_artifact(BUILD_SCRIPT, environment={**inherited, **variables}, tell=tell)
    modules = build_artifact(MODULES_SCRIPT, str(kernel), str(STACKS), str(DEVICES), tell=tell)
    manifests = {
        **default_images.manifests,
        "kernel": manifest(kernel, "kernel"),
        "stacks": manifest(modules, "stacks"),
    }
    return dataclasses.replace(default_images, kernel=kernel, stacks=modules, manifests=manifests)


def release_of(images: Images) -> str:
    """Return the kernel's release."""
    return str(images.manifests["kernel"]["release"])


def made_of(images: Images, level: int) -> dict[str, str | int]:
    """Return a baseline's description of its kernel and processor."""
    kernel = images.manifests["kernel"]
    return {
        "release": release_of(images),
        "source": str(kernel["source"]),
        "source_sha256": str(kernel["source_hash"]),
        "processor_level": level,
    }
