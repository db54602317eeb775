"""tc: samples of a queue, captured in the lab, and broken lines."""

from __future__ import annotations

import pytest

from farpath.base.errors import LabFailedError
from farpath.tools import tc
from tests.support.data import captured


def test_a_queues_samples_are_read() -> None:
    rows = tc.parse_samples(captured("tc/queue_samples.txt"))
    assert [row.t_s for row in rows] == [0, 1, 30, 80]
    assert rows[2] == tc.QueueSample(30.0, 10_183_164, 6726, 15_115, 1_539_836_887, 1_017_155)


@pytest.mark.parametrize("line", ["1.0", "1.0 [{", "x []", '1.0 [{"kind": "tbf"}]', "1.0 [] 3"])
def test_a_broken_line_of_the_queues_samples_is_named(line: str) -> None:
    with pytest.raises(LabFailedError, match="line 1 of"):
        tc.parse_samples(line + "\n")
