"""The examples in docstrings hold."""

from __future__ import annotations

import doctest
import importlib

import pytest

from farpath.base.project import PROJECT

WITH_EXAMPLES = sorted(
    ".".join(file.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")
    for room in ("farpath", "topologies", "benchmarks")
    for file in (PROJECT / room).rglob("*.py")
    if ">>>" in file.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted > 0
    assert done.failed == 0
