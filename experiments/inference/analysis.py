"""Inference: the runs of the design, the posterior of path and hosts, and its test.

The test leaves one stack out: path and hosts are inferred from the others' printed numbers, and
predict this one's, whose algorithm the lab knows and whose numbers it does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath

import numpy as np

from experiments.seven_regions.paper_columns import LAB_COLUMNS
from experiments.seven_regions.published import Published, all_published
from farpath.base.documents import check_format_version, read_json
from farpath.base.errors import BadInputError
from farpath.base.files import write_text
from farpath.metrics.link import summarise_record
from farpath.metrics.run import Summary
from farpath.programs.catalog import catalogue, split_text
from farpath.record.record import Record
from farpath.runs.experiment import Experiment, RecordedRun, WantedRun

from . import claims, hosts
from . import posterior as posteriors
from .design import PARAMETERS
from .surrogate import FAIRNESS_OF_REGIONS, OUTPUTS, Array, surrogate_of

EXPERIMENT = "inference"
FILE = "inference.json"
FORMAT_VERSION = 1
REMEDY = "run 'farpath campaign --experiment=inference', which writes one"
#: The fewest runs of each stack from which a surrogate is made.
FEWEST = 15
#: The parts of the interval in which a printed number should lie in nine of ten cases.
INTERVAL = (0.05, 0.5, 0.95)
#: The columns of table 1 that are held out: four of each stack.
HELD_OUT = tuple(output.name for output in OUTPUTS if output.name not in FAIRNESS_OF_REGIONS)
#: Goals: the part of the held-out numbers within their intervals.
GOAL_WITHIN = (0.80, 0.97)
#: The largest Brier score of the claims that is wanted.
GOAL_BRIER = 0.15
#: Draws of all stacks' numbers in which claims are looked at.
CLAIM_DRAWS = 1000
#: Stacks, by the paper's names, whose patches remembered their walks along SACKs.
DOCUMENTED_HINTS = ("Scalable", "BICTCP")


@dataclass(frozen=True)
class TestRun:
    """A run of the design: its stack by the paper's name, its point, and what it gave.

    ``parts``: of the ranges of the parameters. ``hinted``: whether walks were remembered.
    """

    stack: str
    parts: tuple[float, ...]
    hinted: bool
    values: Mapping[str, float]


@dataclass(frozen=True)
class Prediction:
    """A printed number of table 1, and the interval that the other stacks give it."""

    stack: str
    column: str
    printed: float
    low: float
    median: float
    high: float

    @property
    def within(self) -> bool:
        """Whether the printed number lies in the interval of 90 %."""
        return self.low <= self.printed <= self.high


@dataclass(frozen=True)
class Unknown:
    """What the printed numbers say of an unknown: quantiles of its posterior, and of its prior.

    ``told``: one less the width of the posterior's interval over the prior's, 0 if nothing is told.
    """

    name: str
    low: float
    median: float
    high: float
    told: float


@dataclass(frozen=True)
class Order:
    """How well the larger number of each two stacks is foretold in a column.

    ``score``: Brier's. ``base``: that of who knows only how often the first of two has the larger.
    """

    column: str
    score: float
    base: float


@dataclass(frozen=True)
class Inference:
    """The runs of the design and, with enough of them, what they say.

    ``errors``: how far the surrogates are off at runs that they have not seen, by stack and output.
    ``size``: the effective number of the posterior's points, and the least one without a stack.
    ``claims``: of those that tests to CERN decide. ``orders``: of each column of table 1.
    ``effects``: what hosts of several kinds do, on the likeliest path.
    """

    title: str
    runs: tuple[TestRun, ...]
    unknowns: tuple[Unknown, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    errors: Mapping[str, Mapping[str, float]] | None = None
    size: tuple[float, float] = (0.0, 0.0)
    claims: tuple[claims.Chance, ...] = ()
    orders: tuple[Order, ...] = ()
    effects: tuple[hosts.HostEffect, ...] = ()


def outputs_of(summary: Summary) -> dict[str, float]:
    """Return the outputs of a test from its summary."""
    regions = {region.number: region.fairness for region in summary.regions}
    return {
        **{column.key: column.measured.number_of(summary) for column in LAB_COLUMNS},
        **_of_regions(regions),
        **claims.outputs_of(summary),
    }


def printed_of(published: Published) -> dict[str, float]:
    """Return the printed outputs of a stack."""
    regions = {region.number: region.fairness for region in published.regions}
    return {
        **{column.key: column.printed.number_of(published) for column in LAB_COLUMNS},
        **_of_regions(regions),
    }


def _of_regions(fairness: Mapping[int, float]) -> dict[str, float]:
    return {name: fairness[int(name.rpartition("_")[2])] for name in FAIRNESS_OF_REGIONS}


def _run_of(recorded: RecordedRun, names: Mapping[str, str]) -> TestRun:
    path, processor = recorded.run.plan.path, recorded.run.plan.era.processor
    assert processor is not None
    at = {
        "rate_mbps": path.rate_bps / 1e6,
        "buffer_ms": path.buffer_bytes / path.rate_bps * 8e3,
        "loss": path.loss,
        "window_mb": path.window_bytes / 1e6,
        "backlog": float(processor.backlog_packets),
    }
    return TestRun(
        names[split_text(recorded.run.request.stack or "")[0]],
        tuple(parameter.part_of(at[parameter.name]) for parameter in PARAMETERS),
        processor.remembers_walks(recorded.run.plan.stacks[0].name),
        {**outputs_of(summarise_record(recorded.record)), **_spurious(recorded.record)},
    )


def _spurious(record: Record) -> dict[str, float]:
    part = hosts.spurious_part(record)
    return {} if part is None else {hosts.SPURIOUS.name: part}


def inputs_of(runs: Sequence[TestRun]) -> Array:
    """Return the inputs of surrogates: runs by parameters, and the hints."""
    return np.array([[*run.parts, float(run.hinted)] for run in runs])


def infer(title: str, runs: Sequence[TestRun], seed: int = 1) -> Inference:
    """Return what runs say of path and hosts, and how well others predict each stack."""
    by_stack: dict[str, list[TestRun]] = {name: [] for name in all_published()}
    for run in runs:
        by_stack[run.stack].append(run)
    if min(map(len, by_stack.values())) < FEWEST:
        return Inference(title, tuple(runs))
    from threadpoolctl import threadpool_limits

    # Matrices are small, for which more threads of BLAS than one wait for each other
    with threadpool_limits(1):
        return _inferred(title, runs, by_stack, seed)


def _inferred(
    title: str, runs: Sequence[TestRun], by_stack: Mapping[str, Sequence[TestRun]], seed: int
) -> Inference:
    tests, errors = {}, {}
    for name, of_stack in by_stack.items():
        inputs = inputs_of(of_stack)
        outputs = [
            output for output in (*claims.outputs(), hosts.SPURIOUS)
            if all(output.name in run.values for run in of_stack)
        ]  # fmt: skip
        values = {output.name: [run.values[output.name] for run in of_stack] for output in outputs}
        printed = printed_of(all_published()[name])
        tests[name] = posteriors.Test(
            surrogate_of(inputs, values, outputs),
            name in DOCUMENTED_HINTS,
            np.array([float(output.forward(np.array(printed[output.name]))) for output in OUTPUTS]),
        )
        left_out = tests[name].surrogate.left_out
        errors[name] = {column: left_out[column] for column in HELD_OUT}
    found = posteriors.infer(tests, seed)
    sizes = [posteriors.size_of(weights) for weights in found.without.values()]
    return Inference(
        title, tuple(runs), tuple(_unknown(found, name) for name in posteriors.UNKNOWNS),
        tuple(
            each for name, test in tests.items() for each in _predictions(found, name, test, seed)
        ),
        errors, (posteriors.size_of(found.weights), min(sizes)), *_forecasts(found, tests, seed),
        tuple(
            hosts.effects(
                {name: test.surrogate for name, test in tests.items()},
                [found.quantiles(parameter.name, (0.5,))[0] for parameter in PARAMETERS],
            )
        ),
    )  # fmt: skip


def _forecasts(
    found: posteriors.Posterior, tests: Mapping[str, posteriors.Test], seed: int
) -> tuple[tuple[claims.Chance, ...], tuple[Order, ...]]:
    """Return how likely claims and orders of two stacks are, by draws with each stack held out."""
    anywhere = np.random.default_rng(seed).random((CLAIM_DRAWS, found.points.shape[1]))
    evenly = np.full(CLAIM_DRAWS, 1 / CLAIM_DRAWS)
    outputs = claims.outputs()
    held_out, before = {}, {}
    for number, (name, test) in enumerate(tests.items()):
        # The stacks' chances are their own
        of_stack = seed + number
        held_out[name] = posteriors.predicted(
            test, found.points, found.without[name], of_stack, outputs, CLAIM_DRAWS
        )
        before[name] = posteriors.predicted(test, anywhere, evenly, of_stack, outputs, CLAIM_DRAWS)
    published = all_published()
    printed = {
        name: claims.printed_numbers(printed_of(published[name]), published[name]) for name in tests
    }
    orders = []
    for column in HELD_OUT:
        known = claims.order_forecasts(held_out, printed, column)
        orders.append(
            Order(
                column, claims.brier(known),
                claims.base_rate([holds for _, holds in known]),
            )
        )  # fmt: skip
    chances = claims.chances(claims.shares(before), claims.shares(held_out), printed)
    return tuple(chances), tuple(orders)


def _unknown(found: posteriors.Posterior, name: str) -> Unknown:
    low, median, high = found.quantiles(name, INTERVAL)
    told = 1 - (high - low) / (INTERVAL[-1] - INTERVAL[0])
    at = posteriors.value_of(name)
    return Unknown(name, at(low), at(median), at(high), told)


def _predictions(
    found: posteriors.Posterior, name: str, test: posteriors.Test, seed: int
) -> Iterable[Prediction]:
    draws = posteriors.predicted(test, found.points, found.without[name], seed)
    printed = printed_of(all_published()[name])
    for index, output in enumerate(OUTPUTS):
        if output.name in HELD_OUT:
            low, median, high = map(float, np.quantile(draws[:, index], INTERVAL))
            yield Prediction(name, output.name, printed[output.name], low, median, high)


def of_runs(experiment: Experiment, recorded_runs: Iterable[RecordedRun]) -> Inference:
    """Return the inference from recorded runs of the design."""
    names = {name: entry.published for name, entry in catalogue().items() if entry.published}
    return infer(experiment.title, [_run_of(each, names) for each in recorded_runs])


def extended(
    earlier: Inference,
    experiment: Experiment,
    runs: Iterable[WantedRun],
    recorded_runs: Iterable[RecordedRun],
) -> Inference:
    """Return the inference from earlier runs and more; of equal points the later run counts."""
    more = of_runs(experiment, recorded_runs).runs
    known = {(run.stack, run.parts, run.hinted): run for run in (*earlier.runs, *more)}
    return infer(experiment.title, tuple(known.values()))


def write(inference: Inference, file: FilePath) -> None:
    """Write runs and results as JSON."""
    write_text(file, json.dumps({"format_version": FORMAT_VERSION, **asdict(inference)}) + "\n")


def read(file: FilePath) -> Inference:
    """Read what ``write`` wrote; raise BadInputError for another file."""
    data = read_json(file, REMEDY)
    check_format_version(data, FORMAT_VERSION, file, REMEDY)
    try:
        return Inference(
            data["title"],
            tuple(TestRun(run["stack"], tuple(run["parts"]), run["hinted"], run["values"])
                  for run in data["runs"]),
            tuple(Unknown(**each) for each in data["unknowns"]),
            tuple(Prediction(**each) for each in data["predictions"]),
            data["errors"], (data["size"][0], data["size"][1]),
            tuple(claims.Chance(**each) for each in data["claims"]),
            tuple(Order(**each) for each in data["orders"]),
            tuple(hosts.HostEffect(**each) for each in data["effects"]),
        )  # fmt: skip
    except (KeyError, TypeError) as error:
        raise BadInputError(file=str(file), problem=f"it holds no inference: {error}") from error


def of_columns(inference: Inference) -> dict[str, list[Prediction]]:
    """Return the predictions by their column."""
    columns: dict[str, list[Prediction]] = {}
    for each in inference.predictions:
        columns.setdefault(each.column, []).append(each)
    return columns


def relative_width(predictions: Sequence[Prediction]) -> float:
    """Return the median width of intervals over that of 90 % of what is printed of all stacks."""
    widths = [each.high - each.low for each in predictions]
    spread = 2 * 1.645 * float(np.std([each.printed for each in predictions], ddof=1))
    return float(np.median(widths)) / spread
