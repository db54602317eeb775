"""A headless Chromium, as Debian has it, that keeps what a page complains of."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from tests.notebooks.conftest import Clone, make_clone

#: After so long a page hangs; a loaded machine only takes its time.
HANG_MS = 300_000
#: After so long a cell that was run says so.
AGAIN_MS = 2_000
TOKEN = "a-token-of-this-test"
#: How long JupyterLab may take to answer; nothing waits for it.
START_LIMIT_S = 120.0


@dataclass(frozen=True)
class Tab:
    """A page, what its console printed and what it asked of a network."""

    page: Page
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium here: images/host-packages browser installs it")
    with sync_playwright() as playwright:
        # Root, as in a container, has no sandbox of Chromium's.
        opened = playwright.chromium.launch(
            executable_path=chromium, chromium_sandbox=False, timeout=HANG_MS
        )
        yield opened
        opened.close()


@pytest.fixture(params=["light", "dark"])
def tab(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """A fresh tab, offline, in each colour scheme."""
    context = browser.new_context(
        color_scheme=request.param, offline=True, viewport={"width": 1280, "height": 900}
    )
    context.set_default_timeout(HANG_MS)
    tab = Tab(context.new_page())
    tab.page.on("console", lambda message: tab.console.append(message.text))
    tab.page.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.page.on("request", lambda http_request: tab.requests.append(http_request.url))
    yield tab
    context.close()


@pytest.fixture
def clone(tmp_path: FilePath) -> Clone:
    """The project with its lab and a quick set of records."""
    made = make_clone(tmp_path)
    made.ship()
    made.link_lab()
    return made


@pytest.fixture
def address(clone: Clone) -> Iterator[str]:
    """A JupyterLab of the clone's that answers, started as ``make notebook`` starts it."""
    (clone.folder / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [clone.folder / "images/notebook/here"],
        cwd=clone.folder,
        env={
            **clone.environment(),
            "HOME": str(clone.folder / "home"),
            "NOTEBOOK_PORT": str(port),
            "JUPYTER_TOKEN": TOKEN,
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        await_answer(f"http://127.0.0.1:{port}/api", server)
        yield f"http://127.0.0.1:{port}"
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


def await_kernel(page: Page, notebook: str) -> None:
    """Wait until the page is connected to a notebook's kernel: what is run before does nothing."""
    page.wait_for_function(
        """async notebook => (await (await fetch('/api/sessions')).json()).some(session =>
            session.path.endsWith(notebook)
            && session.kernel.connections > 0 && session.kernel.execution_state === 'idle')""",
        arg=notebook,
        polling=500,
    )


def run_first_cell(page: Page, notebook: str, panel: Locator | None = None) -> None:
    """Run the first code cell of the open notebook, or a panel's, once it has its kernel.

    Before the page itself knows of its kernel, a cell that is to run does nothing; then again. On a
    busy machine JupyterLab asks which kernel it is to be, and offers the right one.
    """
    await_kernel(page, notebook)
    cell = (panel or page).locator(".jp-CodeCell").first
    page.add_locator_handler(
        page.locator(".jp-Dialog:has-text('Select Kernel')"),
        lambda dialog: dialog.locator(".jp-mod-accept").click(),
    )
    for _ in range(HANG_MS // AGAIN_MS):
        cell.click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(AGAIN_MS)
        if re.search("[0-9*]", cell.locator(".jp-InputPrompt").inner_text()):
            return
    pytest.fail("the first cell does not run")
