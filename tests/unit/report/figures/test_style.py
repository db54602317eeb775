"""Styles of figures: colours and hatches."""

from __future__ import annotations

import pytest

from farpath.report.figures.style import COLOUR_BLIND, NORMAL, Style


@pytest.mark.parametrize("style", [NORMAL, COLOUR_BLIND])
def test_a_style_gives_each_of_twelve_flows_a_colour_of_its_own(style: Style) -> None:
    assert len({style.colour(number) for number in range(13)}) == 13
    assert style.colour(12) == style.colour(19)


def test_colour_blind_figures_part_twelve_flows_by_hatches() -> None:
    assert len({COLOUR_BLIND.hatch(number) for number in range(12)}) == 12
