"""Where a run is stopped: what options say, and what they may not say."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.uses.debug.stop import Stop, parse_stop
from tests.support.refusals import refused

FLOWS = ("flow1", "flow2")


@pytest.mark.parametrize(
    ("given", "stop"),
    [
        ({"at": "12.3401s"}, Stop("at", 12.3401)),
        ({"break": "tcp_enter_loss"}, Stop("break", function="tcp_enter_loss")),
        ({"break": "tcp_ack:flow2"}, Stop("break", function="tcp_ack", flow="flow2")),
        ({"packet": "flow1:1000"}, Stop("packet", flow="flow1", number=1000)),
        ({"packet": "flow1:seq=0"}, Stop("packet", flow="flow1", number=0, sequence=True)),
        ({"drop": True, "at": "2s"}, Stop("drop", 2.0)),
        ({"mark": True}, Stop("mark")),
        ({"timeout": True}, Stop("timeout")),
        (
            {"watch": "flow1.snd_cwnd<10"},
            Stop("watch", flow="flow1", field="snd_cwnd", comparison="<", number=10),
        ),
        (
            {"watch": "flow1.snd_una >= -1"},
            Stop("watch", flow="flow1", field="snd_una", comparison=">=", number=-1),
        ),
    ],
)
def test_an_option_names_an_instant_or_an_event(
    given: dict[str, str | bool | None], stop: Stop
) -> None:
    assert parse_stop(given, FLOWS) == stop
    assert Stop(**stop.to_json()) == stop


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("at", "12"),
        ("at", "-1s"),
        ("break", "tcp ack"),
        ("break", ":flow1"),
        ("break", "tcp_ack:flow3"),
        ("packet", "flow1"),
        ("packet", "flow1:0"),
        ("packet", "flow9:1"),
        ("watch", "snd_cwnd<10"),
        ("watch", "flow1.snd_cwnd<ten"),
        ("watch", "flow7.snd_cwnd<10"),
    ],
)
def test_what_names_no_place_is_refused_with_one_that_does(option: str, text: str) -> None:
    with refused(option, text):
        parse_stop({option: text}, FLOWS)


@pytest.mark.parametrize("given", [{}, {"drop": True, "mark": True}])
def test_a_run_is_stopped_at_one_place(given: dict[str, str | bool | None]) -> None:
    with pytest.raises(BadInputError, match="stop"):
        parse_stop(given, FLOWS)
