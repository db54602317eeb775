"""Seeds: streams of random numbers that depend on neither the seed nor each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np
import pytest

from farpath.lab.uml import _site_seed
from farpath.planning.program_plan import program_plan
from farpath.planning.request import RunRequest
from farpath.spec.dropper import Dropper
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import NetemDelay, NicQueue
from tests.support.networks import short_plan
from tests.support.user_networks import own_plan, two_sites
from topologies import lay_out

#: Small seeds, as people give them.
SEEDS = range(1, 201)
#: First draws of a stream that are looked at.
DRAWS = 4
#: Between two columns of 200 independent numbers a correlation is 0.07 on the average; of the
#: some thousand that are looked at none is so far from 0.
MOST_CORRELATION = 0.32
#: Parameters of lib/random32.c's four generators: mask, and shifts a, b, c.
GENERATORS = (
    (2, 6, 13, 0xFFFFFFFE, 18),
    (8, 2, 27, 0xFFFFFFF8, 2),
    (16, 13, 21, 0xFFFFFFF0, 7),
    (128, 3, 12, 0xFFFFFF80, 13),
)
MASK = 0xFFFFFFFF


def kernel_draws(seed: int) -> Iterator[float]:
    """Yield what netem draws, in 0 to 1.

    By prandom_seed_state in include/linux/prandom.h and prandom_u32_state in lib/random32.c.
    """
    first = (seed >> 32 ^ seed << 10 ^ seed) & MASK
    state = [first + least if first < least else first for least, *_ in GENERATORS]
    while True:
        state = [
            (one & mask) << left & MASK ^ ((one << a & MASK) ^ one) >> b
            for one, (_, a, b, mask, left) in zip(state, GENERATORS, strict=True)
        ]
        yield (state[0] ^ state[1] ^ state[2] ^ state[3]) / 2.0**32


def guest_draws(seed: int) -> Iterator[float]:
    """Yield what a guest's kernel is seeded with, in 0 to 1 (images/kernel/seedrandom.c)."""
    words = 2**64
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) % words
        word = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 % words
        word = (word ^ word >> 27) * 0x94D049BB133111EB % words
        yield (word ^ word >> 31) / words


def largest_correlation(columns: Sequence[Sequence[float]]) -> float:
    """Return the largest correlation between any two columns, whatever its sign."""
    correlations = np.abs(np.corrcoef(columns))
    return float(max(correlations[pair] for pair in combinations(range(len(columns)), 2)))


def random_ports(plan: Plan) -> dict[str, int]:
    """Return the seeds of the ports of a plan that draw random numbers, by their names."""
    return {
        port.name: port.queue.seed
        for port in lay_out(plan).ports
        if isinstance(port.queue, NetemDelay | NicQueue)
    }


PLANS = {
    "directions": program_plan(RunRequest(stack="cubic", rtt="50ms", loss="10%")),
    "hosts": short_plan(stack="reno+reno", senders="rtt=20ms", loss="1%", era="modern:jitter=12us"),
    "links": short_plan(topology="parking-lot:2", loss="1%"),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_first_draws_of_the_kernel_depend_on_neither_seed_nor_direction_link_or_host(
    plan: Plan,
) -> None:
    by_seed = {
        seed: random_ports(dataclasses.replace(plan, seed=seed))
        for seed in range(1, 2 * max(SEEDS) + 1)
    }
    names = list(by_seed[1])
    assert len(names) >= 2
    # The seed, and draws of it, of the next one, and of its double
    columns = [[float(seed) for seed in SEEDS]]
    for name in names:
        for other in (lambda seed: seed, lambda seed: seed + 1, lambda seed: 2 * seed):
            rows = [list(islice(kernel_draws(by_seed[other(seed)][name]), DRAWS)) for seed in SEEDS]
            columns += [list(column) for column in zip(*rows, strict=True)]
    assert largest_correlation(columns) < MOST_CORRELATION
    assert np.mean(columns[1:]) == pytest.approx(0.5, abs=0.01)


def test_guests_of_sites_draw_numbers_that_depend_on_neither_seed_nor_site() -> None:
    columns = [[float(seed) for seed in SEEDS]]
    plan = short_plan()
    for site in range(3):
        for other in (lambda seed: seed, lambda seed: seed + 1, lambda seed: 2 * seed):
            seeds = [
                _site_seed(dataclasses.replace(plan, seed=other(seed)), site) for seed in SEEDS
            ]
            rows = [list(islice(guest_draws(seed), DRAWS)) for seed in seeds]
            columns += [list(column) for column in zip(*rows, strict=True)]
    assert largest_correlation(columns) < MOST_CORRELATION


def test_a_seed_alone_gives_the_kernel_first_draws_that_depend_on_it() -> None:
    first = [next(kernel_draws(seed)) for seed in (1, 2, 3)]
    assert first == pytest.approx([0.0645, 0.129, 0.1935], abs=1e-3)


def test_each_direction_of_a_cable_of_one_s_own_has_a_stream_of_its_own() -> None:
    seeds = random_ports(own_plan(two_sites(), "h1>h2:cubic"))
    assert len(seeds) == len(set(seeds.values())) == 2


def test_droppers_differ_in_what_they_lose_if_they_differ_in_direction_or_flow() -> None:
    droppers = [
        Dropper("random", (1e-2,), direction, flow)
        for direction in ("there", "back")
        for flow in ("flow1", "flow2")
    ]
    lost = [dropper.positions(1, 10_000) for dropper in droppers]
    assert len(set(lost)) == 4
