"""One headless Chromium for the tests of a file, a new window for each test; whatever goes wrong in it fails the test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from tests.browser.chromium import MISSING, OPTIONS, find_chromium

if TYPE_CHECKING:  # playwright is slow to import, and not needed to leave these tests out
    from playwright.sync_api import Browser, Page, Request

PATIENCE = 15_000  # milliseconds a test waits for something to appear on a busy machine
LOCAL = ("127.0.0.1", "localhost", "[::1]", "")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser. It ends with the file, because playwright's event loop would be in the way of other tests."""
    from playwright.sync_api import sync_playwright

    program = find_chromium()
    if program is None:
        pytest.skip(MISSING)
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=program, headless=True, args=list(OPTIONS))
        yield found
        found.close()


@pytest.fixture
def trouble() -> list[str]:
    """What went wrong in the page: errors in the console, exceptions, and requests that leave the machine.

    A test that provokes an error looks at this list and clears it; `page` fails if something is left in it.
    """
    return []


@pytest.fixture
def page(browser: Browser, trouble: list[str]) -> Iterator[Page]:
    """An empty page in a new window, without cookies, cache or history."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    watch_page(opened, trouble)
    yield opened
    context.close()
    assert trouble == []


def watch_page(page: Page, trouble: list[str]) -> None:
    """Add to the list whatever goes wrong in a page from now on."""

    def note_request(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname not in LOCAL:
            trouble.append(f"request to {request.url}")

    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", note_request)
