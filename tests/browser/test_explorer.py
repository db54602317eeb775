"""The explorer as a reader uses it: JupyterLab in headless Chromium, and the real lab."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path as FilePath

import pytest
from playwright.sync_api import Browser, Page

from farpath.record.record import records_in
from tests.browser.conftest import HANG_MS
from tests.notebooks.conftest import Clone, make_clone

TOKEN = "a-token-of-this-test"
#: How long JupyterLab may take to answer; nothing waits for it.
START_LIMIT_S = 120.0


@pytest.fixture
def clone(tmp_path: FilePath) -> Clone:
    """The project with its lab and a quick set of records."""
    made = make_clone(tmp_path)
    made.ship()
    made.link_lab()
    return made


@pytest.fixture
def address(clone: Clone) -> Iterator[str]:
    """A JupyterLab of the clone's that answers, up to the path of a notebook."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *(f"--port={port}", f"--IdentityProvider.token={TOKEN}"),
        ],
        cwd=clone.folder,
        env={**clone.environment(), "HOME": str(clone.folder / "home"), "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        await_answer(f"http://127.0.0.1:{port}/api", server)
        yield f"http://127.0.0.1:{port}/doc/tree"
    finally:
        server.terminate()
        server.wait()


def await_answer(address: str, server: subprocess.Popen[bytes]) -> None:
    """Return once a server answers; fail if it ends or does not within the limit."""
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        assert server.poll() is None, "JupyterLab ended"
        assert time.monotonic() < deadline, "JupyterLab does not answer"
        try:
            with urllib.request.urlopen(address, timeout=10):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The explorer's notebook with its first cell run."""
    context = browser.new_context(viewport={"width": 1400, "height": 1500})
    context.set_default_timeout(HANG_MS)
    page = context.new_page()
    page.goto(f"{address}/notebooks/05-explore.ipynb?token={TOKEN}")
    page.locator(".jp-CodeCell").first.click()
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']")
    page.keyboard.press("Shift+Enter")
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
    page.wait_for_selector("text=LOSS is '<b>x</b>': it must be")

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
    assert record.name.startswith("cern-changed-htcp_2004-5s-")
    assert page.locator(".js-plotly-plot .legendtext:has-text('flow4')").count() == 1
    buttons = page.locator(".js-plotly-plot .modebar-btn")
    titles = [str(each.get_attribute("data-title")) for each in buttons.all()]
    assert titles
    assert not [title for title in titles if re.search("share|cloud|edit|logo", title, re.I)]
    assert wrong == []
