"""The player's events and the server's log of an HLS stream, and the bounds of its playback."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.planning.request import RunRequest
from farpath.presets.preset import PresetOutput
from farpath.presets.registry import asked_preset
from farpath.presets.video.playback import parse
from farpath.presets.video.preset import PRESET
from tests.support.data import captured

#: Eight seconds of stream over a path whose rate falls to a tenth between 2 and 12 s.
PLAYER, SERVER = captured("presets/video-client.out"), captured("presets/video-server.out")
PATH = {"rtt": "100ms", "rate": "1Mbit,2s:100kbit,12s:1Mbit", "time": "60s"}


def output(tmp_path: FilePath, **options: str) -> PresetOutput:
    """The captured output, as that of a path of its own or of another one."""
    (tmp_path / "client.out").write_text(PLAYER)
    (tmp_path / "server.out").write_text(SERVER)
    plan = RunRequest(**{**PATH, **options}).plan()
    return PresetOutput(tmp_path, plan, asked_preset("video:seconds=8").values)


def test_a_playback_has_its_startup_its_stalls_and_the_bitrates_of_its_segments() -> None:
    playback = parse(PLAYER, SERVER)
    assert playback.startup_s == pytest.approx(0.811, abs=1e-3)
    assert [one.kbps for one in playback.played] == [250, 500, 250, 250]
    assert playback.switches == 2
    ((begin_s, end_s),) = playback.stalls
    assert begin_s < 12 < end_s
    # What was not stalled was played
    assert playback.end_s - playback.startup_s - playback.stalled_s == pytest.approx(8, abs=0.01)


@pytest.mark.parametrize(
    ("player", "server"),
    [("", SERVER), (PLAYER, ""), (PLAYER.replace('"end"', '"error"'), SERVER)],
)
def test_a_stream_that_was_not_played_to_its_end_is_refused(player: str, server: str) -> None:
    with pytest.raises(LabFailedError, match="did not play the stream to its end"):
        parse(player, server)


def test_a_segment_that_was_sent_twice_was_played_once() -> None:
    line = next(line for line in SERVER.splitlines() if "-1.ts" in line)
    again = line.replace("500-1.ts", "250-1.ts").replace('"size":139120', '"size":7')
    twice = parse(PLAYER, f"{SERVER}\n{again}\n")
    assert len(twice.segments) == len(twice.played) + 1


def test_the_captured_playback_keeps_its_bounds_and_would_violate_those_of_other_paths(
    tmp_path: FilePath,
) -> None:
    assert all(one.holds for one in PRESET.findings(output(tmp_path)))
    longer = PRESET.findings(output(tmp_path, rtt="300ms"))
    assert {one.key for one in longer if not one.holds} == {"startup_s"}
    slower = PRESET.findings(output(tmp_path, rate="100kbit"))
    assert {one.key for one in slower if not one.holds} == {"bitrate_mean_kbps"}
