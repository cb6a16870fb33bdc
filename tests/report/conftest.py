"""The browser that pages are looked at with: the Chromium of the system, since nothing else is a reader's eye."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, for the whole session."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.fail("There is no Chromium here: `apt-get install chromium`, or a Chrome of the system.")
    with sync_playwright() as playwright:
        # Containers run as root, where Chromium's own sandbox can't.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures of pages are kept, for a person to look at: `build/screenshots`, which is not versioned."""
    folder = Path(__file__).parent.parent.parent / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
