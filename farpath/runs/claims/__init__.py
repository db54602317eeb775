"""Claims of the study's documents, each judged by the results of a campaign."""

from farpath.runs.claims.condition import Condition
from farpath.runs.claims.judge import judge, judge_all
from farpath.runs.claims.verdict import (
    FAILS,
    HOLDS,
    UNDECIDED,
    ClaimVerdict,
    CriterionResult,
    state_of,
)
from farpath.runs.claims.verdict_text import as_text, count_states, totals

__all__ = [
    "FAILS",
    "HOLDS",
    "UNDECIDED",
    "ClaimVerdict",
    "Condition",
    "CriterionResult",
    "as_text",
    "count_states",
    "judge",
    "judge_all",
    "state_of",
    "totals",
]
