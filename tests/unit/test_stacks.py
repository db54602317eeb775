"""Stacks: named as the kernel names them, and all of them in the lab's kernel."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

import pytest

from farpath.errors import BadInputError
from farpath.published import PAPER_NAMES
from farpath.stacks import STACKS, stack_by_name

LAB_CONFIG = FilePath(__file__).parents[2] / "images" / "kernel" / "lab.config"


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_is_found_by_its_name_and_says_where_it_is_from(name: str) -> None:
    stack = stack_by_name(name)
    assert stack.name == name
    assert re.fullmatch(r"[a-z]{2,15}", name)  # TCP_CA_NAME_MAX of the kernel is 16
    assert stack.source.endswith(".c")
    assert 1988 <= stack.year <= 2030


@pytest.mark.parametrize("name", sorted(set(STACKS) - {"reno"}))
def test_the_labs_kernel_is_configured_with_every_stack(name: str) -> None:
    found = re.search(r"net/ipv4/tcp_(\w+)\.c", STACKS[name].source)
    option = {"highspeed": "HSTCP"}.get(name, name.upper())
    assert found is not None
    assert found[1] == name
    assert f"CONFIG_TCP_CONG_{option}=y" in LAB_CONFIG.read_text().splitlines()


def test_every_stack_of_the_paper_that_linux_has_is_offered() -> None:
    assert set(PAPER_NAMES) <= set(STACKS)


@pytest.mark.parametrize(
    ("wrong", "meant"), [("htpc", "htcp"), ("CUBIC", "cubic"), ("bbr2", "bbr"), ("newreno", "reno")]
)
def test_an_unknown_stack_is_refused_with_a_suggestion_and_the_list(wrong: str, meant: str) -> None:
    with pytest.raises(BadInputError) as caught:
        stack_by_name(wrong)
    message = caught.value.message
    assert f"STACK is '{wrong}' (did you mean {meant}?)" in message
    assert all(name in message for name in STACKS)


@pytest.mark.parametrize("wrong", ["", "quic", "../htcp", "ht cp"])
def test_what_is_like_no_stack_is_refused_with_the_list(wrong: str) -> None:
    with pytest.raises(BadInputError, match=r"must be one of reno, highspeed, htcp"):
        stack_by_name(wrong)
