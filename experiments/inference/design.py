"""The design: points of a Latin hypercube over what nobody knows of CERN's path and hosts.

``python -m experiments.inference.design`` writes them into ``experiment.toml``. Each point is a
test of every stack, on the same path and hosts; UDT, whose runs take thrice as long, has the first
two thirds of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

import numpy as np

from farpath.metrics.estimate import scipy_part

FILE = FilePath(__file__).parent / "experiment.toml"
POINTS, UDT_POINTS = 36, 24
SEED = 2005
STACKS = ("reno_2004", "hstcp_2004", "htcp_2004", "fast", "ltcp", "hstcp_lp", "bic_2004")


@dataclass(frozen=True)
class Parameter:
    """A quantity that is not known: its range, whether it is spread evenly in its logarithm.

    ``source``: what is known of it.
    """

    name: str
    low: float
    high: float
    logarithmic: bool
    source: str

    def at(self, part: float) -> float:
        """Return the value at a part of the range, from 0 to 1."""
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** part)
        return self.low + (self.high - self.low) * part

    def part_of(self, value: float) -> float:
        """Return the part of the range at which a value is."""
        if self.logarithmic:
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        return (value - self.low) / (self.high - self.low)


#: In the order in which a surrogate takes them; hints, which are on or off, stand behind them.
PARAMETERS = (
    Parameter("rate_mbps", 400, 700, False, "the testbed's page: 400 to 700 Mbit/s"),
    Parameter(
        "buffer_ms", 130, 240, False, "the paper's figure 3: RTTs up to 186 ms above the idle"
    ),
    Parameter("loss", 1e-8, 1e-6, True, "not known"),
    Parameter(
        "window_mb", 6, 26, True, "16 MiB were asked for; Linux doubles it, or grows to less"
    ),
    Parameter("backlog", 300, 10_000, True, "300 in Linux 2.4; a site may raise it"),
)


@dataclass(frozen=True)
class Point:
    """A point of the design, in the words of ``farpath run``."""

    rate: str
    buffer: str
    loss: str
    window: str
    backlog: str
    hints: str

    def options(self, txqueuelen: str = "") -> dict[str, str]:
        """Return its options; with another queue before the card than the usual one, also that."""
        queue = f"txqueuelen={txqueuelen}," if txqueuelen else ""
        return {
            "rate": self.rate, "buffer": self.buffer, "loss": self.loss, "window": self.window,
            "era": f"2004:{queue}cpu=3.06GHz,backlog={self.backlog},hints={self.hints}",
        }  # fmt: skip


def points(number: int = POINTS, seed: int = SEED) -> Iterator[Point]:
    """Yield the points, rounded to what is typed; every second one has the hints of all stacks."""
    parts = scipy_part("stats.qmc").LatinHypercube(len(PARAMETERS), seed=seed).random(number)
    for index, row in enumerate(parts):
        rate, buffer, loss, window, backlog = (
            parameter.at(part) for parameter, part in zip(PARAMETERS, row, strict=True)
        )
        yield Point(
            f"{rate:.0f}Mbit", f"{buffer:.0f}ms", f"{loss:.2e}", f"{window:.2f}MB",
            f"{backlog:.0f}", "all" if index % 2 else "none",
        )  # fmt: skip


HEAD = """# Tests of nine stacks at points of a Latin hypercube over what is not known of CERN's
# path and hosts: made by design.py. They train the surrogates from which both are inferred.
title = "Inference: nine stacks to CERN, over what is not known of path and hosts"

[options]
path = "cern"
region = "30s"
seed = 1
"""


def _table(stacks: list[str], options: dict[str, str], quick: str = "") -> str:
    words = ", ".join(f'"{stack}"' for stack in stacks)
    lines = [f"stack = [{words}]", *(f'{name} = "{value}"' for name, value in options.items())]
    lines.append("minutes = {udt = 2, others = 0.8}" if "udt" in stacks else "minutes = 0.8")
    return "\n[[runs]]\n" + "\n".join([*lines, *([quick] if quick else [])]) + "\n"


def text() -> str:
    """Return the text of ``experiment.toml``."""
    tables = []
    for index, point in enumerate(points()):
        quick = 'quick = {stack = ["fast", "bic_2004"], region = "10s"}' if index < 2 else ""
        stacks = [*STACKS, *(["udt"] if index < UDT_POINTS else [])]
        tables.append(_table(stacks, point.options(), quick))
        tables.append(_table(["scalable_2004"], point.options("2000")))
    return HEAD + "".join(tables)


if __name__ == "__main__":
    FILE.write_text(text())
