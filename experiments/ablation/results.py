"""The results of an ablation, as the engine asks for them: made, added to, kept and shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .analysis import ABLATION_FILE as FILE
from .analysis import Ablation, extended
from .analysis import ablation_of as of_runs
from .analysis import read_ablation as read
from .analysis import write_ablation as write
from .drawing import draw_ablation
from .tables import ablation_tables as tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FILE", "extended", "figures", "of_runs", "read", "tables", "write"]


def figures(ablation: Ablation) -> Iterator[tuple[str, Figure]]:
    """Draw the figure; yield it with its file's stem."""
    yield "ablation", draw_ablation(ablation)
