"""Traces of LTE and Wi-Fi that are drawn from models: their files, and the models' own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from farpath.mechanisms.changes import radio_traces as traces
from farpath.planning.path_files import named_paths, path_by_name


@pytest.mark.parametrize("name", traces.TRACES)
def test_the_file_of_a_path_has_the_trace_that_is_drawn_for_it(name: str) -> None:
    file = named_paths()[name].with_name(traces.FILE.format(name))
    drawn = traces.TRACES[name]()
    assert file.read_text() == traces.trace_text(drawn)
    assert path_by_name(name).rate_trace == tuple(drawn)


def test_the_air_of_wi_fi_is_shared_with_one_other_station() -> None:
    # The mean of the lesser of two draws of 0 to 15 is the sum of P(both >= k) for k from 1
    backoff_us = traces.WIFI_SLOT_US * sum(((16 - k) / 16) ** 2 for k in range(1, 16))
    mpdu_us = 8 * traces.WIFI_MPDU_BYTES / traces.WIFI_MBPS
    packets = int(traces.WIFI_PPDU_US / mpdu_us)
    turn_us = traces.WIFI_AIFS_US + backoff_us + packets * mpdu_us + traces.WIFI_OVERHEAD_US
    drawn = len(traces.wifi_ms(600_000)) / 600
    expected = packets / 2 / turn_us * 1e6
    print(f"{drawn:.1f} / {expected:.1f} packets/s, {packets} in an aggregate")
    assert drawn == pytest.approx(expected, rel=0.02)


def test_the_rate_of_a_cellular_link_walks_as_its_noise_says() -> None:
    # Counts of two seconds, one after the other: the walk moves by its noise, but for its ends
    times_ms = traces.lte_ms(1_800_000)
    counts = np.bincount(np.array(times_ms) // 1000, minlength=1800)[:1800].astype(float)
    inside = (counts[:-1] > 500) & (counts[:-1] < 1500)
    # The mean of a second moves by 2/3 of a second's variance, and each count has its own
    spread = np.std(np.diff(counts)[inside])
    expected = np.sqrt(2 / 3 * traces.LTE_NOISE**2 + 2 * counts[:-1][inside].mean())
    print(f"{spread:.0f} / {expected:.0f} packets/s")
    assert spread == pytest.approx(expected, rel=0.1)
    assert max(times_ms) <= 1_800_000
