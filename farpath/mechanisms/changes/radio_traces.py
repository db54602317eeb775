"""Traces of delivery opportunities of a cellular link and of Wi-Fi, drawn from two models.

The paths ``lte-trace`` and ``wifi-trace`` have them:
``python -m farpath.mechanisms.changes.radio_traces`` writes them beside the files of these paths.
Both repeat after ``LENGTH_MS``.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from importlib import resources
from pathlib import Path as FilePath

#: Length of a trace: a run of 30 s has it twice.
LENGTH_MS = 15_000
SEED = 1
#: Name of the file of a trace in mahimahi's format, by the name of its path.
FILE = "{}.down"

# The cellular link: Winstein, Sivaraman, Balakrishnan, Stochastic Forecasts Achieve High Throughput
# and Low Delay over Cellular Networks, NSDI 2013, section 3.1. Packets are a Poisson process whose
# rate is a Brownian motion between 0 and a largest rate; at 0 it stays for an exponential time.
#: Noise of the rate, in packets/s per root of a second.
LTE_NOISE = 200.0
#: Rate in 1/s at which an outage ends.
LTE_OUTAGE_ENDS = 1.0
#: Largest rate, in packets/s: 11 Mbit/s in the paper. Here that of a later network.
LTE_MOST = 2_000.0
LTE_FIRST = 1_000.0

# Wi-Fi: an access point that always has packets sends aggregates (A-MPDU) of as many as fit into
# the longest PPDU, and a second station, as busy, takes the air with equal chance before each.
# Numbers are those of IEEE 802.11-2020, clause 19 (HT), and of its EDCA's best effort.
#: aPPDUMaxTime in us.
WIFI_PPDU_US = 5484.0
#: MCS 7 at 20 MHz with a guard interval of 800 ns, in Mbit/s.
WIFI_MBPS = 65.0
#: Preamble (mixed format, one stream), SIFS, and a block ACK at 24 Mbit/s, in us.
WIFI_OVERHEAD_US = 36.0 + 16.0 + 32.0
#: AIFS (SIFS and three slots) and slot in us, and the least contention window in slots.
WIFI_AIFS_US, WIFI_SLOT_US, WIFI_CONTENTION = 43.0, 9.0, 15
#: An MPDU of a packet of 1500 bytes, with its header, check, LLC and delimiter, in bytes.
WIFI_MPDU_BYTES = 1500 + 26 + 4 + 8 + 4


def lte_ms(length_ms: int = LENGTH_MS, seed: int = SEED) -> list[int]:
    """Return the times in ms at which a cellular link can deliver a packet."""
    rng = random.Random(seed)
    rate, outage_ms = LTE_FIRST, 0.0
    times_ms: list[int] = []
    for now_ms in range(1, length_ms + 1):
        if outage_ms > 0:
            outage_ms -= 1
            continue
        rate = min(rate + rng.gauss(0, LTE_NOISE * 1e-3**0.5), LTE_MOST)
        if rate <= 0:
            rate, outage_ms = 0.0, 1e3 * rng.expovariate(LTE_OUTAGE_ENDS)
            continue
        waited_ms = rng.expovariate(rate / 1e3)
        while waited_ms < 1:
            times_ms.append(now_ms)
            waited_ms += rng.expovariate(rate / 1e3)
    return times_ms


def wifi_ms(length_ms: int = LENGTH_MS, seed: int = SEED) -> list[int]:
    """Return the times in ms at which an access point of Wi-Fi can deliver a packet."""
    rng = random.Random(seed)
    mpdu_us = 8 * WIFI_MPDU_BYTES / WIFI_MBPS
    packets = int(WIFI_PPDU_US / mpdu_us)
    sent_us = packets * mpdu_us + WIFI_OVERHEAD_US
    times_ms: list[int] = []
    now_us = 0.0
    while now_us < 1e3 * length_ms:
        # The winner has the lesser backoff of two
        backoff = min(rng.randint(0, WIFI_CONTENTION), rng.randint(0, WIFI_CONTENTION))
        now_us += WIFI_AIFS_US + backoff * WIFI_SLOT_US + sent_us
        if rng.random() < 0.5:
            times_ms += [round(now_us / 1e3)] * packets
    return [time_ms for time_ms in times_ms if time_ms <= length_ms]


TRACES = {"lte-trace": lte_ms, "wifi-trace": wifi_ms}


def trace_text(times_ms: Iterable[int]) -> str:
    """Return the text of a trace's file."""
    return "".join(f"{time_ms}\n" for time_ms in times_ms)


def main() -> None:
    """Write both traces beside the files of their paths."""
    folder = FilePath(str(resources.files("topologies"))) / "paths"
    for name, times_ms in TRACES.items():
        (folder / FILE.format(name)).write_text(trace_text(times_ms()))


if __name__ == "__main__":
    main()
