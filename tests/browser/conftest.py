"""A page of the demo's storm, open in headless Chromium."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from evenkeel_cli.main import main

READY = 20
"""Seconds until a page is drawn, at most."""

FLAGS = (
    *("--headless", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--window-size=1280,1000",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Debian's Chromium, with a profile of its own."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.fail("Chromium is missing: apt-get install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium has none for root
    browser = Chrome(options, Service(driver))
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the demo's storm."""
    file = tmp_path_factory.mktemp("page") / "report.html"
    done = CliRunner().invoke(main, ["report", "--from", "demo", "--html", str(file)])
    assert done.exit_code == 1, done.output  # workloads had too few pods
    return file


@pytest.fixture
def opened(browser: Chrome, page: Path) -> Chrome:
    """The page as it opens."""
    browser.get(page.as_uri())
    WebDriverWait(browser, READY).until(
        lambda _: browser.find_elements(By.CSS_SELECTOR, "html[data-ready]")
    )
    return browser
