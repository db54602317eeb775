"""A baseline of one run, and a comparison with a run of each state."""

from __future__ import annotations

import dataclasses

from farpath.uses.regress.baseline import BaselineRun, Interval
from farpath.uses.regress.kernel_comparison import Comparison
from farpath.uses.regress.verdict import CaseState, CaseVerdict, judge

#: A run of a baseline, with bounds of two metrics.
KNOWN = BaselineRun(
    "aa", {"throughput_mbps": Interval(90.0, 85.0, 95.0), "retransmits": Interval(3, 3, 3)}
)


def compared() -> Comparison:
    """A run of each state."""
    verdicts = (
        judge("htcp/one-loss", KNOWN, "aa", {}),
        judge("htcp/burst", KNOWN, "bb", {"throughput_mbps": 91.0, "retransmits": 3}),
        judge("cubic/one-loss", KNOWN, "cc", {"throughput_mbps": 50.0, "retransmits": 3}),
        judge("cubic/burst", None, "dd", {}),
        CaseVerdict("reno/burst", CaseState.FAILED, why="the guest panicked <&>"),
    )
    return Comparison("before", "after", verdicts, {})


def divided(sender: CaseState, receiver: CaseState) -> Comparison:
    """The run of them that changed, with the states that it has with one side changed."""
    changed = dataclasses.replace(
        compared().verdicts[2], sides={"sender": sender, "receiver": receiver}
    )
    return dataclasses.replace(compared(), verdicts=(changed,))
