"""The bottleneck as a link: datagrams of all sizes through a queue with one server."""

from __future__ import annotations

import gzip
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path as FilePath
from statistics import fmean, median
from typing import NamedTuple

import pytest

from benchmarks.lab.figure import rate_error_percent
from farpath.planning.request import RunRequest
from farpath.tools import tc

from ..conftest import RunPlan
from ..test_exec import Lab

RATE_BPS = 10_000_000
#: Time from a datagram's reading of the clock to its arrival at the link: sendto, and the first
#: time that the switches see its addresses.
SENDING_US = 15.0
#: A ping of the run beside the datagrams has a frame of so many bytes, and one is sent each second.
PING_BYTES = 98
#: Sends for each argument datagrams: pairs of a frame's size in bytes and its gap to the one before
#: in ns.
CLIENT = """
import socket, struct, sys, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
address = (socket.gethostbyname("server"), 9000)
for label, argument in enumerate(sys.argv[1:]):
    pairs = list(map(int, argument.split()))
    at_ns = time.monotonic_ns() + 1_000_000
    for size, gap_ns in zip(pairs[::2], pairs[1::2]):
        at_ns += gap_ns
        while (left_ns := at_ns - time.monotonic_ns()) > 0:
            time.sleep(left_ns / 1e9)
        message = struct.pack("=BHQ", label, size, time.monotonic_ns())
        out.sendto(message.ljust(size - 42, bytes(1)), address)
    time.sleep(5)
"""
SERVER = """
import socket, struct, time
arriving = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
arriving.bind(("0.0.0.0", 9000))
arriving.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
while True:
    data = arriving.recv(2000)
    now_ns = time.monotonic_ns()
    print(*struct.unpack_from("=BHQ", data), now_ns, flush=True)
"""


class Datagram(NamedTuple):
    """A datagram: size of its frame, and when it was sent and came, by the one clock of the lab."""

    frame_bytes: int
    sent_ns: int
    came_ns: int


def _arrivals(sizes: Sequence[int], load: float, rate_bps: int = RATE_BPS) -> list[int]:
    """Sizes and gaps of datagrams that arrive by a Poisson process."""
    drawn = random.Random(7)
    mean_ns = 8e9 * fmean(sizes) / rate_bps / load
    return [number for size in sizes for number in (size, round(drawn.expovariate(1 / mean_ns)))]


def _send(
    directory: FilePath, loads: Iterable[Sequence[int]], rate: str, queue: str | None = None
) -> list[list[Datagram]]:
    """Send datagrams over 20 ms, and return what arrives of each load."""
    lab = Lab(directory)
    outcome = lab.run(
        (sys.executable, "-c", CLIENT, *(" ".join(map(str, load)) for load in loads)),
        [(sys.executable, "-c", SERVER)],
        rtt="20ms",
        rate=rate,
        buffer="10MB",
        queue=queue,
    )
    text = (outcome.directory / "server.out").read_text()
    rows = [list(map(int, line.split())) for line in text.splitlines()]
    return [
        [Datagram(*row[1:]) for row in group] for _, group in groupby(rows, key=lambda row: row[0])
    ]


def test_datagrams_of_all_sizes_pay_their_own_time_and_wait_for_those_before(
    tmp_path: FilePath,
) -> None:
    # Lindley's recursion for a queue with one server, of the very arrivals. The laws that it
    # stands for: a frame's own time; 24 small frames at once on an idle link; M/D/1 for frames of
    # 1514 and 1042 bytes, M/G/1 for mixed ones (Pollaczek and Khinchine).
    loads = {
        "own time": [1514, 100_000_000] * 5,
        "24 at once": [66, 0] * 24,
        "M/D/1, 1514 bytes, 0.5": _arrivals([1514] * 1000, 0.5),
        "M/D/1, 1514 bytes, 0.8": _arrivals([1514] * 1000, 0.8),
        "M/D/1, 1042 bytes, 0.8": _arrivals([1042] * 1000, 0.8),
        "M/G/1, 0.7": _arrivals(random.Random(8).choices((66, 590, 1514), k=1000), 0.7),
    }
    for (name, load), arrived in zip(
        loads.items(), _send(tmp_path, loads.values(), "10Mbit"), strict=True
    ):
        assert 2 * len(arrived) == len(load)
        _hold_against_lindley(name, arrived, RATE_BPS)


@pytest.mark.parametrize(
    ("rate", "rate_bps", "count", "load"),
    [
        # A ping of each second takes 8 ms there, and a longer queue would hold some of them
        ("100kbit", 100_000, 100, 0.4),
        ("1Mbit", 1_000_000, 1000, 0.8),
        ("100Mbit", 100_000_000, 1000, 0.8),
        ("1Gbit", 1_000_000_000, 1000, 0.8),
    ],
)
def test_queues_of_poisson_arrivals_are_those_of_theory_at_each_rate(
    tmp_path: FilePath, rate: str, rate_bps: int, count: int, load: float
) -> None:
    mixed = random.Random(8).choices((66, 590, 1514), k=count)
    loads = {
        f"M/D/1, 1514 bytes, {load}": _arrivals([1514] * count, load, rate_bps),
        f"M/G/1, {load}": _arrivals(mixed, load, rate_bps),
    }
    # The switches see the addresses of the first datagram for the first time
    _, *of_loads = _send(tmp_path, [[1514, 0], *loads.values()], rate)
    for (name, load_numbers), arrived in zip(loads.items(), of_loads, strict=True):
        assert 2 * len(arrived) == len(load_numbers)
        _hold_against_lindley(f"{rate}: {name}", arrived, rate_bps)


@pytest.mark.parametrize(
    ("rate", "rate_bps", "queue", "small_bytes"),
    [
        ("1Mbit", 1_000_000, None, 66),
        ("100Mbit", 100_000_000, None, 66),
        # Of 66 bytes one would take 0.5 us, and the server's look at the clock takes 0.3 us
        ("1Gbit", 1_000_000_000, None, 590),
        ("10Mbit", RATE_BPS, "fq_codel", 66),
        *(
            pytest.param("10Mbit", RATE_BPS, queue, 66, marks=pytest.mark.nightly)
            for queue in ("red", "codel", "pie", "fq_pie", "cake", "dualpi2")
        ),
    ],
)
def test_small_packets_do_not_pass_in_bursts_and_pairs_are_dispersed(
    tmp_path: FilePath, rate: str, rate_bps: int, queue: str | None, small_bytes: int
) -> None:
    # At 1 Mbit/s a full frame takes 12.1 ms of an idle link, and 24 frames of 66 bytes 12.7 ms
    loads = {
        "own time": [1514, 100_000_000] * 3,
        "24 at once": [small_bytes, 0] * 24,
        "pairs": [757, 100_000_000, 757, 0] * 3,
    }
    own, burst, pairs = _send(tmp_path, loads.values(), rate, queue)
    for name, arrived in zip(loads, (own, burst, pairs), strict=True):
        assert 2 * len(arrived) == len(loads[name])
        _hold_against_lindley(name, arrived, rate_bps)
    gaps_ns = [two.came_ns - one.came_ns for one, two in zip(pairs[::2], pairs[1::2], strict=True)]
    assert median(gaps_ns) == pytest.approx(757 * 8e9 / rate_bps, abs=300)


def _hold_against_lindley(name: str, arrived: Sequence[Datagram], rate_bps: int) -> None:
    """Hold the times of datagrams against those of a queue with one server."""
    late_us, delays_ms = zip(*_against_lindley(arrived, rate_bps), strict=True)
    print(
        f"{name}: mean delay {fmean(delays_ms):.3f} ms, off by {min(late_us):.2f} to "
        f"{max(late_us):.2f} us, {median(late_us):.2f} in the middle"
    )
    assert min(late_us) > -0.3
    assert median(late_us) < 1
    assert max(late_us) < 2 * PING_BYTES * 8e6 / rate_bps + SENDING_US


def _against_lindley(arrived: Iterable[Datagram], rate_bps: int) -> Iterator[tuple[float, float]]:
    """Yield how late each datagram came in us, and its delay beyond half an RTT in ms."""
    free_ns = 0.0
    for datagram in arrived:
        free_ns = max(free_ns, datagram.sent_ns) + datagram.frame_bytes * 8e9 / rate_bps
        came_ns = datagram.came_ns - 10_000_000
        yield (came_ns - free_ns) / 1e3, (came_ns - datagram.sent_ns) / 1e6


def test_the_rate_is_exact_at_100_kbit(tmp_path: FilePath) -> None:
    (arrived,) = _send(tmp_path, [[1514, 0] * 30], "100kbit")
    times_ns = [datagram.came_ns for datagram in arrived]
    # The pings of a run take their own time between two frames
    gap_ns = median(after - before for before, after in pairwise(times_ns))
    error_percent = 100 * (1514 * 8e9 / 1e5 / gap_ns - 1)
    print(f"100 kbit/s: rate error {error_percent:.5f} %")
    assert abs(error_percent) < 0.003


def test_the_rate_is_exact_at_10_gbit(run_plan: RunPlan) -> None:
    request = RunRequest(
        rtt="2ms", rate="10Gbit", mtu="9000", stack="cubic", buffer="10MB", time="5s",
        sample="100ms",
    )  # fmt: skip
    record = run_plan(request.plan())
    raw = gzip.decompress((record.directory / "raw" / "queue.txt.gz").read_bytes()).decode()
    # After slow start the queue never empties
    settled = [sample for sample in tc.parse_samples(raw) if sample.t_s > 1]
    error_percent = rate_error_percent(settled, record.plan.path.rate_bps)
    print(f"10 Gbit/s: rate error {error_percent:.5f} %")
    assert error_percent is not None
    assert error_percent < 0.003
