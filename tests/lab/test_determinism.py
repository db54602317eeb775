"""Equal inputs, equal fingerprint, in parallel too; seeds differ."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path as FilePath

from farpath.lab.run import run
from farpath.planning.planner import make_plan
from farpath.record.record import load_record
from farpath.spec.plan import Plan
from farpath.spec.schedule import seven_regions
from tests.support.paths import SHORT


def short_plan(seed: int) -> Plan:
    """Four flows of CUBIC on a lossy short path: every random choice takes part."""
    path = dataclasses.replace(SHORT, loss=1e-4)
    return make_plan(path, seven_regions("cubic", 2.0), seed=seed, clock="virtual")


def fingerprint_of(plan: Plan, out: FilePath) -> str:
    """The fingerprint of a fresh run."""
    return load_record(run(plan, out, force=True, watch=lambda _e: None).directory).fingerprint


def test_two_equal_runs_in_parallel_give_equal_fingerprints_and_another_seed_another(
    tmp_path: FilePath,
) -> None:
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda name: fingerprint_of(short_plan(1), tmp_path / name), "ab")
    assert one == two
    assert fingerprint_of(short_plan(2), tmp_path / "other") != one
