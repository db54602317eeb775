"""The page of a comparison."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path as FilePath

from farpath.uses.regress.html import render_page
from farpath.uses.regress.suite import trials
from tests.support.baselines import compared
from tests.support.campaigns import write_named


def test_the_page_shows_what_is_not_identical_and_escapes_what_it_says() -> None:
    every = trials(["htcp", "cubic", "reno"], ["one-loss", "burst"])
    page = render_page(compared(), every, ["--head=a tree"])
    assert 'cubic/one-loss <span class="verdict changed">' in page
    assert "htcp/one-loss <span" not in page
    assert "panicked &lt;&amp;&gt;" in page
    assert "farpath regress --stacks=cubic --only=cubic/one-loss &#39;--head=a tree&#39;" in page
    assert "farpath run --rtt=" in page


def test_every_mark_of_the_page_leads_to_what_it_is_about() -> None:
    page = render_page(compared(), trials(["htcp", "cubic", "reno"], ["one-loss", "burst"]))
    assert (
        '<a class="verdict changed" href="#run-cubic-one-loss" title="changed">CHANGED</a>' in page
    )
    linked = set(re.findall(r'href="#(run-[^"]+)"', page))
    assert linked == set(re.findall(r'<h2 id="(run-[^"]+)"', page))
    assert len(linked) == 4


def test_why_a_baseline_is_not_drawn_is_said(tmp_path: FilePath) -> None:
    one = dataclasses.replace(
        compared(),
        verdicts=compared().verdicts[2:3],
        records={"cubic/one-loss": (None, write_named(tmp_path, "cern", "cubic", 1).directory)},
    )
    page = render_page(one, trials(["cubic"], ["one-loss"]))
    assert "a baseline holds figures and bounds, and no samples" in page
    assert "windows of the run after" in page
