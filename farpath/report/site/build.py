"""Build: a results site from a directory of records, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath import __version__
from farpath.analysis.record_set import RecordSet, load_record_set
from farpath.base.errors import BadInputError
from farpath.base.files import replace_directory, user_errors
from farpath.base.locks import fresh_partial
from farpath.base.project import SITE_MARK
from farpath.record.record import load_record
from farpath.report.figures.style import COLOUR_BLIND, NORMAL
from farpath.report.html.render import asset_text, plotly_js
from farpath.report.html.run_page import render_page
from farpath.report.site.pages import ASSETS_DIR, FIGURES_DIR, RUNS_DIR, TABLES_DIR
from farpath.report.site.thumbnail import areas
from farpath.report.site.view import View, shown_as
from farpath.report.tables.formats import FORMS, SUFFIXES, Sheet, file_name

INDEX = "index.html"
#: Told after each step: what is done, and of how much.
Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class BuiltSite:
    """What a site holds: pages of runs, and a sentence for each thing left out or mixed."""

    index: FilePath
    pages: int
    bytes: int
    problems: tuple[str, ...]


def build_site(
    records: FilePath,
    out: FilePath,
    told: Told,
    cpu_records: FilePath | None = None,
    held_out: Collection[str] = (),
    view: str | None = None,
) -> BuiltSite:
    """Make the site of a directory of records at ``out``, replacing an earlier site.

    ``cpu_records`` holds the runs in which CPU was counted; ``held_out`` are the paper's
    stacks that no path was fitted to; ``view``: what the records are shown as, if not as what
    they are. Raises BadInputError for a directory without records and for an ``out`` that
    holds anything but a site, MachineLacksError for a full disk; then ``out`` is as it was.
    """
    _check_free(out)
    loaded = load_record_set(records, view, cpu_records)
    shown = shown_as(loaded, held_out)
    # The site that a link leads to is replaced, and the link stays.
    place = out.resolve()
    with user_errors(out):
        place.parent.mkdir(parents=True, exist_ok=True)
        with fresh_partial(place.parent) as partial:
            _fill(partial, loaded, shown, told)
            size = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
            partial.chmod(0o755)
            replace_directory(partial, place)
    return BuiltSite(
        out / INDEX, len(loaded.members), size, (*loaded.problems, *shown.remarks, *shown.missing)
    )


def _check_free(out: FilePath) -> None:
    if not out.exists():
        return
    if not out.is_dir() or (any(out.iterdir()) and not (out / SITE_MARK).is_file()):
        raise BadInputError(
            f"{out}: holds something other than a results site, which would be lost: give "
            "--out a directory that is new, empty or an earlier site"
        )


def _fill(place: FilePath, records: RecordSet, view: View, told: Told) -> None:
    for folder in (RUNS_DIR, ASSETS_DIR, FIGURES_DIR, TABLES_DIR):
        (place / folder).mkdir()
    _write_assets(place / ASSETS_DIR)
    thumbnails = _write_runs(place / RUNS_DIR, records, view, told)
    drawn = view.write_site_figures(place / FIGURES_DIR, (NORMAL, COLOUR_BLIND))
    for count, _ in enumerate(drawn, 1):
        told("figures", count, 0)
    _write_tables(place / TABLES_DIR, view.site_sheets())
    (place / INDEX).write_text(view.index(thumbnails), encoding="utf-8")
    (place / SITE_MARK).write_text(f"{__version__}\n", encoding="utf-8")


def _write_assets(place: FilePath) -> None:
    for name in ("style.css", "page.js"):
        (place / name).write_text(asset_text(name), encoding="utf-8")
    (place / "plotly.min.js").write_text(plotly_js(), encoding="utf-8")


def _write_runs(
    place: FilePath, records: RecordSet, view: View, told: Told
) -> dict[str, tuple[str, ...]]:
    """Every run's page, one record at a time; returns the thumbnails."""
    thumbnails = {}
    for count, member in enumerate(records.members, 1):
        run = member.run
        record = load_record(records.directory / run.record)
        page = render_page(record, view.links(run), f"../{ASSETS_DIR}")
        (place / view.names[run.record]).write_text(page, encoding="utf-8")
        thumbnails[run.record] = areas(record.samples, record.plan)
        told("pages", count, len(records.members))
    return thumbnails


def _write_tables(place: FilePath, sheets: tuple[Sheet, ...]) -> None:
    for sheet in sheets:
        for form, write in FORMS.items():
            (place / file_name(sheet, SUFFIXES[form])).write_text(write(sheet), encoding="utf-8")
