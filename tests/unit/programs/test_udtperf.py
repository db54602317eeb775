"""UDT's flows: the paths on which they cannot run."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.request import RunRequest


def test_udt_is_refused_where_two_round_trips_take_longer_than_it_waits_for_a_connection() -> None:
    RunRequest(rtt="1499ms", stack="udt", rate="1Mbit").plan()
    with pytest.raises(BadInputError) as caught:
        RunRequest(rtt="1500ms", stack="udt", rate="1Mbit").plan()
    assert (caught.value.option, caught.value.given) == ("stack", "udt")
