"""The self-contained page of a search for starvation: worst conditions, their command, a figure."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from farpath.report.html.render import render
from farpath.report.table import Table
from farpath.uses.starvation.question import worst
from farpath.uses.starvation.table import Searches, share_text, starved_text, worst_table


@dataclass(frozen=True)
class Part:
    """One search: its title, its result in a sentence, the command, and the worst trials."""

    title: str
    found: str
    command: str
    table: Table


def render_starvation(searches: Searches, figure_png: bytes, remarks: tuple[str, ...]) -> str:
    """Return the page as HTML; ``remarks``: sentences above it, without their full stops."""
    parts = []
    for search, trials in searches:
        trial = worst(trials)
        least = f"{starved_text(search, trial)} had {share_text(trial)} % of a fair half"
        title = f"{search.pair[0]} beside {search.pair[1]}"
        parts.append(Part(title, least, trial.command, worst_table(search, trials)))
    return render(
        "starvation.html",
        heading="Starvation",
        assets="",
        remarks=remarks,
        parts=parts,
        figure=base64.b64encode(figure_png).decode(),
    )
