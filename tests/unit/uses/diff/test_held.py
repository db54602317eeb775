"""What packets and samples of a trace say of a connection at an instant."""

from __future__ import annotations

from pathlib import Path as FilePath

import pandas as pd

from farpath.mechanisms.trace.trace_table import COLUMNS
from farpath.uses.diff.held import first_other_sample, from_packets, samples_around
from tests.support.packet_files import Sent, handshake, sack
from tests.support.two_captures import Frame, place_of

MS = 1_000_000


def test_the_scoreboard_is_that_of_the_sack_blocks_that_arrived(tmp_path: FilePath) -> None:
    frames: list[Frame] = [
        *handshake(),
        *(Sent(50 * MS, True, 1 + 1000 * number, 1, 1000) for number in range(5)),
        Sent(90 * MS, False, 1, 1001),
        # The second segment is lost; the third, then the fourth and fifth arrive
        Sent(91 * MS, False, 1, 1001, options=sack(2001, 3001)),
        Sent(92 * MS, False, 1, 1001, options=sack(2001, 5001)),
        Sent(93 * MS, True, 1001, 1, 1000),
    ]
    tcp = place_of(tmp_path, "sender", frames, frames).a.tcp
    assert tcp is not None
    held = from_packets(tcp.segments, 95 * MS)
    assert (held.una, held.nxt) == (1001, 5001)
    assert held.scoreboard == ((2001, 5001),)
    assert held.outstanding_bytes == 1000
    assert held.duplicate_acks == 2
    assert held.sent_again == 1
    assert (held.ack_age_ms, held.sent_age_ms) == (5.0, 2.0)
    before = from_packets(tcp.segments[:8], 50 * MS)
    assert (before.una, before.scoreboard, before.sent_again) == (1, (), 0)
    assert before.ack_age_ms is None


def _trace(cwnd_packets: list[int]) -> pd.DataFrame:
    rows = [
        {**dict.fromkeys(COLUMNS, 0), "flow": "flow1", "ca_state": "open", "ssthresh_packets": -1,
         "t_s": 0.005 * number, "cwnd_packets": cwnd}
        for number, cwnd in enumerate(cwnd_packets)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_samples_are_those_at_or_before_an_instant_and_behind_it() -> None:
    trace = _trace([10, 11, 12])
    around = samples_around(trace, "flow1", 5 * MS)
    assert around.before is not None
    assert around.after is not None
    assert (around.before["t_s"], around.before["cwnd_packets"]) == (0.005, 11)
    assert around.before["ssthresh_packets"] is None
    assert around.after["cwnd_packets"] == 12
    assert samples_around(trace, "flow1", 99 * MS).after is None
    assert samples_around(None, "flow1", 0).before is None
    other = first_other_sample(trace, _trace([10, 11, 13]), "flow1")
    assert other is not None
    assert [each["cwnd_packets"] for each in other] == [12, 13]
    assert first_other_sample(trace, trace, "flow1") is None
