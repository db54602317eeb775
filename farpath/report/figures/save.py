"""Saving of figures as PNG and SVG; with equal libraries equal figures give equal bytes."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.files import write_bytes
from farpath.report.figures.style import print_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The resolution of PNG files, in pixels per inch.
DPI = 200
#: The resolution on a notebook's page.
NOTEBOOK_DPI = 110
FORMATS = ("png", "svg")
#: Metadata without date and version.
_METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}


def save(figure: Figure, file: FilePath) -> None:
    """Write a figure in the format of the file's suffix, completely or not at all."""
    write_bytes(file, image_of(figure, file.suffix.removeprefix(".")))


def for_notebook(figure: Figure) -> Figure:
    """Let a notebook show a figure that is a cell's value; matplotlib does so for pyplot's only."""
    vars(figure)["_repr_png_"] = partial(image_of, figure, "png", NOTEBOOK_DPI)
    return figure


def image_of(figure: Figure, file_format: str, dpi: int = DPI) -> bytes:
    """Return a figure as the bytes of a file, in one of ``FORMATS``."""
    buffer = io.BytesIO()
    with print_style():
        figure.savefig(buffer, format=file_format, dpi=dpi, metadata=_METADATA[file_format])
    return buffer.getvalue()
