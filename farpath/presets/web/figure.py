"""The figure of ``web``: the parts of a page load over each version of HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.presets.web.page_loads import PageLoad
from farpath.report.figures.stack_colours import series_colour
from farpath.report.figures.style import INK, print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE_IN = (7.5, 3.2)


def draw_page_loads(loads: Sequence[PageLoad], bounds_s: Mapping[str, float]) -> Figure:
    """Draw a bar for each page load, its handshakes, its first request and all objects.

    ``bounds_s``: the least time of a load, by version, which a mark on its bar shows.
    """
    from matplotlib.figure import Figure

    with print_style():
        figure = Figure(figsize=SIZE_IN, layout="constrained")
        axes = figure.subplots()
        places = range(len(loads))
        ends = {
            "handshakes": [one.handshake_s for one in loads],
            "first byte": [one.first_byte_s for one in loads],
            "all objects": [one.load_s for one in loads],
        }
        begins = [0.0] * len(loads)
        for index, (words, ends_s) in enumerate(ends.items()):
            lengths = [end - begin for end, begin in zip(ends_s, begins, strict=True)]
            axes.barh(
                places,
                lengths,
                left=begins,
                height=0.6,
                color=series_colour(index + 1),
                label=words,
            )
            begins = ends_s
        marked = [(bounds_s[one.version], place) for place, one in enumerate(loads)
                  if one.version in bounds_s]  # fmt: skip
        axes.vlines(
            [bound_s for bound_s, _ in marked],
            [place - 0.4 for _, place in marked], [place + 0.4 for _, place in marked],
            color=INK, linewidth=1.5, label="least page load",
        )  # fmt: skip
        axes.set_yticks(places, [one.name for one in loads])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel("time since the client's start (s)")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.15), ncols=4, fontsize=7.5)
    return figure
