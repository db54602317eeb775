"""The inference: its design, surrogates of a known function, a posterior that finds the truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath

import numpy as np
import pytest
from scipy.stats import qmc
from threadpoolctl import threadpool_limits

from experiments.inference import analysis, claims, design, hosts, posterior, results
from experiments.inference.surrogate import OUTPUTS, Array, surrogate_of
from experiments.seven_regions.published import all_published
from farpath.base.errors import BadInputError
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from tests.support.study_runs import write_recorded_runs

#: Where path and hosts of the made-up study are, in the unit cube.
TRUTH = np.array([0.3, 0.6, 0.4, 0.7, 0.2])
NUMBER = len(design.PARAMETERS)
#: What runs of equal parameters differ by, on the outputs' scales.
CHANCE = 0.05


class MadeUpStack:
    """A stack whose outputs are smooth functions of the parameters."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.slopes = rng.normal(0, 0.4, (len(OUTPUTS), NUMBER + 1))
        self.level = np.array([np.log(350), np.log(0.25), 2.0, np.log(30), *[3.0] * 5])
        self.level = self.level + rng.normal(0, 0.3, len(OUTPUTS))
        self.rng = rng

    def outputs(self, at: Array) -> Array:
        """Its outputs on their scales, with the chance of a run."""
        smooth = self.slopes @ (at - 0.5) + 0.3 * self.slopes[:, ::-1] @ (at - 0.5) ** 2
        return self.level + smooth + self.rng.normal(0, CHANCE, len(OUTPUTS))


def _inputs(number: int = 30) -> Array:
    points = qmc.LatinHypercube(NUMBER, seed=1).random(number)
    return np.column_stack([points, np.arange(number) % 2])


def _values(outputs: Array) -> Mapping[str, list[float]]:
    return {
        output.name: output.backward(outputs[:, index]).tolist()
        for index, output in enumerate(OUTPUTS)
    }


@pytest.fixture(scope="module")
def tests() -> dict[str, posterior.Test]:
    """Made-up stacks, each with runs of a design and a test at the truth, give or take its hour."""
    made = {}
    rng = np.random.default_rng(7)
    with threadpool_limits(1):
        for number, name in enumerate(list(all_published())[:4]):
            stack = MadeUpStack(number)
            inputs = _inputs()
            surrogate = surrogate_of(
                inputs, _values(np.array([stack.outputs(at) for at in inputs])), OUTPUTS
            )
            hour = TRUTH + np.array([rng.normal(0, 0.05), 0, rng.normal(0, 0.1), 0, 0])
            printed = stack.outputs(np.append(hour, float(number % 2)))
            made[name] = posterior.Test(surrogate, is_hinted=False, printed=printed)
    return made


def test_the_file_of_runs_is_the_design() -> None:
    assert design.FILE.read_text() == design.text()


def test_each_stack_has_the_points_of_the_design_and_udt_two_thirds_of_them() -> None:
    runs = load_experiment(analysis.EXPERIMENT).runs(WHOLE)
    by_stack: dict[str, int] = {}
    for run in runs:
        name = run.plan.stacks[0].name
        by_stack[name] = by_stack.get(name, 0) + 1
    assert by_stack.pop("udt") == design.UDT_POINTS
    assert set(by_stack.values()) == {design.POINTS}
    assert len(by_stack) == 8
    hints = [run.plan.era.processor.hints for run in runs if run.plan.era.processor]
    assert hints.count("all") == hints.count("none") == len(runs) / 2


def test_points_fill_the_range_of_each_parameter() -> None:
    parts = np.array(
        [
            [
                parameter.part_of(float(text.rstrip("Mbitsm")))
                for parameter, text in zip(
                    design.PARAMETERS,
                    (
                        each.rate,
                        each.buffer,
                        each.loss,
                        each.window.removesuffix("MB"),
                        each.backlog,
                    ),
                    strict=True,
                )
            ]
            for each in design.points()
        ]
    )
    # A Latin hypercube has one point in each of as many slices
    for column in parts.T:
        assert sorted(np.floor(column * design.POINTS + 1e-9)) == pytest.approx(
            np.arange(design.POINTS), abs=1
        )


def test_a_surrogate_knows_a_smooth_function_to_the_chance_of_a_run() -> None:
    stack, inputs = MadeUpStack(1), _inputs()
    outputs = np.array([stack.outputs(at) for at in inputs])
    with threadpool_limits(1):
        surrogate = surrogate_of(inputs, _values(outputs), OUTPUTS)
        unseen = _inputs(50)[::-1] * 0.9 + 0.05
        means, scales = surrogate.predict(unseen, OUTPUTS)
    error = surrogate.left_out["mean_mbps"]
    apart = means - np.array([stack.outputs(at) for at in unseen])
    inside = (np.abs(apart) < 1.645 * scales).mean()
    print(f"{inside:.2f} / 0.9 within 1.645 standard deviations")
    print(f"RMS {np.sqrt((apart**2).mean()):.3f} / {CHANCE}; left out {error:.2f} of the spread")
    assert np.sqrt((apart**2).mean()) < 3 * CHANCE
    assert error < 0.5
    # Beyond the hull of the runs it is less sure than it knows
    assert 0.75 < inside < 0.98


@pytest.fixture(scope="module")
def found(tests: dict[str, posterior.Test]) -> posterior.Posterior:
    """The posterior of the made-up study."""
    with threadpool_limits(1):
        return posterior.infer(tests, stage=512, stages=8)


def test_equal_inputs_give_an_equal_posterior(tests: dict[str, posterior.Test]) -> None:
    with threadpool_limits(1):
        once, again = (posterior.infer(tests, stage=32, stages=3) for _ in range(2))
    assert (once.points == again.points).all()
    assert (once.weights == again.weights).all()


def test_the_posterior_finds_the_truth(found: posterior.Posterior) -> None:
    for parameter, truth in zip(design.PARAMETERS, TRUTH, strict=True):
        low, median, high = found.quantiles(parameter.name, analysis.INTERVAL)
        print(f"{parameter.name}: {low:.2f}, {median:.2f}, {high:.2f} / {truth}")
        assert low - 0.1 < truth < high + 0.1
        assert high - low < 0.6


def test_a_stack_that_is_left_out_is_predicted_by_the_others(
    tests: dict[str, posterior.Test], found: posterior.Posterior
) -> None:
    within = []
    with threadpool_limits(1):
        for name, test in tests.items():
            draws = posterior.predicted(test, found.points, found.without[name], seed=1)
            low, high = np.quantile(draws, (0.05, 0.95), axis=0)
            printed = np.array(
                [output.backward(test.printed[index]) for index, output in enumerate(OUTPUTS)]
            )
            within += list((low <= printed) & (printed <= high))
    print(f"{sum(within)} of {len(within)} within 90 %")
    assert np.mean(within) > 0.7


def _numbers(of_best: float) -> dict[str, dict[str, float]]:
    """What is printed, but for Scalable's mean, which three claims are about."""
    printed = {
        name: claims.printed_numbers(analysis.printed_of(test), test)
        for name, test in all_published().items()
    }
    printed["Scalable"]["mean_mbps"] = of_best
    return printed


def test_a_claim_is_as_likely_as_the_draws_in_which_it_holds() -> None:
    names = [output.name for output in claims.outputs()]
    # In one draw of four Scalable is slower than LTCP, so that it is not among the best three
    rows = [_numbers(mean) for mean in (423.0, 423.0, 300.0, 423.0)]
    draws = {
        stack: np.array([[row[stack].get(name, 1.0) for name in names] for row in rows])
        for stack in all_published()
    }
    shares = claims.shares(draws)
    assert (shares["C12"], shares["C13"], shares["C1"]) == (0.75, 1.0, 1.0)
    ordered = claims.order_forecasts(draws, _numbers(423.0), "mean_mbps")
    assert {(chance, holds) for chance, holds in ordered if chance not in (0, 1)} == {
        (0.75, True), (0.25, False),
    }  # fmt: skip


def test_each_claim_that_the_paper_s_numbers_decide_holds_in_them_and_others_by_its_words() -> None:
    even = dict.fromkeys(claims.rules(), 0.5)
    chances = {each.id: each for each in claims.chances(even, even, _numbers(423.0))}
    assert {name for name, each in chances.items() if not each.by_words} == {
        "C1", "C7", "C9", "C10", "C11", "C12", "C13", "C15", "C16", "C29", "C32", "C35",
    }  # fmt: skip
    assert all(each.holds for each in chances.values())
    slow = {each.id: each for each in claims.chances(even, even, _numbers(300.0))}
    assert not slow["C12"].holds


def test_hosts_are_compared_at_one_path_and_stacks_without_the_count_are_left_out() -> None:
    inputs = _inputs()
    backlog, hinted = inputs[:, 4], inputs[:, 5]
    # A longer queue halves what is sent for nothing, and walks that are remembered do away with it
    part = np.where(hinted > 0, 0.02, 0.6 - 0.3 * backlog)
    outputs = (*OUTPUTS, hosts.SPURIOUS)
    values = {
        output.name: [300.0 if output.name == "mean_mbps" else 0.5] * 30 for output in OUTPUTS
    }
    with threadpool_limits(1):
        counted = surrogate_of(inputs, {**values, hosts.SPURIOUS.name: part.tolist()}, outputs)
        silent = surrogate_of(inputs, values, OUTPUTS)
        found = list(hosts.effects({"HTCP": counted, "UDTv2": silent}, [0.5] * NUMBER))
    assert {each.stack for each in found} == {"HTCP"}
    parts = {(each.backlog_packets, each.hinted): each.spurious_part for each in found}
    print(parts)
    assert parts[(300, False)] == pytest.approx(0.6, abs=0.06)
    assert parts[(10_000, False)] == pytest.approx(0.3, abs=0.06)
    assert parts[(300, True)] < 0.1
    assert found[0].mean_mbps == pytest.approx(300)


def test_brier_scores_are_those_of_the_definition() -> None:
    assert claims.brier([(1.0, True), (0.5, False)]) == pytest.approx(0.125)
    assert claims.base_rate([True, False, False, False]) == pytest.approx(3 / 16)


def test_with_too_few_runs_nothing_is_inferred_and_the_table_says_so(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path / "records", analysis.EXPERIMENT, QUICK)
    few = analysis.of_runs(load_experiment(analysis.EXPERIMENT), done)
    assert {run.stack for run in few.runs} == {"Fast-TCP", "BICTCP"}
    (table,) = results.tables(few)
    assert "Nothing is inferred" in table.note
    assert list(results.figures(few)) == []
    results.write(few, tmp_path / analysis.FILE)
    assert results.read(tmp_path / analysis.FILE) == few
    (tmp_path / analysis.FILE).write_text('{"format_version": 1}')
    with pytest.raises(BadInputError, match="holds no inference"):
        results.read(tmp_path / analysis.FILE)


def test_predictions_have_a_table_with_goals_and_a_figure() -> None:
    predictions = tuple(
        analysis.Prediction(stack, column, printed, 200.0, 300.0, 400.0)
        for stack, printed in (("Reno", 248.0), ("HTCP", 402.0))
        for column in analysis.HELD_OUT
    )
    inference = analysis.Inference(
        "A test", (), (analysis.Unknown("loss", 1e-8, 1e-7, 1e-6, 0.1),), predictions,
        {"Reno": dict.fromkeys(analysis.HELD_OUT, 0.5)}, (50.0, 20.0),
        (claims.Chance("C1", "Reno is slow", 0.5, 0.9, holds=True, by_words=False),),
        (analysis.Order("stability", 0.3, 0.25),),
        tuple(hosts.HostEffect("HTCP", *host, 0.5, 300.0, 9.0, 0.3) for host in hosts.HOSTS),
    )  # fmt: skip
    goals, unknowns, held_out, forecasts, by_hosts, *_ = results.tables(inference)
    assert goals.rows[0][1:] == ("4 of 8", "6 to 8", "no")
    assert goals.rows[-2][1:] == ("0.01", "below 0.15", "yes")
    assert goals.rows[-1][1:] == ("0.30", "below 0.25, its base rate's", "no")
    assert by_hosts.header[-1] == "300 packets, remembered"
    assert by_hosts.rows == (("HTCP", *["50 %; 300 ± 9; 0.30"] * 4),)
    assert forecasts.rows == (("C1", "Reno is slow", "50 %", "90 %", "its numbers"),)
    assert unknowns.rows[0][-1] == "not identified"
    assert str(held_out.rows[1][1]).endswith("*")
    ((name, figure),) = results.figures(inference)
    assert (name, len(figure.axes)) == ("inference", 4)
