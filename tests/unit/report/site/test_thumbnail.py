"""Thumbnails: flows in a box."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

from farpath.report.site.thumbnail import HEIGHT, WIDTH, areas
from tests.support.campaigns import write_named


def test_a_thumbnail_stays_in_its_box_and_stacks_its_flows(tmp_path: FilePath) -> None:
    record = write_named(tmp_path, "cern", "fast", 1)
    drawn = areas(record.samples, record.plan)
    assert len(drawn) == 4
    tops = []
    for path in drawn:
        numbers = [tuple(map(float, pair)) for pair in re.findall(r"L([\d.]+) ([\d.]+)", path)]
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in numbers)
        tops.append(sum(y for _, y in numbers))
    assert tops == sorted(tops)
