"""The posterior of path and hosts, given table 1 and F of table 2, by adaptive importance sampling.

Unknown are the parameters of the design, which all tests have in common, and four more:

- the noise of reports: a standard deviation that no queue shows, added to S in quadrature;
- how far the path's rate and its loss were others in the hour of each test (log-normal);
- discrepancy: by how much tests scatter more than the lab's runs do.

Of each test the deviations of its hour, and whether its stack's patch remembered its walks along
SACKs, are averaged over a fixed set of draws, so that equal inputs give equal posteriors. Numbers
scatter by a t distribution, since single tests had outages that no model has.

The importance sampler draws stages from mixtures around the best points of the stages before, and
weighs all points by the mixture of all stages (Cornuet et al., *Adaptive Multiple Importance
Sampling*, 2012).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from farpath.metrics.estimate import scipy_part

from .design import PARAMETERS
from .surrogate import MEAN, OUTPUTS, STABILITY, Array, Output, Surrogate

#: Names of the unknowns beyond the design, and their prior by quantile.
NOISE, RATE_HOUR, LOSS_HOUR, DISCREPANCY = (
    "report noise",
    "rate by hour",
    "loss by hour",
    "discrepancy",
)
#: Largest standard deviation of reports, in Mbit/s: that of FAST's printed test.
MOST_NOISE_MBPS = 110.0
#: Scales of the half-normal priors of the deviations of an hour, in logarithms.
RATE_SCALE, LOSS_SCALE = 0.08, 1.0
#: Largest factor by which tests scatter more than runs.
MOST_DISCREPANCY = 4.0
UNKNOWNS = (*(parameter.name for parameter in PARAMETERS), NOISE, RATE_HOUR, LOSS_HOUR, DISCREPANCY)
#: Degrees of freedom of the t distribution of a printed number.
FREEDOM = 4.0
#: How likely a patch remembered its walks: of Scalable's and BIC's it is documented.
DOCUMENTED_HINTS, UNKNOWN_HINTS = 0.95, 0.5
#: Draws of an hour for each point; points of a stage.
HOURS, STAGE, STAGES = 12, 4096, 14
#: Components of the mixture of a stage, and its width over that of the weighted points.
COMPONENTS, WIDTH = 256, 0.4
#: The least effective number of points around which a stage is drawn.
LEAST_SIZE = 60.0
#: Part of each stage that is drawn from the prior.
FROM_PRIOR = 0.2

#: The quantile at which a half-normal prior is cut off.
MOST_PART = 0.999
_DESIGNED = {parameter.name: parameter for parameter in PARAMETERS}
_MEAN = [output.name for output in OUTPUTS].index(MEAN)
_RATE, _LOSS = (UNKNOWNS.index(name) for name in ("rate_mbps", "loss"))


def value_of(name: str) -> Callable[[float], float]:
    """Return the function from an unknown's place in the unit cube to its value."""
    if name in _DESIGNED:
        return _DESIGNED[name].at
    if name == NOISE:
        return lambda part: MOST_NOISE_MBPS * part
    if name == DISCREPANCY:
        return lambda part: MOST_DISCREPANCY**part
    scale = RATE_SCALE if name == RATE_HOUR else LOSS_SCALE
    return lambda part: scale * float(_half_normal(np.array(part)))


def _half_normal(parts: Array) -> Array:
    """Return quantiles of a half-normal distribution of scale 1."""
    values: Array = scipy_part("stats").halfnorm.ppf(np.minimum(parts, MOST_PART))
    return values


@dataclass(frozen=True)
class Scatter:
    """What a point of the unit cube says of noise, hours and discrepancy."""

    noise_mbps: Array
    rate: Array
    loss: Array
    discrepancy: Array


def scatter_of(points: Array) -> Scatter:
    """Return the unknowns beyond the design at points of the unit cube, by their priors."""
    noise, rate, loss, discrepancy = points[:, len(PARAMETERS) :].T
    return Scatter(
        MOST_NOISE_MBPS * noise,
        RATE_SCALE * _half_normal(rate),
        LOSS_SCALE * _half_normal(loss),
        MOST_DISCREPANCY**discrepancy,
    )


@dataclass(frozen=True)
class Test:
    """A test of the study: its surrogate, whether hints are documented, and its numbers, scaled."""

    surrogate: Surrogate
    is_hinted: bool
    printed: Array


def hours(seed: int, number: int = HOURS) -> tuple[Array, Array]:
    """Return deviations of rate and loss, in standard deviations, and quantiles of hints."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((number, 2)), (np.arange(number) + 0.5) / number


def predictions(
    test: Test, points: Array, seed: int, outputs: Sequence[Output] = OUTPUTS
) -> tuple[Array, Array]:
    """Return means and scales of a test's numbers: points by hours by outputs.

    ``outputs``: begin with those that are printed.
    """
    deviations, quantiles = hours(seed)
    scatter, number = scatter_of(points), len(quantiles)
    inputs = np.repeat(points[:, : len(PARAMETERS)], number, axis=0)
    for column, sigma, position in (
        (0, scatter.rate, _RATE), (1, scatter.loss, _LOSS),
    ):  # fmt: skip
        parameter = PARAMETERS[position]
        shift = np.outer(sigma, deviations[:, column]).ravel()
        if parameter.logarithmic:
            inputs[:, position] += shift / math.log(parameter.high / parameter.low)
        else:
            value = parameter.low + (parameter.high - parameter.low) * inputs[:, position]
            inputs[:, position] = (value * np.exp(shift) - parameter.low) / (
                parameter.high - parameter.low
            )
    chance = DOCUMENTED_HINTS if test.is_hinted else UNKNOWN_HINTS
    hinted = np.tile((quantiles < chance).astype(float), len(points))
    inputs = np.column_stack([np.clip(inputs, 0, 1), hinted])
    means, scales = test.surrogate.predict(inputs, outputs)
    added = np.repeat(scatter.noise_mbps, number) / np.exp(means[:, _MEAN])
    for index, output in enumerate(outputs):
        # The noise of reports adds to S in quadrature, to that of a region too
        if output.name.startswith(STABILITY):
            own = np.exp(means[:, index])
            total = np.hypot(own, added)
            means[:, index] = np.log(total)
            scales[:, index] *= (own / total) ** 2
    scales *= np.repeat(scatter.discrepancy, number)[:, None]
    shape = (len(points), number, len(outputs))
    return means.reshape(shape), scales.reshape(shape)


def log_likelihood(test: Test, points: Array, seed: int) -> Array:
    """Return the logarithm of the likelihood of a test's printed numbers at points."""
    means, scales = predictions(test, points, seed)
    known = ~np.isnan(test.printed)
    apart = (test.printed[known] - means[..., known]) / scales[..., known]
    density = scipy_part("stats").t.logpdf(apart, FREEDOM) - np.log(scales[..., known])
    by_hour = density.sum(axis=2)
    most = by_hour.max(axis=1)
    found: Array = most + np.log(np.exp(by_hour - most[:, None]).mean(axis=1))
    return found


def _weights(logs: Array) -> Array:
    values = np.exp(logs - logs.max())
    weights: Array = values / values.sum()
    return weights


def _tempered(target: Array, density: Array) -> Array:
    """Return weights by as high a power of a target's density as leaves ``LEAST_SIZE`` points."""
    low, high = 0.0, 1.0
    if size_of(_weights(target - density)) >= LEAST_SIZE:
        return _weights(target - density)
    for _ in range(30):
        power = (low + high) / 2
        low, high = (
            (power, high)
            if size_of(_weights(power * target - density)) >= LEAST_SIZE
            else (low, power)
        )
    return _weights(low * target - density)


@dataclass(frozen=True)
class Posterior:
    """Weighted points of the unit cube, with the weights given all tests and without each."""

    points: Array
    weights: Array
    without: Mapping[str, Array]

    def quantiles(self, name: str, parts: Sequence[float]) -> list[float]:
        """Return quantiles of an unknown in the unit cube, given all tests."""
        column = self.points[:, UNKNOWNS.index(name)]
        order = np.argsort(column)
        places = np.searchsorted(np.cumsum(self.weights[order]), np.asarray(parts))
        return [float(each) for each in column[order][np.minimum(places, len(column) - 1)]]


def size_of(weights: Array) -> float:
    """Return the effective number of weighted points (Kish)."""
    return float(1 / (weights**2).sum())


def infer(
    tests: Mapping[str, Test], seed: int = 1, stage: int = STAGE, stages: int = STAGES
) -> Posterior:
    """Return the posterior of the unknowns, given all tests, and given all but each."""
    rng = np.random.default_rng(seed)
    points = scipy_part("stats.qmc").Sobol(len(UNKNOWNS), seed=seed).random(stage)
    likelihoods = np.stack([log_likelihood(test, points, seed) for test in tests.values()], axis=1)
    drawn_by: list[tuple[Array, Array] | None] = [None]
    for _ in range(stages - 1):
        density = _density(points, drawn_by)
        targets = [likelihoods.sum(axis=1)]
        targets += [targets[0] - likelihoods[:, index] for index in range(len(tests))]
        mixed = np.mean([_tempered(target, density) for target in targets], axis=0)
        centres = points[rng.choice(len(points), COMPONENTS, p=mixed)]
        centre = mixed @ points
        spread = (points - centre).T @ ((points - centre) * mixed[:, None])
        covariance = WIDTH**2 * (spread + 1e-4 * np.eye(len(UNKNOWNS)))
        fresh = centres[rng.integers(COMPONENTS, size=stage)] + rng.multivariate_normal(
            np.zeros(len(UNKNOWNS)), covariance, size=stage
        )
        of_prior = rng.random(stage) < FROM_PRIOR
        fresh[of_prior] = rng.random((int(of_prior.sum()), len(UNKNOWNS)))
        # What lies outside the cube has no prior, so that its weight would be 0
        drawn_by.append((centres, covariance))
        fresh = fresh[((fresh >= 0) & (fresh <= 1)).all(axis=1)]
        points = np.concatenate([points, fresh])
        likelihoods = np.concatenate(
            [
                likelihoods,
                np.stack([log_likelihood(test, fresh, seed) for test in tests.values()], axis=1),
            ]
        )
    density = _density(points, drawn_by)
    whole = likelihoods.sum(axis=1)
    return Posterior(
        points, _weights(whole - density),
        {
            name: _weights(whole - likelihoods[:, index] - density)
            for index, name in enumerate(tests)
        },
    )  # fmt: skip


def _density(points: Array, drawn_by: Sequence[tuple[Array, Array] | None]) -> Array:
    """Return the logarithm of the density of the draws of all stages, each of which has as many."""
    total = np.zeros(len(points))
    for mixture in drawn_by:
        if mixture is None:
            total += 1.0
            continue
        centres, covariance = mixture
        root = np.linalg.cholesky(np.linalg.inv(covariance))
        scale = np.prod(np.diag(root)) / (2 * math.pi) ** (points.shape[1] / 2)
        apart = (points @ root)[:, None, :] - (centres @ root)[None, :, :]
        inside = scale * np.exp(-0.5 * (apart**2).sum(axis=2)).mean(axis=1)
        total += FROM_PRIOR + (1 - FROM_PRIOR) * inside
    found: Array = np.log(total / len(drawn_by))
    return found


def predicted(
    test: Test,
    points: Array,
    weights: Array,
    seed: int,
    outputs: Sequence[Output] = OUTPUTS,
    draws: int = 4000,
) -> Array:
    """Return draws of a test's numbers, on their own scales: draws by outputs."""
    rng = np.random.default_rng(seed)
    chosen = points[rng.choice(len(points), draws, p=weights)]
    # Hours of another seed than those that the likelihood is averaged over
    means, scales = predictions(test, chosen, seed + 1, outputs)
    hour = rng.integers(means.shape[1], size=draws)
    rows = np.arange(draws)
    values = means[rows, hour] + scales[rows, hour] * rng.standard_t(FREEDOM, (draws, len(outputs)))
    return np.stack(
        [output.backward(values[:, index]) for index, output in enumerate(outputs)], axis=1
    )
