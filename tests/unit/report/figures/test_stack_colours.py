"""Colours of stacks: one for each, everywhere, and for every reader."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from farpath.programs.catalog import catalogue
from farpath.report.figures.stack_colours import (
    HUES,
    SERIES_COLOURS,
    look_of,
    looks_of,
    series_colour,
)

Array = npt.NDArray[np.float64]
#: What readers without the cones of one kind see, in linear RGB: Machado, Oliveira and Fernandes,
#: A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009, severity 1.
VISIONS = {
    "usual": np.eye(3),
    "no red cones": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                              [-0.003882, -0.048116, 1.051998]]),
    "no green cones": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                                [-0.011820, 0.042940, 0.968881]]),
    "no blue cones": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                               [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
PAPER, DARK = "#ffffff", "#15181c"
#: CIE 1931 from linear RGB (IEC 61966-2-1), and the white of D65.
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(colour: str) -> Array:
    """A colour in linear RGB."""
    parts = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: Array) -> Array:
    """A colour in CIELAB, in which distances are about as large as they look."""
    ratios = XYZ @ np.clip(rgb, 0, 1) / WHITE
    roots = np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116)
    return np.array([116 * roots[1] - 16, 500 * (roots[0] - roots[1]), 200 * (roots[1] - roots[2])])


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (WCAG 2.2, 1.4.11)."""
    dark, light = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", [0, 1], ids=["paper", "dark page"])
@pytest.mark.parametrize("vision", VISIONS)
def test_every_reader_tells_the_hues_apart(page: int, vision: str) -> None:
    seen = [lab(VISIONS[vision] @ linear(hue[page])) for hue in HUES.values()]
    least = min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2))
    assert least > 12


def test_hues_stand_out_from_the_page() -> None:
    assert min(contrast(on_paper, PAPER) for on_paper, _ in HUES.values()) > 2
    assert min(contrast(on_dark, DARK) for _, on_dark in HUES.values()) > 3


def test_each_stack_of_the_catalogue_has_a_look_of_its_own() -> None:
    looks = [look_of(name) for name in catalogue()]
    assert len(set(looks)) == len(looks)
    # The stacks that people compare most differ in colour alone
    often = [look_of(name) for name in ("cubic", "bbr", "reno", "htcp", "vegas", "dctcp")]
    assert len({look.hue for look in often}) == len(often)


def test_parameters_keep_a_stacks_colour_and_a_users_own_stack_has_always_the_same() -> None:
    assert look_of("cubic:beta=0.5") == look_of("cubic")
    assert look_of("mine") == look_of("mine")
    assert look_of("mine").line not in {look_of(name).line for name in catalogue()}


@pytest.mark.parametrize("count", [2, 4, 5, 12])
def test_flows_of_one_stack_are_shades_of_its_colour(count: int) -> None:
    looks = looks_of(["bbr"] * count + ["cubic"])
    assert len({look.colour for look in looks}) == count + 1
    assert {look.hue for look in looks[:-1]} == {look_of("bbr").hue}
    assert looks[-1] == look_of("cubic")


def test_series_of_no_stack_have_the_same_hues_by_their_index() -> None:
    hues = [on_paper for on_paper, _ in HUES.values()]
    assert [series_colour(index) for index in range(1, 1 + len(hues))] == hues
    assert len(set(SERIES_COLOURS)) == len(SERIES_COLOURS)
