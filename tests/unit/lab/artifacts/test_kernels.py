"""Kernels to build: what a text means, and the level of a processor."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.artifacts import kernels
from farpath.lab.artifacts.images import Images
from farpath.lab.artifacts.kernels import (
    kernel_environment,
    kernels_by_side,
    one_kernel,
    processor_level,
    with_tracepoints,
)

V3 = "flags\t\t: fpu ssse3 sse4_1 sse4_2 popcnt avx2 bmi1 bmi2 fma movbe"


@pytest.mark.parametrize(
    ("flags", "level"),
    [("", 1), ("flags: fpu sse2", 1), (V3, 3), (V3.replace(" fma", ""), 2),
     (f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl", 4)],
)  # fmt: skip
def test_a_processors_level_is_the_highest_of_which_it_has_all(flags: str, level: int) -> None:
    assert processor_level(flags) == level


def test_a_kernel_is_a_series_of_debians_or_a_tree(tmp_path: FilePath) -> None:
    for text in ("linux-source-7.3", "7.3"):
        assert kernel_environment(text) == {"KERNEL_VERSION": "7.3"}
    assert kernel_environment(str(tmp_path)) == {"KERNEL_SRC": str(tmp_path)}
    for text in ("linux-source-7", "linux-source-7.3.1", str(tmp_path / "none"), ""):
        with pytest.raises(BadInputError, match=r"7\.3, or the directory"):
            kernel_environment(text)


def test_a_text_names_one_kernel_for_all_sites_or_one_for_each_side(tmp_path: FilePath) -> None:
    for text in ("7.3", str(tmp_path), "./a=b"):
        assert kernels_by_side(text) == {}
        assert one_kernel(text, "--head") == text
    assert kernels_by_side(f" receiver=7.3  sender={tmp_path}") == {
        "receiver": "7.3",
        "sender": str(tmp_path),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("middle=7.3", "are sender=<kernel>, receiver=<kernel>, or both"),
        ("sender=7.3 7.2", "are sender=<kernel>, receiver=<kernel>, or both"),
        ("sender=", "are sender=<kernel>, receiver=<kernel>, or both"),
        ("sender=7.3 sender=7.2", "names a side twice"),
        ("receiver=/nowhere", "kernel '/nowhere': it must be a series"),
    ],
)
def test_what_names_no_side_or_one_twice_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        kernels_by_side(text)


def test_where_one_kernel_is_needed_one_for_a_side_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"--head is 'sender=7\.3': it must be one kernel"):
        one_kernel("sender=7.3", "--head")


def images_with(source: str, source_hash: str, **sides: Images) -> Images:
    """Images with a kernel of this source."""
    manifests = {"kernel": {"source": source, "source_hash": source_hash}}
    place = FilePath("build")
    return Images(place, place, place, place, place, manifests, sides)


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Mapping[str, str]]]:
    """The kernels that are built, each of the source ``now``, with further variables."""
    built: list[tuple[str, Mapping[str, str]]] = []

    def build(text: str, _tell: object, further: Mapping[str, str]) -> Images:
        built.append((text, further))
        return images_with(text, "now")

    monkeypatch.setattr(kernels, "_built", build)
    return built


def test_tracepoints_are_compiled_into_the_kernel_of_each_side(
    builds: list[tuple[str, Mapping[str, str]]], tmp_path: FilePath
) -> None:
    debian = images_with("linux-source-7.2 7.2.12-1~bpo13+1", "now")
    tree = images_with(str(tmp_path), "now")
    with_tracepoints(debian, (), print)
    with_tracepoints(images_with("none", "now", sender=debian, receiver=tree), (), print)
    # A side without another kernel has that of the lab
    with_tracepoints(dataclasses.replace(debian, sides={"receiver": tree}), (), print)
    texts = [text for text, further in builds if further == {"KERNEL_TRACEPOINTS": "1"}]
    both = ["linux-source-7.2", str(tmp_path)]
    assert texts == ["linux-source-7.2", *both, *both]


@pytest.mark.usefixtures("builds")
def test_a_kernel_whose_source_has_changed_is_not_traced(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="has changed since"):
        with_tracepoints(images_with(str(tmp_path), "then"), (), print)
