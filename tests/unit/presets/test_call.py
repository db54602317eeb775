"""Packets of a call at both ends, and the bounds of their delays and losses."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.planning.request import RunRequest
from farpath.presets.call.preset import PRESET, delay_bound, loss_bound
from farpath.presets.call.rtp_packets import parse
from farpath.presets.preset import PresetOutput
from farpath.presets.registry import asked_preset
from tests.support.data import captured

#: Two seconds at an RTT of 50 ms, 2 Mbit/s, a loss of 5 % and a jitter of 15 ms.
CALLER, CALLEE = captured("presets/call-client.out"), captured("presets/call-server.out")
PATH = {"rtt": "50ms", "rate": "2Mbit", "loss": "5%", "jitter": "15ms"}


def output(tmp_path: FilePath, **options: str) -> PresetOutput:
    """The captured output, as that of a path of its own or of another one."""
    (tmp_path / "client.out").write_text(CALLER)
    (tmp_path / "server.out").write_text(CALLEE)
    plan = RunRequest(**{**PATH, **options}).plan()
    return PresetOutput(tmp_path, plan, asked_preset("call:seconds=2,buffer=5").values)


def test_each_direction_has_the_delays_of_its_packets_and_those_that_were_lost() -> None:
    to_server, to_client = parse(CALLER, CALLEE)
    assert len(to_server.sent_s) == len(to_client.sent_s) == 101
    assert [len(one.sent_s) - len(one.delays_ms) for one in (to_server, to_client)] == [5, 9]
    for one in (to_server, to_client):
        # Half of the RTT, less or more by the jitter
        assert 10 <= one.delay_ms(0) < one.delay_ms(100) <= 41
    assert (to_server.concealed, to_client.concealed) == (4.75, 8.75)


@pytest.mark.parametrize(("caller", "callee"), [("", CALLEE), (CALLER, ""), (CALLER, CALLER[:-9])])
def test_an_end_without_packets_or_statistics_is_refused(caller: str, callee: str) -> None:
    with pytest.raises(LabFailedError, match="an end of the call has no packets"):
        parse(caller, callee)


def test_the_captured_call_keeps_its_bounds_and_would_violate_those_of_other_paths(
    tmp_path: FilePath,
) -> None:
    assert all(one.holds for one in PRESET.findings(output(tmp_path)))
    longer = PRESET.findings(output(tmp_path, rtt="90ms"))
    assert {one.key for one in longer if not one.holds} == {"one_way_min_ms"}
    lossless = PRESET.findings(output(tmp_path, loss="0"))
    assert {one.key for one in lossless if not one.holds} == {"lost_percent"}


def test_the_longest_delay_has_the_buffer_of_its_direction(tmp_path: FilePath) -> None:
    path = output(tmp_path, jitter="0", buffer="100kB", up_rate="1Mbit", up_buffer="50kB")
    bounds = [delay_bound(path, is_back) for is_back in (False, True)]
    assert [one.value for one in bounds if one] == pytest.approx([25 + 400, 25 + 400], rel=0.05)
    assert delay_bound(output(tmp_path, queue="fq_codel"), is_back=False) is None


def test_losses_on_purpose_and_in_queues_have_no_bound(tmp_path: FilePath) -> None:
    assert loss_bound(output(tmp_path), 101) is not None
    assert loss_bound(output(tmp_path, drop="packets:7"), 101) is None
    assert loss_bound(output(tmp_path, background="25%"), 101) is None
