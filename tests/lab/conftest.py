"""The lab for tests: the real one, on small schedules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.project import BUILD
from farpath.lab.artifacts import images
from farpath.lab.artifacts.images import find_images
from farpath.lab.run import run
from farpath.mechanisms.era.mechanism import era_by_text
from farpath.planning.planner import make_plan
from farpath.record.record import Record, load_record
from farpath.spec import schedule
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from tests.support.paths import LONG

RunPlan = Callable[[Plan], Record]


def together(
    stacks: Sequence[str],
    duration_s: float,
    path: Path | None = None,
    era: str = "modern",
    **settings: Any,
) -> Plan:
    """A plan of one flow for each stack, all from 0 to ``duration_s``.

    Its path has no loss unless one is given, and its hosts are today's, infinitely
    fast, unless an era is.
    """
    path = path or dataclasses.replace(LONG, loss=0.0)
    plan = make_plan(
        path, schedule.simultaneous(stacks, duration_s), 1, "virtual", era_by_text(era)
    )
    return dataclasses.replace(plan, settings=dataclasses.replace(plan.settings, **settings))


def sending_ms(rate_mbit: float, links: int = 1, frame_bytes: int = 98) -> float:
    """How long links of this rate send a frame, by default a ping of IPv4, in ms."""
    return links * frame_bytes * 8e-3 / rate_mbit


def single_flow(
    stack: str, duration_s: float, path: Path | None = None, flows: int = 1, **more: Any
) -> Plan:
    """A plan of equal flows, one if not said otherwise: see :func:`simultaneous`."""
    return together([stack] * flows, duration_s, path, **more)


@pytest.fixture
def run_plan(tmp_path: FilePath) -> RunPlan:
    """Run a plan in a fresh lab and give its record, without figure and page."""

    def make(plan: Plan) -> Record:
        out = tmp_path / "results"
        outcome = run(plan, out, force=True, watch=lambda _event: None)
        return load_record(outcome.directory)

    return make


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> RunPlan:
    """The record of a plan, which an earlier test of the file may have made."""
    out = tmp_path_factory.mktemp("once") / "results"

    def make(plan: Plan) -> Record:
        outcome = run(plan, out, force=False, watch=lambda _event: None)
        return load_record(outcome.directory)

    return make


@pytest.fixture
def build(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> FilePath:
    """A build directory of this test's own, with the lab's parts; users' parts are cached apart."""
    directory = tmp_path / "build"
    directory.mkdir()
    for part in ("kernel", "lab", "sender", "stacks"):
        (directory / part).symlink_to((BUILD / part).resolve())
    cache = tmp_path / "cache"
    cache.mkdir()
    # Users' congestion controls are compiled with the headers of the udtperf that is there
    (cache / "udtperf").symlink_to((BUILD / "sender").resolve().parents[1] / "udtperf")
    monkeypatch.setenv("FARPATH_CACHE", str(cache))
    monkeypatch.setattr(images, "find_images", partial(find_images, directory))
    return directory
