"""A headless Chromium, as Debian has it, that keeps what a page complains of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

#: After so long a page hangs; a loaded machine only takes its time.
HANG_MS = 300_000


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
