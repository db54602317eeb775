"""The results site in a browser, from its files alone."""

from __future__ import annotations

import re
from pathlib import Path as FilePath
from typing import Literal
from urllib.parse import unquote, urlsplit

import pytest

from farpath.report.figures.stack_colours import HUES, look_of
from farpath.report.html.run_page import PAGE_FILE, save_pictures
from farpath.report.site.build import build_site
from tests.browser.conftest import Tab
from tests.support.campaigns import write_named

MARKUP = "<img src=x onerror=alert(1)>"
#: Where pages lead is the same in both colour schemes.
light_only = pytest.mark.parametrize("tab", ["light"], indirect=True)


def quiet(what: str, done: int, of: int) -> None:
    """Nobody looks at the progress."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    """Two seeds of H-TCP at CERN, one with markup in it, and UDT at Caltech."""
    directory = tmp_path_factory.mktemp("site")
    write_named(directory / "records", "cern", "htcp_2004", 1, warnings=(MARKUP,), kernel=MARKUP)
    write_named(directory / "records", "cern", "htcp_2004", 2)
    write_named(directory / "records", "caltech", "udt", 1)
    build_site(directory / "records", directory / "out", quiet)
    return directory / "out"


def assert_clean(tab: Tab) -> None:
    """No complaint, and nothing asked but files."""
    assert (tab.console, tab.errors) == ([], [])
    assert {urlsplit(url).scheme for url in tab.requests} <= {"file", "data", "blob"}


def drawn_panels(tab: Tab) -> int:
    """How many panels of a run's page hold a curve that was drawn."""
    tab.page.wait_for_selector("#curves .scatterlayer .trace")
    return int(
        tab.page.evaluate(
            "[...document.querySelectorAll('#curves .cartesianlayer .subplot')]"
            ".filter(p => p.querySelector('.trace path')).length"
        )
    )


def test_the_index_opens_from_its_file_without_errors(site: FilePath, tab: Tab) -> None:
    tab.page.goto((site / "index.html").as_uri())
    tab.page.wait_for_selector(".matrix")
    assert tab.page.locator(".matrix tbody tr").count() == 9
    assert tab.page.locator("a.cell").count() == 2
    assert tab.page.locator(".missing").count() == 25
    tab.page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
    # A page that may evaluate no text as script refuses wait_for_function
    tab.page.evaluate("Promise.all([...document.images].map(i => i.decode()))")
    assert tab.page.evaluate("[...document.images].every(i => i.naturalWidth > 0)")
    assert_clean(tab)


def test_a_click_on_a_cell_leads_to_drawn_curves(site: FilePath, tab: Tab) -> None:
    tab.page.goto((site / "index.html").as_uri())
    tab.page.locator("a.cell[aria-label^='HTCP on CERN']").click()
    assert "htcp_2004" in tab.page.locator("h1").inner_text()
    assert drawn_panels(tab) == 4
    assert_clean(tab)


@light_only
def test_the_keyboard_alone_opens_a_run(site: FilePath, tab: Tab) -> None:
    tab.page.goto((site / "index.html").as_uri())
    for _ in range(40):
        tab.page.keyboard.press("Tab")
        if tab.page.evaluate("document.activeElement.classList.contains('cell')"):
            break
    tab.page.keyboard.press("Enter")
    assert drawn_panels(tab) == 4


@light_only
def test_a_run_leads_to_its_other_seed_and_back_to_all_runs(site: FilePath, tab: Tab) -> None:
    tab.page.goto((site / "runs" / "cern-htcp_2004-seed1.html").as_uri())
    tab.page.get_by_role("link", name="2", exact=True).click()
    assert tab.page.locator("h1").inner_text().endswith("seed 2")
    tab.page.get_by_role("link", name="All runs").click()
    assert tab.page.locator(".matrix").count() == 1


@light_only
def test_every_link_of_every_page_leads_to_something(site: FilePath, tab: Tab) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 4
    for file in pages:
        tab.page.goto(file.as_uri())
        links = tab.page.eval_on_selector_all(
            "[href], [src]", "all => all.map(e => e.href || e.src)"
        )
        assert links
        for link in links:
            parts = urlsplit(link)
            assert parts.scheme in ("file", "data"), link
            if parts.scheme == "data":
                continue
            target = FilePath(unquote(parts.path))
            assert target.is_file(), link
            assert target.is_relative_to(site)
            if parts.fragment:
                assert re.search(f'id="{parts.fragment}"', target.read_text()), link


@light_only
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_stack_has_one_colour_on_every_page_and_another_one_on_dark_pages(
    site: FilePath, tab: Tab, scheme: Literal["light", "dark"]
) -> None:
    tab.page.emulate_media(color_scheme=scheme)
    hue = HUES[look_of("htcp_2004").hue][scheme == "dark"]
    for seed in (1, 2):
        tab.page.goto((site / "runs" / f"cern-htcp_2004-seed{seed}.html").as_uri())
        drawn_panels(tab)
        first_flow = tab.page.evaluate(
            "document.getElementById('curves')._fullData"
            ".find(trace => trace.name.startsWith('flow1 ')).line.color"
        )
        assert first_flow == hue


@light_only
def test_what_a_record_says_is_shown_and_never_run(site: FilePath, tab: Tab) -> None:
    tab.page.goto((site / "runs" / "cern-htcp_2004-seed1.html").as_uri())
    assert tab.page.locator(".warning").first.inner_text() == MARKUP
    assert drawn_panels(tab) == 4
    assert_clean(tab)


@light_only
def test_a_records_own_page_needs_no_other_file(tab: Tab, tmp_path: FilePath) -> None:
    record = write_named(tmp_path, "cern", "fast", 1)
    save_pictures(record)
    tab.page.goto((record.directory / PAGE_FILE).as_uri())
    assert drawn_panels(tab) == 4
    assert len(tab.requests) == 1
    assert_clean(tab)


@light_only
def test_a_heading_sorts_the_runs_by_its_numbers_and_again_the_other_way(
    site: FilePath, tmp_path: FilePath, tab: Tab
) -> None:
    build_site(site.parent / "records", tmp_path, quiet, view="runs")
    tab.page.goto((tmp_path / "index.html").as_uri())
    heading = tab.page.get_by_role("button", name="buffer")
    heading.click()
    heading.press("Enter")
    units = [cell.split()[1] for cell in column(tab, "buffer")]
    assert units == ["MB", "MB", "kB"]
    assert heading.locator("..").get_attribute("aria-sort") == "descending"
    heading.press("Enter")
    units = [cell.split()[1] for cell in column(tab, "buffer")]
    assert units == ["kB", "MB", "MB"]
    assert_clean(tab)


def column(tab: Tab, name: str) -> list[str]:
    """The cells of a column of the runs, from the first row to the last."""
    return tab.page.locator(f".runs td[data-name='{name}']").all_inner_texts()
