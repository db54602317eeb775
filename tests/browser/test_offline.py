"""No page sends anything: every button of each is clicked while the network is watched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path as FilePath
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from farpath.report.html.run_page import PAGE_FILE, save_pictures
from farpath.report.site.build import build_site
from farpath.uses.regress.html import render_page
from farpath.uses.regress.kernel_comparison import Comparison
from farpath.uses.regress.suite import trials
from farpath.uses.regress.verdict import CaseState, CaseVerdict
from tests.browser.conftest import Tab
from tests.support.campaigns import write_named

#: What tries to reach an address, and says whether it could.
TRIALS = {
    "fetch": "away => fetch(away).then(() => true, () => false)",
    "image": """away => new Promise(done => {
        const image = new Image();
        image.onload = () => done(true); image.onerror = () => done(false);
        image.src = away;
    })""",
    "form": """away => {
        const form = document.createElement('form');
        form.action = away; form.method = 'post';
        document.body.append(form); form.submit(); return false;
    }""",
}


@pytest.fixture
def away() -> Iterator[tuple[str, list[str]]]:
    """A server's address, and what it was asked; a browser may connect and ask nothing."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        timeout = 1.0

        def do_GET(self) -> None:
            requests.append(self.requestline)
            self.send_error(404)

        do_POST = do_GET  # noqa: N815 (the server looks for that name)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", requests
    server.shutdown()
    thread.join()
    server.server_close()


PAGES = ["run's page", "site's index", "site's page of a run", "regression report"]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, FilePath]:
    """One page of each, by what it is."""
    directory = tmp_path_factory.mktemp("pages")
    first = write_named(directory / "records", "cern", "htcp_2004", 1)
    second = write_named(directory, "cern", "htcp_2004", 2)
    save_pictures(first)
    build_site(directory / "records", directory / "site", lambda _step, _done, _of: None)
    name = "htcp/one-loss"
    verdict = CaseVerdict(name, CaseState.CHANGED, why="another kernel")
    records = {name: (first.directory, second.directory)}
    report = render_page(
        Comparison("before", "after", (verdict,), records), trials(["htcp"], ["one-loss"])
    )
    (directory / "report.html").write_text(report)
    site = directory / "site"
    run_page = site / "runs" / "cern-htcp_2004-seed1.html"
    files = (first.directory / PAGE_FILE, site / "index.html", run_page, directory / "report.html")
    return dict(zip(PAGES, files, strict=True))


def _open(tab: Tab, file: FilePath) -> None:
    tab.page.goto(file.as_uri())
    if tab.page.locator("[data-curves]").count():
        tab.page.wait_for_selector("[data-curves] .scatterlayer .trace")


@pytest.mark.parametrize("tab", ["light"], indirect=True)
@pytest.mark.parametrize("name", PAGES)
def test_no_button_sends_anything(tab: Tab, pages: Mapping[str, FilePath], name: str) -> None:
    _open(tab, pages[name])
    buttons = tab.page.locator("button:visible, .modebar-btn, summary, .legendtoggle")
    has_figures = tab.page.locator(".js-plotly-plot").count() > 0
    assert buttons.count() >= 1 or not has_figures
    for button in buttons.all():
        button.click(force=True)
        tab.page.wait_for_timeout(50)
    titles = tab.page.eval_on_selector_all("[data-title]", "all => all.map(e => e.dataset.title)")
    assert not [title for title in titles if "share" in title.lower() or "edit" in title.lower()]
    assert {urlsplit(url).scheme for url in tab.requests} <= {"file", "data", "blob"}
    assert len(tab.page.context.pages) == 1
    assert urlsplit(tab.page.url).scheme == "file"
    assert (tab.console, tab.errors) == ([], [])


@pytest.mark.parametrize("tab", ["light"], indirect=True)
@pytest.mark.parametrize("name", PAGES)
def test_even_a_script_of_a_page_reaches_no_network(
    tab: Tab, pages: Mapping[str, FilePath], name: str, away: tuple[str, list[str]]
) -> None:
    address, requests = away
    _open(tab, pages[name])
    tab.page.context.set_offline(False)
    for means, script in TRIALS.items():
        assert tab.page.evaluate(script, address) is False, means
    tab.page.wait_for_timeout(200)
    assert requests == []
    refused = [line for line in tab.console if "Content Security Policy" in line]
    assert len(refused) >= len(TRIALS)


@pytest.mark.parametrize("tab", ["light"], indirect=True)
def test_a_picture_can_be_had_while_all_curves_are_hidden(
    tab: Tab, pages: Mapping[str, FilePath]
) -> None:
    _open(tab, pages[PAGES[0]])
    curves = tab.page.locator(".traces:has(.legendtoggle)")
    for number in range(curves.count()):
        curves.nth(number).locator(".legendtoggle").click(force=True)
        # two clicks before the page has followed the first show one curve alone
        expect(curves.nth(number)).to_have_css("opacity", "0.5")
    hidden = tab.page.evaluate(
        "document.getElementById('curves')._fullData"
        ".filter(curve => curve.showlegend).map(curve => curve.visible)"
    )
    assert set(hidden) == {"legendonly"}
    with tab.page.expect_download() as download:
        tab.page.locator(".modebar-btn[data-title*='PNG']").click(force=True)
    assert download.value.suggested_filename.endswith(".png")
    assert (tab.console, tab.errors) == ([], [])


@pytest.mark.parametrize("tab", ["light"], indirect=True)
def test_curves_are_smoothed_on_demand_only(tab: Tab, pages: Mapping[str, FilePath]) -> None:
    _open(tab, pages[PAGES[0]])

    def shown() -> list[float]:
        values: list[float] = tab.page.evaluate(
            "[...document.getElementById('curves')._fullData"
            ".find(trace => trace.name == 'aggregate').y]"
        )
        return values

    raw = shown()
    button = tab.page.get_by_role("button", name="Smooth over 5 s")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert shown() != raw
    button.click()
    assert shown() == raw
