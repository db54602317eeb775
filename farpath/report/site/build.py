"""The building of a results site from a directory of records, completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath import __version__
from farpath.base.errors import BadInputError
from farpath.base.files import apply_umask, replace_directory, user_errors, write_text
from farpath.base.locks import fresh_partial
from farpath.base.project import SITE_MARK
from farpath.metrics.record_set import RecordSet, load_record_set
from farpath.record.record import load_record
from farpath.report.html.render import asset_text, plotly_js
from farpath.report.html.run_page import render_page
from farpath.report.report import Report, table_files
from farpath.report.site.pages import ASSETS_DIR, FIGURES_DIR, RUNS_DIR
from farpath.report.site.thumbnail import Area, areas
from farpath.report.site.view import View, view_for

INDEX = "index.html"
#: Called after each step with the kind of step, the count of finished steps and their total.
ProgressCallback = Callable[[str, int, int], None]


@dataclass(frozen=True)
class BuiltSite:
    """The contents of a site: pages of runs, and a sentence for each problem or mixture."""

    index: FilePath
    pages: int
    bytes: int
    problems: tuple[str, ...]


def build_site(
    records: FilePath,
    out: FilePath,
    on_progress: ProgressCallback,
    cpu_records: FilePath | None = None,
    held_out: Collection[str] = (),
    view: str | None = None,
) -> BuiltSite:
    """Make the site of a directory of records at ``out``, replacing an earlier site.

    ``cpu_records`` holds the runs in which CPU was counted. ``held_out`` are the paper's stacks
    that no path was fitted to. ``view``: how the records are shown, by default as ``default_view``
    decides. Raises BadInputError for a directory without records and for an ``out`` that holds
    anything but a site, MachineLacksError for a full disk; then ``out`` is unchanged.
    """
    _check_free(out)
    loaded = load_record_set(records, view, cpu_records)
    site_view = view_for(loaded, held_out)
    # If ``out`` is a link, the site that it leads to is replaced
    site_dir = out.resolve()
    with user_errors(out):
        site_dir.parent.mkdir(parents=True, exist_ok=True)
        with fresh_partial(site_dir.parent) as partial:
            _fill(partial, loaded, site_view, on_progress)
            size = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
            apply_umask(partial)
            replace_directory(partial, site_dir)
    return BuiltSite(
        out / INDEX,
        len(loaded.members),
        size,
        (*loaded.problems, *site_view.remarks, *site_view.missing),
    )


def _check_free(out: FilePath) -> None:
    if not out.exists():
        return
    if not out.is_dir() or (any(out.iterdir()) and not (out / SITE_MARK).is_file()):
        raise BadInputError(
            problem=f"{out}: holds something other than a results site, which would be lost",
            remedy="give `out` a directory that is new, empty or an earlier site",
        )


def _fill(
    site_dir: FilePath, records: RecordSet, view: View, on_progress: ProgressCallback
) -> None:
    (site_dir / FIGURES_DIR).mkdir()
    thumbnails = _write_runs(site_dir, records, view, on_progress)
    figure_files = view.write_site_figures(site_dir / FIGURES_DIR)
    for count, _ in enumerate(figure_files, 1):
        on_progress("figures", count, 0)
    files = {
        **table_files(view.site_tables()),
        **{f"{ASSETS_DIR}/{name}": asset_text(name) for name in ("style.css", "page.js")},
        f"{ASSETS_DIR}/plotly.min.js": plotly_js(),
        INDEX: view.index(thumbnails),
        SITE_MARK: f"{__version__}\n",
    }
    Report(files).write(site_dir)


def _write_runs(
    site_dir: FilePath, records: RecordSet, view: View, on_progress: ProgressCallback
) -> dict[str, tuple[Area, ...]]:
    """Write every run's page, one record at a time; return the thumbnails."""
    thumbnails = {}
    for count, member in enumerate(records.members, 1):
        run = member.run
        record = load_record(records.directory / run.record)
        page = render_page(record, view.links(run), f"../{ASSETS_DIR}")
        write_text(site_dir / RUNS_DIR / view.names[run.record], page)
        thumbnails[run.record] = areas(record.samples, record.plan)
        on_progress("pages", count, len(records.members))
    return thumbnails
