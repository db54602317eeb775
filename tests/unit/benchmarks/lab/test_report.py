"""The benchmark's text."""

from __future__ import annotations

import json

from benchmarks.lab.figure import Figure, Goal
from benchmarks.lab.report import render


def _report(*figures: Figure) -> str:
    figures_data = {
        "quick": True,
        "machine": {"cpu_model": "a CPU", "cores": 2, "kernel": "6.1", "load_before": 0.5},
        "figures": {str(number): each.as_dict() for number, each in enumerate(figures)},
    }
    return render(json.loads(json.dumps(figures_data)))


def test_the_report_sets_measured_beside_goal() -> None:
    text = _report(
        Figure("speed", 300_000.0, "packets/s", Goal(450_000, False), "one flow"),
        Figure("time", 61.25, "s", Goal(90, True), "a guess", estimated=True),
    )
    speed, time = (line for line in text.splitlines() if line.startswith(("speed", "time")))
    assert " ".join(speed.split()) == "speed 300 kpackets/s at least 450 kpackets/s NOT reached"
    assert " ".join(time.split()) == "time about 61.2 s at most 90 s reached"
    assert "    one flow" in text.splitlines()


def test_a_figure_that_cannot_be_had_says_what_to_do() -> None:
    text = _report(Figure("ns-3", None, "times", Goal(150, False), "apt-get install libns3-dev"))
    assert "reached" not in text
    assert "apt-get install libns3-dev" in text


def test_the_report_fits_a_hundred_columns() -> None:
    text = _report(Figure("f" * 41, 123.0, "packets/s", Goal(1e6, False), "word " * 100))
    assert f"{'f' * 41} 123 packets/s" in text
    assert max(len(line) for line in text.splitlines()) <= 100
