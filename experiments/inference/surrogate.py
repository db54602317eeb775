"""Surrogates: what a stack's test gives at any path and hosts, by Gaussian processes of a few runs.

Each output of a stack has a process of its own over the parameters of the design, each of which is
scaled to 0..1. Its kernel has a length for each parameter (ARD) and white noise, which stands for
the chance of one run (Rasmussen, Williams, *Gaussian Processes for Machine Learning*, 2006,
chapters 2 and 5).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.seven_regions.paper_columns import LAB_COLUMNS

Array = NDArray[np.float64]

#: The smallest and the largest length of a parameter's influence, in parts of its range.
LENGTHS = (0.2, 20.0)
#: The least part of an output's variance that is noise.
LEAST_NOISE = 1e-3


@dataclass(frozen=True)
class Output:
    """A number of a test, and the scale on which it is normal enough: log, logit or its own."""

    name: str
    scale: str

    def forward(self, values: Array) -> Array:
        """Return values on the scale."""
        if self.scale == "log":
            return np.log(np.maximum(values, 1e-3))
        if self.scale == "logit":
            inside = np.clip(values, 0.01, 0.995)
            return np.log(inside / (1 - inside))
        return values

    def backward(self, values: Array) -> Array:
        """Return the inverse of ``forward``."""
        if self.scale == "log":
            return np.exp(values)
        if self.scale == "logit":
            return 1 / (1 + np.exp(-values))
        return values


#: The columns of table 1 that the lab has, and F of table 2 where several flows send, by keys.
MEAN, STABILITY, FAIRNESS, RTT_STD = (column.key for column in LAB_COLUMNS)
FAIRNESS_OF_REGIONS = tuple(f"fairness_{number}" for number in range(2, 7))
OUTPUTS = (
    Output(MEAN, "log"),
    Output(STABILITY, "log"),
    Output(FAIRNESS, "logit"),
    Output(RTT_STD, "log"),
    *(Output(name, "logit") for name in FAIRNESS_OF_REGIONS),
)


@dataclass(frozen=True)
class _Process:
    """One fitted process, kept as arrays, so that many points are one product.

    ``left_out``: how far it is off at runs that are left out, one by one, over the spread of all; 1
    is no better than their mean. ``widened``: by how much more they are off than it says.
    """

    inputs: Array
    lengths: Array
    variance: float
    noise: float
    factor: Array
    weights: Array
    mean: float
    spread: float
    left_out: float
    widened: float

    def _kernel(self, points: Array) -> Array:
        apart = points[:, None, :] / self.lengths - self.inputs[None, :, :] / self.lengths
        kernel: Array = self.variance * np.exp(-0.5 * (apart**2).sum(axis=2))
        return kernel

    def predict(self, points: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation of another run at each point."""
        kernel = self._kernel(points)
        solved = np.linalg.solve(self.factor, kernel.T)
        variance = self.variance + self.noise - (solved**2).sum(axis=0)
        means = self.mean + self.spread * (kernel @ self.weights)
        return means, self.widened * self.spread * np.sqrt(np.maximum(variance, self.noise))


def _fitted(inputs: Array, values: Array) -> _Process:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    mean, spread = float(values.mean()), float(values.std()) or 1.0
    kernel = ConstantKernel(1.0, (0.05, 20.0)) * RBF(
        np.ones(inputs.shape[1]), LENGTHS
    ) + WhiteKernel(0.1, (LEAST_NOISE, 2.0))
    fit = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=0)
    with warnings.catch_warnings():
        # A parameter without influence has the largest length, which is no failure
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit.fit(inputs, (values - mean) / spread)
    signal, white = fit.kernel_.k1, fit.kernel_.k2
    weights = fit.alpha_.ravel()
    # Each run left out, in closed form (the book, 5.4.2)
    inverse = np.linalg.inv(fit.L_ @ fit.L_.T)
    errors, scales = weights / np.diag(inverse), 1 / np.sqrt(np.diag(inverse))
    return _Process(
        inputs, np.broadcast_to(signal.k2.length_scale, inputs.shape[1:]).astype(float),
        float(signal.k1.constant_value), float(white.noise_level), fit.L_, weights, mean, spread,
        left_out=float(np.sqrt((errors**2).mean())),
        widened=max(1.0, float(np.sqrt(((errors / scales) ** 2).mean()))),
    )  # fmt: skip


@dataclass(frozen=True)
class Surrogate:
    """The processes of one stack, by the names of its outputs."""

    processes: Mapping[str, _Process]

    def predict(self, points: Array, outputs: Sequence[Output]) -> tuple[Array, Array]:
        """Return means and standard deviations on the outputs' scales: points by outputs."""
        found = [self.processes[output.name].predict(points) for output in outputs]
        return np.stack([mean for mean, _ in found], 1), np.stack([std for _, std in found], 1)

    @property
    def left_out(self) -> dict[str, float]:
        """How far it is off at runs that are left out, over their spread, by output."""
        return {name: process.left_out for name, process in self.processes.items()}


def surrogate_of(
    inputs: Array, values: Mapping[str, Sequence[float]], outputs: Sequence[Output]
) -> Surrogate:
    """Return the surrogate of a stack.

    ``inputs``: runs by parameters, in parts of their ranges. ``values``: of each output by run.
    """
    return Surrogate(
        {
            output.name: _fitted(inputs, output.forward(np.asarray(values[output.name], float)))
            for output in outputs
        }
    )
