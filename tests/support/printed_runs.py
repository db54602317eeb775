"""Runs that measured exactly what the paper prints."""

from __future__ import annotations

from experiments.seven_regions.published import Published, published
from farpath.metrics.run import Summary
from tests.support.campaigns import summary_of


def printed_of(stack: str) -> Published:
    """What the paper prints of a stack at CERN."""
    numbers = published(stack, "cern")
    assert numbers
    return numbers


def as_printed(stack: str) -> Summary:
    """A run that measured exactly what is printed of a stack."""
    return summary_of(printed_of(stack).stack)
