"""Verdicts as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from farpath.runs.claims.chance import chance_sentence
from farpath.runs.claims.verdict import FAILS, HOLDS, SEEDS_TO_TELL, UNDECIDED, ClaimVerdict

COLUMNS = 100
INDENT = " " * 16


def count_states(verdicts: Iterable[ClaimVerdict]) -> dict[str, int]:
    """Count the claims that hold, fail and are undecided."""
    states = [verdict.state for verdict in verdicts]
    return {state: states.count(state) for state in (HOLDS, FAILS, UNDECIDED)}


def totals(verdicts: Sequence[ClaimVerdict]) -> tuple[str, str]:
    """Count all states, and how many verdicts rest on few seeds or on a fit: two sentences."""
    states = ", ".join(f"{state} {count}" for state, count in count_states(verdicts).items())
    few = sum(verdict.by_few_seeds for verdict in verdicts)
    fitted = sum(verdict.state == HOLDS and bool(verdict.fitted) for verdict in verdicts)
    return (
        f"{len(verdicts)} claims: {states}",
        f"decided by fewer than {SEEDS_TO_TELL} seeds: {few}; hold, but a path was fitted to that: "
        f"{fitted}",
    )


def as_text(verdicts: Sequence[ClaimVerdict]) -> str:
    """Format every verdict with its claim and its numbers, then the count of each state."""
    blocks = [line for verdict in verdicts for line in _lines(verdict)]
    blocks += ["", *totals(verdicts)]
    if sentence := chance_sentence(verdicts):
        blocks.append(textwrap.fill(sentence, COLUMNS))
    return "\n".join(blocks)


def _lines(verdict: ClaimVerdict) -> list[str]:
    head = f"{verdict.id:<4}{verdict.state:<12}"
    lines = [_wrapped(verdict.claim.claim, head)]
    lines += [_wrapped(str(result.condition)) for result in verdict.criteria]
    if verdict.by_seed:
        lines.append(_wrapped(verdict.seeds()))
    fitted = f"fitted: {verdict.fitted}" if verdict.fitted else ""
    lines += [_wrapped(text) for text in (verdict.why, *verdict.remarks, fitted) if text]
    return lines


def _wrapped(text: str, head: str = INDENT) -> str:
    return textwrap.fill(
        text, COLUMNS, initial_indent=head, subsequent_indent=INDENT, break_on_hyphens=False
    )
