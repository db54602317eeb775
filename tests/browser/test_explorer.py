"""The explorer as a reader uses it: JupyterLab in headless Chromium, and the real lab."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from farpath.record.record import records_in
from tests.browser.conftest import HANG_MS, TOKEN, run_first_cell
from tests.notebooks.conftest import Clone


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The explorer's notebook with its first cell run."""
    context = browser.new_context(viewport={"width": 1400, "height": 1500})
    context.set_default_timeout(HANG_MS)
    page = context.new_page()
    page.goto(f"{address}/doc/tree/notebooks/05-explore.ipynb?token={TOKEN}")
    run_first_cell(page, "05-explore.ipynb")
    yield page
    context.close()


@pytest.mark.lab
def test_runs_are_chosen_refused_stopped_and_shown(page: Page, clone: Clone) -> None:
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    run, stop = (page.locator(f".jp-OutputArea button:has-text('{t}')") for t in ("Run", "Stop"))
    loss = page.locator("input[placeholder*='1e-6']")
    page.wait_for_selector(".js-plotly-plot")
    assert "regions of 30 s, seed 1" in page.inner_text(".jp-OutputArea")

    loss.fill("<b>x</b>")
    loss.press("Tab")
    run.click()
    page.wait_for_selector("text=loss is '<b>x</b>': it must be")

    loss.fill("1e-5")
    loss.press("Tab")
    run.click()
    page.wait_for_selector(".jp-OutputArea button:has-text('Stop'):not([disabled])")
    stop.click()
    page.wait_for_selector("text=stopped; no partial record is left")
    assert records_in(clone.folder / "results") == []

    run.click()
    page.wait_for_selector("text=ran in ")
    page.wait_for_selector(".jp-OutputArea-output pre:has-text('regions of 5 s, seed 1')")
    (record,) = records_in(clone.folder / "results")
    assert record.name.startswith("cern-changed-164ms-480Mbit-loss1e-05-htcp_2004-5s-")
    assert page.locator(".js-plotly-plot .legendtext:has-text('flow4')").count() == 1
    buttons = page.locator(".js-plotly-plot .modebar-btn")
    titles = [str(each.get_attribute("data-title")) for each in buttons.all()]
    assert titles
    assert not [title for title in titles if re.search("share|cloud|edit|logo", title, re.I)]
    assert wrong == []
