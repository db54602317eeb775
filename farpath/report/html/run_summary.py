"""A run, or a few compared, as a piece of HTML that needs no style or script, for notebooks."""

from __future__ import annotations

import base64
from contextlib import suppress
from dataclasses import replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.files import read_regular
from farpath.metrics.one_draw import one_draw_sentences
from farpath.metrics.run_settings import path_headline, path_line
from farpath.report.figures.compared_curves import draw_comparison
from farpath.report.figures.run_over_time import title
from farpath.report.figures.save import NOTEBOOK_DPI, image_of
from farpath.report.html.render import render
from farpath.report.overview import results

if TYPE_CHECKING:
    from farpath.record.record import Record
    from farpath.report.tables.comparison import Comparison


def render_summary(record: Record, figure: FilePath) -> str:
    """Return a run's tables and its figure, a PNG file, which the HTML contains if there is one."""
    data = ""
    with suppress(OSError):
        data = base64.b64encode(read_regular(figure)).decode()
    return render(
        "summary.html",
        heading=title(record.plan),
        tables=[replace(table, note="") for table in results(record)],
        path=f"{path_headline(record.plan.path)}; {path_line(record.plan.path)}",
        figure=data,
        warnings=record.data["warnings"],
        notes=one_draw_sentences(record.plan),
        record=record.directory,
        fingerprint=record.fingerprint,
    )


def render_comparison_summary(comparison: Comparison) -> str:
    """Return the tables and the curves of compared runs, which the HTML contains."""
    picture = image_of(draw_comparison(comparison), "png", NOTEBOOK_DPI)
    return render(
        "compared.html",
        heading=comparison.title,
        tables=[comparison.results_table, comparison.records_table],
        figure=base64.b64encode(picture).decode(),
        warnings=(),
        notes=comparison.remarks,
    )
