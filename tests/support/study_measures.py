"""Measures of studies, made up."""

from __future__ import annotations

from typing import Any

from experiments.recovery import analysis as recovery
from farpath.metrics.measures import Measure


def measure(experiment: str, quantity: str, value: float, **more: Any) -> Measure:
    """A measure of seed 1; ``about`` and other fields in ``more``."""
    fields: dict[str, Any] = {"condition": "a run", "unit": "s", "seed": 1, **more}
    return Measure(experiment=experiment, quantity=quantity, value=value, **fields)


def recoveries(reno_s: float = 1400.0) -> list[Measure]:
    """Recoveries on the path of 128 ms."""
    about = {"path": "datatag-128", "acks": "delayed", "mtu": "1500"}
    return [
        measure(recovery.EXPERIMENT, recovery.TIME, value, theory=theory,
                about={**about, "stack": stack})
        for stack, value, theory in (
            ("reno_2004", reno_s, 1403.0), ("scalable_2004", 7.0, None), ("hstcp_2004", 19.0, None),
        )
    ]  # fmt: skip
