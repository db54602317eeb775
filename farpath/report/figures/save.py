"""Saving of figures as PNG and SVG; with equal libraries equal figures give equal bytes."""

from __future__ import annotations

import io
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.files import write_bytes
from farpath.report.figures.style import print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The resolution of PNG files, in pixels per inch.
DPI = 200
FORMATS = ("png", "svg")
#: Metadata without date and version.
_METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}


def save(figure: Figure, file: FilePath) -> None:
    """Write a figure in the format of the file's suffix, completely or not at all."""
    file_format = file.suffix.removeprefix(".")
    buffer = io.BytesIO()
    with print_style():
        figure.savefig(buffer, format=file_format, dpi=DPI, metadata=_METADATA[file_format])
    write_bytes(file, buffer.getvalue())
