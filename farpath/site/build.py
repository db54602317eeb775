"""Build: a results site from a directory of records, whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath import __version__
from farpath.agreement import all_sheets
from farpath.campaign import Campaign, load_campaign, mixed
from farpath.claims import count_states, judge_all
from farpath.errors import BadInputError
from farpath.figures.paper import captions, missing_figures, write_figures
from farpath.figures.style import COLOUR_BLIND, NORMAL
from farpath.leftovers import fresh_partial
from farpath.page import render_page
from farpath.paper import stand_ins
from farpath.places import explained
from farpath.published import PUBLISHED_PATH
from farpath.record import load_record
from farpath.render import asset_text, plotly_js, render
from farpath.sheet import FORMS, SUFFIXES, Sheet, file_name
from farpath.site.matrix import heads, makes, matrix
from farpath.site.pages import RUNS_DIR, file_names, links_of
from farpath.site.thumbnail import HEIGHT, WIDTH, areas
from farpath.tables import Grid

INDEX = "index.html"
ASSETS_DIR = "assets"
FIGURES_DIR = "figures"
TABLES_DIR = "tables"
#: Tells a site from a directory of somebody's own, which is not replaced.
MARK = ".farpath-site"
#: Told after each step: what is done, and of how much.
Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Built:
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
) -> Built:
    """Make the site of a directory of records at ``out``, replacing an earlier site.

    ``cpu_records`` holds the runs in which CPU was counted; ``held_out`` are the paper's
    stacks that no path was fitted to. Raises BadInputError for a directory without
    records and for an ``out`` that holds anything but a site, MachineLacksError for a
    full disk; then ``out`` is as it was.
    """
    _check_free(out)
    campaign, problems = load_campaign(records, cpu_records)
    place = out.absolute()
    with explained(out):
        place.parent.mkdir(parents=True, exist_ok=True)
        with fresh_partial(place.parent) as partial:
            sheets = _sheets(campaign, held_out=held_out)
            _fill(partial, campaign, records, sheets, problems, told)
            size = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
            partial.chmod(0o755)
            if place.exists():
                place.rename(partial / "replaced")
            partial.rename(place)
            shutil.rmtree(place / "replaced", ignore_errors=True)
    return Built(
        out / INDEX,
        len(campaign.runs),
        size,
        (*problems, *mixed(campaign), *missing_figures(campaign)),
    )


def _check_free(out: FilePath) -> None:
    if not out.exists():
        return
    if not out.is_dir() or (any(out.iterdir()) and not (out / MARK).is_file()):
        raise BadInputError(
            f"{out}: holds something other than a results site, which would be lost: give "
            "--out a directory that is new, empty or an earlier site"
        )


def _fill(
    place: FilePath,
    campaign: Campaign,
    records: FilePath,
    sheets: tuple[Sheet, ...],
    problems: tuple[str, ...],
    told: Told,
) -> None:
    for folder in (RUNS_DIR, ASSETS_DIR, FIGURES_DIR, TABLES_DIR):
        (place / folder).mkdir()
    _write_assets(place / ASSETS_DIR)
    names = file_names(campaign)
    thumbnails = _write_runs(place / RUNS_DIR, campaign, records, names, told)
    drawn = write_figures(campaign, records, place / FIGURES_DIR, (NORMAL, COLOUR_BLIND))
    for count, _ in enumerate(drawn, 1):
        told("figures", count, 0)
    _write_tables(place / TABLES_DIR, sheets)
    index = _index(campaign, names, thumbnails, sheets, problems)
    (place / INDEX).write_text(index, encoding="utf-8")
    (place / MARK).write_text(f"{__version__}\n", encoding="utf-8")


def _write_assets(place: FilePath) -> None:
    for name in ("style.css", "page.js"):
        (place / name).write_text(asset_text(name), encoding="utf-8")
    (place / "plotly.min.js").write_text(plotly_js(), encoding="utf-8")


def _write_runs(
    place: FilePath, campaign: Campaign, records: FilePath, names: Mapping[str, str], told: Told
) -> dict[str, tuple[str, ...]]:
    """Every run's page, one record at a time; returns the thumbnails."""
    thumbnails = {}
    for count, run in enumerate(campaign.runs, 1):
        record = load_record(records / run.record)
        page = render_page(record, links_of(run, campaign, names), f"../{ASSETS_DIR}")
        (place / names[run.record]).write_text(page, encoding="utf-8")
        thumbnails[run.record] = areas(record.samples, record.plan)
        told("pages", count, len(campaign.runs))
    return thumbnails


def _write_tables(place: FilePath, sheets: tuple[Sheet, ...]) -> None:
    for sheet in sheets:
        for form, write in FORMS.items():
            (place / file_name(sheet, SUFFIXES[form])).write_text(write(sheet), encoding="utf-8")


def _index(
    campaign: Campaign,
    names: Mapping[str, str],
    thumbnails: Mapping[str, tuple[str, ...]],
    sheets: tuple[Sheet, ...],
    problems: tuple[str, ...],
) -> str:
    made, marks = makes(campaign)
    table = matrix(campaign, names, thumbnails, marks)
    cells = [cell for row in table for cell in row.cells]
    verdicts = judge_all(campaign)
    return render(
        "index.html",
        heading="Nine transport stacks over three paths",
        assets=ASSETS_DIR,
        version=__version__,
        columns=heads(campaign),
        rows=table,
        runs=len(campaign.runs),
        seeds=sorted({run.seed for run in campaign.runs}),
        filled=sum(cell is not None for cell in cells),
        cells=len(cells),
        flows=_most_flows(campaign),
        thumbnail=(WIDTH, HEIGHT),
        figures=captions(campaign),
        figures_dir=FIGURES_DIR,
        missing_figures=missing_figures(campaign),
        sheets=_shown(sheets, campaign),
        tables_dir=TABLES_DIR,
        verdicts=verdicts,
        states=count_states(verdicts),
        makes=made,
        mixed=mixed(campaign),
        problems=problems,
    )


def _most_flows(campaign: Campaign) -> int:
    """How many flows the run has that has most, of those that have a colour."""
    summaries = [run.summary for run in campaign.runs]
    flows = [{name for region in each.regions for name in region.flows} for each in summaries]
    return min(max(map(len, flows)), len(NORMAL.flows))


def _sheets(
    campaign: Campaign, path: str | None = None, held_out: Collection[str] = ()
) -> tuple[Sheet, ...]:
    """All tables, of one path alone if it is given; none if none of the paper's stacks ran."""
    return all_sheets(campaign, path, held_out) if stand_ins(campaign) else ()


def _shown(
    sheets: tuple[Sheet, ...], campaign: Campaign
) -> list[tuple[Grid, dict[str, str], bool]]:
    """Each table, its files by form, and whether it is open; those first.

    Tables of a path that has no published ones are closed.
    """
    others = (path for path in campaign.paths if path != PUBLISHED_PATH)
    aside = {sheet.name for path in others for sheet in _sheets(campaign, path)}
    shown = [
        (
            sheet.grid,
            {form: file_name(sheet, suffix) for form, suffix in SUFFIXES.items()},
            sheet.name not in aside,
        )
        for sheet in sheets
    ]
    return sorted(shown, key=lambda each: not each[2])
