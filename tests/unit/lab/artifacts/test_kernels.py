"""Kernels to build: what a text means, and the level of a processor."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.artifacts.kernels import kernel_environment, processor_level

V3 = "flags\t\t: fpu ssse3 sse4_1 sse4_2 popcnt avx2 bmi1 bmi2 fma movbe"


@pytest.mark.parametrize(
    ("flags", "level"),
    [("", 1), ("flags: fpu sse2", 1), (V3, 3), (V3.replace(" fma", ""), 2),
     (f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl", 4)],
)  # fmt: skip
def test_a_processors_level_is_the_highest_of_which_it_has_all(flags: str, level: int) -> None:
    assert processor_level(flags) == level


def test_a_kernel_is_a_series_of_debians_or_a_tree(tmp_path: FilePath) -> None:
    assert kernel_environment("linux-source-7.3") == {"KERNEL_VERSION": "7.3"}
    assert kernel_environment(str(tmp_path)) == {"KERNEL_SRC": str(tmp_path)}
    for text in ("7.3", "linux-source-7", "linux-source-7.3.1", str(tmp_path / "none"), ""):
        with pytest.raises(BadInputError, match=r"linux-source-7\.3, or the directory"):
            kernel_environment(text)
