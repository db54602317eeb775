"""Kernels: builds the kernel that a user names, with farpath's stacks, for a virtual lab."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.project import IMAGES, cache_directory
from farpath.lab.artifacts.images import Images, find_images, manifest
from farpath.lab.artifacts.scripts import MODULES_SCRIPT, build_artifact
from farpath.lab.artifacts.sources import DEVICES, STACKS
from farpath.record.identity import hash_of
from farpath.spec.hosts import RECEIVER, SENDER, SIDES
from farpath.spec.stack import Stack

BUILD_SCRIPT = IMAGES / "kernel" / "build"
#: The build script's variable for a kernel with tracepoints.
TRACEPOINTS = {"KERNEL_TRACEPOINTS": "1"}
_SERIES = re.compile(r"(?:linux-source-)?(\d+\.\d+)")
#: The beginning of a text that names kernels by side.
_SIDE = re.compile(r"\s*[a-z]+=")
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
    """Return the build script's variables for a kernel: linux-source-7.3, 7.3, or a Linux tree.

    Raises BadInputError if the text is neither.
    """
    if match := _SERIES.fullmatch(text):
        return {"KERNEL_VERSION": match[1]}
    tree = FilePath(os.path.expanduser(text))
    if not text or not tree.is_dir():
        raise BadInputError(
            problem=f"kernel '{text}': it must be a series of Debian's sources such as "
            "linux-source-7.3 or 7.3, or the directory of a Linux tree"
        )
    return {"KERNEL_SRC": str(tree.resolve())}


def kernels_by_side(text: str) -> dict[str, str]:
    """Return the kernel that a text names for each side; empty if it names one for all sites.

    Raises BadInputError for another side, a side that is named twice, and a text that is no kernel.

    >>> kernels_by_side("sender=7.2 receiver=7.3")
    {'sender': '7.2', 'receiver': '7.3'}
    """
    if not _SIDE.match(text):
        return {}
    pairs = [word.partition("=")[::2] for word in text.split()]
    kernels = dict(pairs)
    if not kernels.keys() <= set(SIDES) or not all(kernels.values()):
        raise BadInputError(
            option="kernel",
            given=text,
            remedy=(
                f"kernels by side are {SENDER}=<kernel>, {RECEIVER}=<kernel>, or both "
                "with a space between"
            ),
        )
    if len(kernels) < len(pairs):
        raise BadInputError(
            option="kernel",
            given=text,
            problem="it names a side twice",
            remedy="name each at most once",
        )
    for kernel in kernels.values():
        kernel_environment(kernel)
    return kernels


def images_of(text: str, tell: Callable[[str], None]) -> Images:
    """Build a user's kernels with farpath's stacks as their modules; return the lab's images.

    ``text``: a kernel, or kernels by side as in ``kernels_by_side``; the side without one has the
    lab's own. Builds are cached. ``tell`` is called with each line that the builds print. Raises
    as ``kernels_by_side``, ``kernel_environment`` and ``build_artifact``.
    """
    kernels = kernels_by_side(text)
    if not kernels:
        return _built(text, tell)
    sides = {side: _built(kernel, tell) for side, kernel in kernels.items()}
    return dataclasses.replace(find_images(), sides=sides)


def one_kernel(text: str, option: str) -> str:
    """Return a text that names one kernel for all sites; raise BadInputError if it names sides."""
    if kernels_by_side(text):
        raise BadInputError(
            problem=f"{option} is '{text}'", remedy="it must be one kernel here, not one for a side"
        )
    return text


def lab_images(kernel: str | None, tell: Callable[[str], None]) -> Images:
    """Return the images of the lab, or those of one kernel of a user's for all sites.

    ``kernel``: as an option ``--kernel`` names it. Raises as ``one_kernel`` and ``images_of``.
    """
    return find_images() if kernel is None else images_of(one_kernel(kernel, "--kernel"), tell)


def _built(
    text: str, tell: Callable[[str], None], further: Mapping[str, str] = MappingProxyType({})
) -> Images:
    """Build one of a user's kernels and its modules; ``further``: variables of the script."""
    variables = {**kernel_environment(text), **further}
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("KERNEL_VERSION", "KERNEL_SRC")
    }
    kernel = build_artifact(BUILD_SCRIPT, environment={**inherited, **variables}, tell=tell)
    return _with_kernel(kernel, tell)


def _with_kernel(kernel: FilePath, tell: Callable[[str], None]) -> Images:
    """Return the lab's images with a built kernel, for which the modules are built."""
    default_images = find_images()
    modules = build_artifact(MODULES_SCRIPT, str(kernel), str(STACKS), str(DEVICES), tell=tell)
    manifests = {
        **default_images.manifests,
        "kernel": manifest(kernel, "kernel"),
        "stacks": manifest(modules, "stacks"),
    }
    return dataclasses.replace(default_images, kernel=kernel, stacks=modules, manifests=manifests)


def images_recorded(provenance: Mapping[str, Any], tell: Callable[[str], None]) -> Images:
    """Return the lab's images with the kernel of a record, or with those of its sides.

    ``provenance``: of the record. A kernel that is not the lab's own is taken from the builds that
    the cache keeps. Raises BadInputError if it is not there.
    """
    own = find_images()
    kernels = provenance.get("kernels")
    if not kernels:
        return _recorded(provenance.get("kernel", {}), own, tell)
    sides = {side: _recorded(kernels[side], own, tell) for side in SIDES}
    others = {side: images for side, images in sides.items() if images is not own}
    return dataclasses.replace(own, sides=others)


def _recorded(kernel: Mapping[str, Any], own: Images, tell: Callable[[str], None]) -> Images:
    """Return images with the kernel of a record's description; ``own``: the lab's."""
    linux_hash = kernel.get("linux_hash")
    if linux_hash == own.manifests["kernel"]["linux_hash"]:
        return own
    for file in sorted((cache_directory() / "kernel").glob("*/manifest.json")):
        if manifest(file.parent, "kernel")["linux_hash"] == linux_hash:
            return _with_kernel(file.parent, tell)
    raise BadInputError(
        problem=f"the record's kernel, {kernel.get('release', 'unknown')} from "
        f"{kernel.get('source', 'unknown')}, is in no build of this machine",
        remedy="name it with `kernel`",
    )


def with_tracepoints(
    images: Images, stacks: Iterable[Stack], tell: Callable[[str], None]
) -> Images:
    """Return images with the same kernels, compiled with their tracepoints (images/kernel/build).

    ``stacks``: of the run; users' modules among them are compiled for these kernels. ``tell``:
    called with each line of the builds, which take minutes where the cache has none.
    Raises BadInputError if the source of a kernel has changed since, and as ``build_artifact``.
    """
    if images.sides:
        modules = tuple(stacks)
        sides = {side: dataclasses.replace(images.at_side(side), sides={}) for side in SIDES}
        traced = {side: with_tracepoints(one, modules, tell) for side, one in sides.items()}
        return dataclasses.replace(images, sides=traced)
    kernel = images.manifests["kernel"]
    source = str(kernel["source"])
    named = source.partition(" ")[0] if _SERIES.match(source) else source
    found = _built(named, tell, TRACEPOINTS)
    if found.manifests["kernel"]["source_hash"] != kernel["source_hash"]:
        raise BadInputError(
            problem=f"the source of the run's kernel, {source}, has changed since",
            remedy="build the kernel and make the run anew",
        )
    rebuilt = {
        stack.build: build_artifact(
            MODULES_SCRIPT, str(found.kernel), str(images.build(stack).resolve()), tell=tell
        )
        for stack in stacks
        if stack.build and stack.module
    }
    return dataclasses.replace(found, rebuilt=rebuilt)


def release_of(images: Images) -> str:
    """Return the kernel's release."""
    return str(images.manifests["kernel"]["release"])


def title_of(images: Images) -> str:
    """Return the kernel, or the kernels of both sides, for people."""
    titles = {
        side: f"Linux {release_of(images.at_side(side)).removesuffix('-farpath')}" for side in SIDES
    }
    if images.sides:
        return ", ".join(f"{title} at the {side}" for side, title in titles.items())
    return titles[SENDER]


def made_of(images: Images, level: int) -> dict[str, str | int]:
    """Return a baseline's description of its kernel, its packages and its processor."""
    kernel = images.manifests["kernel"]
    packages = [images.manifests[root]["packages_hash"] for root in ("lab", "sender")]
    return {
        "packages_sha256": hash_of(*map(str.encode, packages)),
        "release": release_of(images),
        "source": str(kernel["source"]),
        "source_sha256": str(kernel["source_hash"]),
        "processor_level": level,
    }
