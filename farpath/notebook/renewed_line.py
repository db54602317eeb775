"""Progress of a run in a notebook: one line that is renewed, and gone at the end."""

from __future__ import annotations

import html
import sys
from typing import Any

from farpath.lab.progress import Stage, StageReader


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")


class ProgressLine:
    """A line with a bar in the present cell's output, which is removed at the end."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._display: Any = None

    def __enter__(self) -> ProgressLine:
        from IPython.display import HTML, display

        self._display = display(HTML(""), display_id=True)  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *_error: object) -> None:
        self._show("")

    def show(self, stage: Stage) -> None:
        """Show how far the work is."""
        text = html.escape(f"{self._label}: {stage.note}")
        self._show(f'<progress max="1" value="{stage.part:.3f}"></progress> {text}')

    def _show(self, markup: str) -> None:
        from IPython.display import HTML

        self._display.update(HTML(markup))  # type: ignore[no-untyped-call]


class NotebookProgress:
    """Shows a lab's events in a notebook; for a terminal there is ``farpath.lab.progress``."""

    def __init__(self, label: str, duration_s: float, unit: str = "virtual s") -> None:
        self._line = ProgressLine(label)
        self._reader = StageReader(duration_s, unit)

    def __enter__(self) -> NotebookProgress:
        self._line.__enter__()
        self._line.show(Stage(0.0, "booting"))
        return self

    def __exit__(self, *error: object) -> None:
        self._line.__exit__(*error)

    def watch(self, event: dict[str, Any]) -> None:
        """Show one event of the guest."""
        if stage := self._reader.stage(event):
            self._line.show(stage)
