"""A lesson as a student works with it: JupyterLab in headless Chromium, and the real lab."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from farpath.record.record import records_in
from tests.browser.conftest import HANG_MS, TOKEN, run_first_cell
from tests.notebooks.conftest import Clone


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """JupyterLab as it opens."""
    expect.set_options(timeout=HANG_MS)
    context = browser.new_context(viewport={"width": 1500, "height": 1400})
    context.set_default_timeout(HANG_MS)
    page = context.new_page()
    page.goto(f"{address}/?token={TOKEN}")
    yield page
    context.close()


def run_with(lesson: Locator, prediction: str) -> None:
    """Predict, and press Run."""
    lesson.locator("input[placeholder='a number in ms']").fill(prediction)
    run = lesson.locator("button:has-text('Run')")
    expect(run).to_be_enabled()
    run.click()


@pytest.mark.lab
def test_the_index_opens_first_and_a_slider_moves_to_another_run(page: Page, clone: Clone) -> None:
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.locator("h1:has-text('Start here')").wait_for()
    page.locator("a:has-text('01 Slow start')").click()
    notebook = page.locator(".jp-NotebookPanel:has(h1:has-text('Slow start'))")
    run_first_cell(page, "01-slow-start.ipynb", notebook)

    lesson = notebook.locator(".jp-OutputArea").first
    expect(lesson).to_contain_text("First your prediction, then Run.")
    expect(lesson.locator("button:has-text('Run')")).to_be_disabled()
    assert records_in(clone.folder / "results" / "lessons") == []
    run_with(lesson, "150")
    expect(lesson).to_contain_text(re.compile("Run 1: measured 1.. ms, predicted 150 ms: right."))

    expect(lesson.locator(".widget-readout").first).to_have_text("20ms")
    lesson.locator(".noUi-handle").first.press("ArrowRight")
    expect(lesson.locator(".widget-readout").first).to_have_text("50ms")
    expect(lesson).to_contain_text("First your prediction, then Run.")
    expect(lesson.locator("button:has-text('Run')")).to_be_disabled()
    run_with(lesson, "100")
    expect(lesson).to_contain_text("predicted 100 ms: too low by a factor of")
    assert lesson.locator("table tr").count() == 3
    legend = lesson.locator(".js-plotly-plot .legendtext")
    expect(legend).to_have_count(3)
    names = [name[:12] for name in legend.all_text_contents()]
    assert names == ["1: rtt 20ms,", "2: rtt 50ms,", "bandwidth-de"]
    assert len(records_in(clone.folder / "results" / "lessons")) == 2
    # Nothing lies over the figure
    assert page.get_by_text("Jupyter news").count() == 0
    assert wrong == []
