"""The results of the inference, as the engine asks for them: made, added to, kept and shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .analysis import FILE, Inference, extended, of_runs, read, write
from .drawing import draw_predictions
from .tables import inference_tables as tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FILE", "PACKAGES", "extended", "figures", "of_runs", "read", "tables", "write"]

PACKAGES = {"sklearn": "scikit-learn", "threadpoolctl": "threadpoolctl"}


def figures(inference: Inference) -> Iterator[tuple[str, Figure]]:
    """Draw the figure, once there are predictions; yield it with its file's stem."""
    if inference.predictions:
        yield "inference", draw_predictions(inference)
