"""No page sends anything: every button of each is clicked while the network is watched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as FilePath
from urllib.parse import urlsplit

import pytest

from farpath.page import save_page
from farpath.regress.compare import Compared
from farpath.regress.page import render_page
from farpath.regress.suite import trials
from farpath.regress.verdict import State, Verdict
from farpath.site.build import build_site
from tests.browser.conftest import Tab
from tests.unit.campaigns import write_named

AWAY = "https://example.org/"
#: What tries to reach a network, and says whether it could.
TRIALS = {
    "fetch": f"() => fetch('{AWAY}').then(() => true, () => false)",
    "image": f"""() => new Promise(done => {{
        const image = new Image();
        image.onload = () => done(true); image.onerror = () => done(false);
        image.src = '{AWAY}';
    }})""",
    "form": f"""() => {{
        const form = document.createElement('form');
        form.action = '{AWAY}'; form.method = 'post';
        document.body.append(form); form.submit(); return false;
    }}""",
}


def run_page(place: FilePath) -> FilePath:
    record = write_named(place, "cern", "htcp_2004", 1)
    save_page(record, place / "page.html")
    return place / "page.html"


def _site(place: FilePath) -> FilePath:
    write_named(place / "records", "cern", "htcp_2004", 1)
    build_site(place / "records", place / "out", lambda _what, _done, _of: None)
    return place / "out"


def site_index(place: FilePath) -> FilePath:
    return _site(place) / "index.html"


def site_run(place: FilePath) -> FilePath:
    return _site(place) / "runs" / "cern-htcp_2004-seed1.html"


def regress_report(place: FilePath) -> FilePath:
    before, after = (write_named(place, "cern", "htcp_2004", seed).directory for seed in (1, 2))
    name = "htcp/one-loss"
    verdict = Verdict(name, State.CHANGED, why="another kernel")
    compared = Compared("before", "after", (verdict,), {name: (before, after)})
    (place / "report.html").write_text(render_page(compared, trials(["htcp"], ["one-loss"])))
    return place / "report.html"


PAGES = [run_page, site_index, site_run, regress_report]


def _open(tab: Tab, file: FilePath) -> None:
    tab.page.goto(file.as_uri())
    if tab.page.locator("[data-curves]").count():
        tab.page.wait_for_selector("[data-curves] .scatterlayer .trace")


@pytest.mark.parametrize("tab", ["light"], indirect=True)
@pytest.mark.parametrize("make", PAGES)
def test_no_button_sends_anything(
    tab: Tab, tmp_path: FilePath, make: Callable[[FilePath], FilePath]
) -> None:
    _open(tab, make(tmp_path))
    buttons = tab.page.locator("button:visible, .modebar-btn, summary, .legendtoggle")
    assert buttons.count() >= 1
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
@pytest.mark.parametrize("make", PAGES)
def test_even_a_script_of_a_page_reaches_no_network(
    tab: Tab, tmp_path: FilePath, make: Callable[[FilePath], FilePath]
) -> None:
    _open(tab, make(tmp_path))
    for name, script in TRIALS.items():
        assert tab.page.evaluate(script) is False, name
    tab.page.wait_for_timeout(200)
    assert not [url for url in tab.requests if url.startswith(AWAY)]
    assert len([line for line in tab.console if "Content Security Policy" in line]) >= len(TRIALS)


@pytest.mark.parametrize("tab", ["light"], indirect=True)
def test_curves_are_smoothed_on_demand_only(tab: Tab, tmp_path: FilePath) -> None:
    _open(tab, run_page(tmp_path))

    def shown() -> list[float]:
        found: list[float] = tab.page.evaluate(
            "[...document.getElementById('curves')._fullData"
            ".find(trace => trace.name == 'aggregate').y]"
        )
        return found

    raw = shown()
    button = tab.page.get_by_role("button", name="Smooth over 5 s")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert shown() != raw
    button.click()
    assert shown() == raw
