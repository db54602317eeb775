"""Save: figures as PNG and SVG; equal figures give equal bytes with equal libraries."""

from __future__ import annotations

import io
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.files import write_bytes
from farpath.report.figures.style import print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Pixels per inch of PNG files.
DPI = 200
FORMATS = ("png", "svg")
#: No date and no version in a file.
_METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}


def save(figure: Figure, file: FilePath) -> None:
    """Write a figure in the format that the file's ending says, whole or not at all."""
    kind = file.suffix.removeprefix(".")
    drawn = io.BytesIO()
    with print_style():
        figure.savefig(drawn, format=kind, dpi=DPI, metadata=_METADATA[kind])
    write_bytes(file, drawn.getvalue())
