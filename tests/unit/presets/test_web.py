"""Times of page loads by curl and by qlog, and their bounds."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.planning.request import RunRequest
from farpath.presets.preset import PresetOutput
from farpath.presets.registry import asked_preset
from farpath.presets.web.page_loads import parse
from farpath.presets.web.preset import PRESET, load_bound
from tests.support.data import captured

#: Seven objects of 1000 bytes at an RTT of 50 ms and 20 Mbit/s.
OUTPUT = captured("presets/web.out")


def output(tmp_path: FilePath, rtt_ms: float = 50.0, asked: str = "") -> PresetOutput:
    """The captured output, as that of a path of an RTT."""
    (tmp_path / "client.out").write_text(OUTPUT)
    values = asked_preset(asked or "web:objects=7,size=1000").values
    plan = RunRequest(rtt=f"{rtt_ms}ms", rate="20Mbit").plan()
    return PresetOutput(tmp_path, plan, values)


def test_each_version_has_its_round_trips() -> None:
    loads = {one.version: one for one in parse(OUTPUT)}
    assert [one.connections for one in loads.values()] == [6, 1, 1]
    rtts = {key: (one.handshake_s / 0.05, one.first_byte_s / 0.05) for key, one in loads.items()}
    assert rtts["1.1"] == pytest.approx((2, 3), rel=0.02)
    assert rtts["2"] == pytest.approx((2, 3), rel=0.02)
    assert rtts["3"] == pytest.approx((1, 2), rel=0.03)


@pytest.mark.parametrize(
    ("damaged", "words"),
    [
        ("", "the client loaded no page"),
        (OUTPUT.replace("transfer 2 ", "transfer 1.1 "), "over HTTP/2 are damaged"),
        (OUTPUT.replace('"stream_id":0', '"stream_id":3'), "over HTTP/3 are damaged"),
    ],
)
def test_an_output_of_another_version_or_without_answers_is_refused(
    damaged: str, words: str
) -> None:
    if words.startswith("over HTTP/3"):
        damaged = damaged.replace('"frame_type":"stream"', '"frame_type":"other"')
    with pytest.raises(LabFailedError, match=words):
        parse(damaged)


def test_six_connections_bound_the_loads_of_http_1_and_bytes_those_of_the_others(
    tmp_path: FilePath,
) -> None:
    of_requests = output(tmp_path, asked="web:objects=30,size=1000")
    bounds = [load_bound(one, of_requests) for one in ("1.1", "2", "3")]
    assert [one.value for one in bounds if one is not None] == pytest.approx(
        # Two handshakes and five requests after each other; three and two round trips and bytes
        [7 * 0.05, 3 * 0.05 + 0.012, 2 * 0.05 + 0.012]
    )


def test_the_captured_loads_keep_their_bounds_and_would_violate_those_of_a_longer_path(
    tmp_path: FilePath,
) -> None:
    assert all(one.holds for one in PRESET.findings(output(tmp_path)))
    longer = PRESET.findings(output(tmp_path, rtt_ms=60.0))
    violated = {(one.key, one.of) for one in longer if not one.holds}
    # Over HTTP/2 the answer came a round trip later than it may
    assert violated == {(one.key, one.of) for one in longer} - {("page_load_s", "HTTP/2")}
