"""CAPTURE names places, and refuses what a run cannot capture."""

from __future__ import annotations

import pytest

from farpath.mechanisms.capture.mechanism import parse_captures
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.spec.capture import Capture
from farpath.spec.capture_sizes import most_bytes
from tests.support.refusals import refused


def test_a_place_has_the_usual_bytes_of_a_packet_unless_said() -> None:
    assert parse_captures("sender,bottleneck:64") == (Capture("sender"), Capture("bottleneck", 64))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sender,",
        "sender,sender:64",
        "sender:63",
        "sender:1e3",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with refused("capture"):
        parse_captures(text)


@pytest.mark.parametrize(
    "options",
    [
        {"capture": "server"},
        {"capture": "bottleneck2"},
        {"capture": "sender", "clock": "cpu"},
        {"capture": "sender", "lab": "host"},
        {"capture": "sender:1514", "time": "300s"},
    ],
)
def test_a_run_that_cannot_be_captured_is_refused(options: dict[str, str]) -> None:
    with refused("capture"):
        RunRequest(**{"rtt": "50ms", "stack": "cubic", "time": "10s", **options}).plan()


def test_a_capture_raises_the_memory_of_the_guest_by_its_size() -> None:
    request = RunRequest(rtt="50ms", rate="450Mbit", stack="cubic", time="60s")
    plain = request.plan()
    captured = request.changed(capture="sender").plan()
    more_bytes = captured.settings.memory_bytes - plain.settings.memory_bytes
    assert more_bytes > 0.3 * most_bytes(captured, Capture("sender")) > 100e6


def test_a_run_without_captures_keeps_its_identity_and_one_with_them_has_another() -> None:
    request = RunRequest(rtt="50ms", stack="cubic", time="10s")
    with_captures = [request.changed(capture=text) for text in (None, "sender", "sender:64")]
    assert len({plan_identity(one.plan()) for one in with_captures}) == 3
