"""Metrics of a case."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pandas
import pytest

from farpath.metrics import flow as flow_metrics
from farpath.record.record import Record
from farpath.uses.regress import metrics
from farpath.uses.regress.suite import trials


def test_a_recovery_over_ipv6_is_to_the_window_that_ipv6s_packets_fill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (trial,) = trials(("reno",), ("one-loss",))
    plan = trial.plan(1)
    lost_s = plan.droppers[0].numbers[-1]
    times_s = [0.1 * tick for tick in range(1, 10 * round(lost_s) + 1000)]
    # More than the receiver offers, but for the time after the loss
    windows = [1e7 if t_s <= lost_s else 10 * (t_s - lost_s) for t_s in times_s]
    frame = pandas.DataFrame({"t_s": times_s, "window": windows})
    monkeypatch.setattr(metrics, "window_series", lambda _record: frame)
    fractions = {
        version: metrics.recovery(
            Record(FilePath(), {"plan": dataclasses.replace(plan, ip_version=version).as_dict()})
        )["kept_fraction"]
        for version in (4, 6)
    }
    payload = {version: flow_metrics.payload_bytes(plan.path, version) for version in (4, 6)}
    assert payload[4] != payload[6]
    assert fractions[6] / fractions[4] == pytest.approx(payload[6] / payload[4])
