"""Thumbnails: flows in a box."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

from farpath.report.figures.stack_colours import look_of
from farpath.report.site.thumbnail import HEIGHT, WIDTH, areas
from tests.support.campaigns import write_named


def test_a_thumbnail_stays_in_its_box_and_stacks_its_flows(tmp_path: FilePath) -> None:
    record = write_named(tmp_path, "cern", "fast", 1)
    drawn = areas(record.samples, record.plan)
    assert len(drawn) == 4
    tops = []
    for area in drawn:
        numbers = [tuple(map(float, pair)) for pair in re.findall(r"L([\d.]+) ([\d.]+)", area.path)]
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in numbers)
        tops.append(sum(y for _, y in numbers))
    assert tops == sorted(tops)
    # The first flow has its stack's colour, and others have shades of it
    assert drawn[-1].css == look_of("fast").css == "var(--hue-sky)"
    assert all(area.css.startswith("color-mix(in srgb, var(--hue-sky), ") for area in drawn[:-1])
