"""Text: verdicts for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from farpath.analysis.claims.verdict import FAILS, HOLDS, UNDECIDED, ClaimVerdict

COLUMNS = 100
INDENT = " " * 16


def count_states(verdicts: Iterable[ClaimVerdict]) -> dict[str, int]:
    """How many claims hold, fail and are undecided."""
    states = [verdict.state for verdict in verdicts]
    return {state: states.count(state) for state in (HOLDS, FAILS, UNDECIDED)}


def as_text(verdicts: Sequence[ClaimVerdict]) -> str:
    """Every verdict with its claim and its numbers, and how many there are of each."""
    blocks = [line for verdict in verdicts for line in _lines(verdict)]
    counts = count_states(verdicts)
    blocks.append("")
    blocks.append(
        f"{len(verdicts)} claims: {', '.join(f'{state} {many}' for state, many in counts.items())}"
    )
    return "\n".join(blocks)


def _lines(verdict: ClaimVerdict) -> list[str]:
    head = f"{verdict.id:<4}{verdict.state:<12}"
    said = [_wrapped(verdict.claim.claim, head)]
    said += [_wrapped(str(each.condition)) for each in verdict.checked]
    if verdict.by_seed:
        said.append(_wrapped(verdict.seeds()))
    said += [_wrapped(text) for text in (verdict.why, *verdict.remarks) if text]
    return said


def _wrapped(text: str, head: str = INDENT) -> str:
    return textwrap.fill(
        text, COLUMNS, initial_indent=head, subsequent_indent=INDENT, break_on_hyphens=False
    )
