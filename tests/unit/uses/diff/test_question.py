"""What is compared: wrong words are refused in one line before a lab starts."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.uses.diff.question import question
from tests.support.refusals import refused

RUN = "rtt=20ms rate=20Mbit time=5s stack=reno"


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("results/none", RUN, "results/none: is not a directory"),
        ("rtt=20ms bogus=3", RUN, "'bogus' is no option of a run with a value"),
        (RUN, "stack=nothing", "nothing"),
        (RUN, "rtt=20ms clock=wall", "takes real time"),
        (RUN, None, "a run is compared with another one"),
    ],
)
def test_what_names_no_run_is_refused(a: str, b: str | None, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as caught:
        question(a, b, None, None)
    assert "\n" not in caught.value.message


def test_runs_are_captured_everywhere_and_traced_and_only_where_both_can_be() -> None:
    two = question(RUN, "--rtt=20ms --stack=cubic --ip=6 --time=5s", None, None)
    assert two.places == ("sender", "receiver", "bottleneck", "pinger")
    assert two.b.planned.plan.ip_version == 6
    assert {each.planned.plan.settings.trace_interval_s for each in (two.a, two.b)} == {0.005}
    many = question(RUN, f"{RUN} senders=rtt=40ms", None, None)
    assert "sender2" not in many.places
    # Tracers at several hosts would move packets
    assert many.a.planned.plan.settings.trace_interval_s == 0.005
    assert many.b.planned.plan.settings.trace_interval_s == 0
    with refused("capture", "moon"):
        question(RUN, RUN, None, "moon")


def test_a_run_that_is_too_long_for_all_captures_has_those_of_its_hosts() -> None:
    text = "path=cern stack=htcp region=15s"
    two = question(text, text, None, None)
    assert two.places
    assert two.left_out
    assert two.places[0] == "sender"
