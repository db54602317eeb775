"""Kernels: what a suite runs on, built from what the user names."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.project import PROJECT
from farpath.lab.artifacts.images import Images, find_images, manifest
from farpath.lab.artifacts.scripts import build_artifact

BUILD_SCRIPT = PROJECT / "images" / "kernel" / "build"
MODULES_SCRIPT = PROJECT / "images" / "kernel" / "modules"
STACKS = PROJECT / "images" / "kernel" / "stacks"
_SERIES = re.compile(r"linux-source-(\d+\.\d+)")
#: Flags of /proc/cpuinfo that a level of x86-64 asks for beside those of the one below
#: (System V psABI for x86-64, 3.1.1), as far as they tell levels apart.
_LEVELS = {
    2: {"ssse3", "sse4_1", "sse4_2", "popcnt"},
    3: {"avx2", "bmi1", "bmi2", "fma", "movbe"},
    4: {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def processor_level(cpuinfo: str) -> int:
    r"""The level of x86-64, 1 to 4, of the text of /proc/cpuinfo.

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
    """How the build script is told of a kernel: linux-source-7.3, or a Linux tree.

    Raises BadInputError for what is neither.
    """
    if match := _SERIES.fullmatch(text):
        return {"KERNEL_VERSION": match[1]}
    tree = FilePath(text).expanduser()
    if not text or not tree.is_dir():
        raise BadInputError(
            f"kernel '{text}': it must be a series of Debian's sources such as linux-source-7.3, "
            "or the directory of a Linux tree"
        )
    return {"KERNEL_SRC": str(tree.resolve())}


def images_of(text: str, tell: Callable[[str], None]) -> Images:
    """The lab with a kernel of the user's, and farpath's stacks as its modules; built once.

    ``tell`` gets what the builds say on their way. Raises what :func:`kernel_environment`
    and the builds raise.
    """
    wanted = kernel_environment(text)
    usual = find_images()
    others = {
        name: value
        for name, value in os.environ.items()
        if name not in ("KERNEL_VERSION", "KERNEL_SRC")
    }
    kernel = build_artifact(BUILD_SCRIPT, environment={**others, **wanted}, tell=tell)
    modules = build_artifact(MODULES_SCRIPT, str(kernel), str(STACKS), tell=tell)
    manifests = {
        **usual.manifests,
        "kernel": manifest(kernel, "kernel"),
        "stacks": manifest(modules, "stacks"),
    }
    return dataclasses.replace(usual, kernel=kernel, stacks=modules, manifests=manifests)


def release_of(images: Images) -> str:
    """What the kernel calls itself."""
    return str(images.manifests["kernel"]["release"])


def made_of(images: Images, level: int) -> dict[str, str | int]:
    """What a baseline says of where it was made."""
    kernel = images.manifests["kernel"]
    return {
        "release": release_of(images),
        "source": str(kernel["source"]),
        "source_sha256": str(kernel["source_hash"]),
        "processor_level": level,
    }
