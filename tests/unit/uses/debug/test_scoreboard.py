"""What a sender knows of its segments, in ranges."""

from __future__ import annotations

from farpath.uses.debug.inside.scoreboard import (
    EVER_RETRANSMITTED,
    LOST,
    RETRANSMITTED,
    SACKED,
    Segment,
    ranges,
    scoreboard_lines,
)


def test_segments_of_one_state_are_one_range() -> None:
    segments = [
        Segment(0, 1448, LOST | RETRANSMITTED | EVER_RETRANSMITTED),
        Segment(1448, 2896, SACKED),
        Segment(2896, 4344, SACKED),
        Segment(4344, 5792, EVER_RETRANSMITTED),
        Segment(5792, 7240, 0),
    ]
    assert [(one["state"], one["segments"]) for one in ranges(segments)] == [
        ("retransmitted, lost", 1),
        ("sacked", 2),
        ("retransmitted before", 1),
        ("in flight", 1),
    ]
    assert scoreboard_lines(segments)[1].split() == [
        "1,448",
        "-",
        "4,344",
        "2",
        "segments",
        "sacked",
    ]


def test_a_connection_without_anything_on_its_way_says_so() -> None:
    assert scoreboard_lines([]) == ["nothing is without acknowledgement"]
