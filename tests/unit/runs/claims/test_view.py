"""Verdicts as text."""

from __future__ import annotations

from farpath.runs.claims import as_text, judge_all
from tests.support.campaigns import published_campaign


def test_verdicts_are_listed_with_their_numbers_and_counted() -> None:
    verdicts = judge_all(published_campaign())
    text = as_text(verdicts)
    assert max(map(len, text.splitlines())) <= 100
    assert "C1  holds" in text
    assert "mean of Reno over Scalable's 0.5863 < 0.75" in text
    assert "needs the experiment response function" in text
    assert text.splitlines()[-2:] == [
        "49 claims: holds 14, fails 10, undecided 25",
        "decided by fewer than 3 seeds: 0; hold, but a path was fitted to that: 7",
    ]
