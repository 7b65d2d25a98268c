"""The page of ``evenkeel watch``, while a storm over the built-in cluster is rehearsed."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.looking import cut_off, phone, serious_findings
from tests.kit.control_plane import ROOT

pytestmark = pytest.mark.browser

PATIENCE = 60
"""Seconds until a storm is there, at most: it is simulated twice."""

WATCH = (sys.executable, "-m", "evenkeel_cli.main", "watch", "--built-in", "--serve")


@contextmanager
def served(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of the page, and the command that serves it."""
    with subprocess.Popen(
        [*WATCH, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[0], process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served("--storm", "all", "--speed", "2") as (found, _):
        yield found


@pytest.fixture
def storm(browser: Chrome, address: str) -> Chrome:
    """The page when nodes go, and Evenkeel has moved a pod."""
    browser.get(address)
    moved = "return document.querySelector('#course path.own[d^=M]') !== null"
    until(browser, lambda: " going" in headline(browser) and browser.execute_script(moved))
    return browser


def until(browser: Chrome, what: object) -> None:
    assert callable(what)
    WebDriverWait(browser, PATIENCE).until(lambda _: what())


def headline(browser: Chrome) -> str:
    return browser.find_element(By.ID, "headline").text


def rows(browser: Chrome, section: str) -> list[str]:
    """The first cells of a section's rows, read at once: an event changes them."""
    script = "return [...document.querySelectorAll(arguments[0])].map(each => each.innerText)"
    found: list[str] = browser.execute_script(script, f"#{section} tbody th")
    return found


def test_it_shows_the_storm_and_follows_it(storm: Chrome) -> None:
    before = headline(storm)
    assert any("web" in each for each in rows(storm, "workloads"))
    assert any(" in eu-central-1" in each for each in rows(storm, "nodes"))
    assert "data/sts/postgres" in rows(storm, "floors")
    assert storm.find_elements(By.CSS_SELECTOR, "#course path.own[d^=M]")
    assert storm.find_elements(By.CSS_SELECTOR, "#course path.plain[d^=M]")
    assert "is told to go" in storm.find_element(By.ID, "decisions").text
    assert "act" in storm.find_element(By.ID, "facts").text
    until(storm, lambda: headline(storm) != before)


def test_a_row_stays_open_and_has_the_focus_while_the_storm_goes_on(storm: Chrome) -> None:
    opener = storm.find_element(By.CSS_SELECTOR, "#workloads .opener")
    opened = opener.get_attribute("data-key")
    opener.click()
    before = headline(storm)
    until(storm, lambda: headline(storm) != before)
    focused = "return document.activeElement.dataset.key"
    is_open = "return document.activeElement.closest('tr').nextElementSibling.className"
    assert storm.execute_script(focused) == opened
    assert storm.execute_script(is_open) == "detail"


def test_what_is_searched_for_stays_chosen_while_the_storm_goes_on(storm: Chrome) -> None:
    storm.find_element(By.ID, "search").send_keys("web")
    before = headline(storm)
    until(storm, lambda: headline(storm) != before)
    assert rows(storm, "workloads") == ["shop/deploy/web"]
    storm.find_element(By.ID, "search").clear()


def test_on_a_phone_nothing_is_cut(storm: Chrome) -> None:
    with phone(storm):
        assert cut_off(storm) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_accessibility_checker_finds_nothing_serious(storm: Chrome, theme: str) -> None:
    storm.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    assert serious_findings(storm) == []


def test_it_asks_nobody_but_the_command(storm: Chrome, address: str) -> None:
    script = "return performance.getEntriesByType('resource').map(each => each.name)"
    assert {each for each in storm.execute_script(script) if not each.startswith(address)} == set()


def test_it_says_when_nothing_more_comes(browser: Chrome) -> None:
    with served("--storm", "node=1", "--speed", "1000") as (address, _):
        browser.get(address)
        state = browser.find_element(By.ID, "state")
        until(browser, lambda: state.text.startswith("Nothing more comes"))
        assert headline(browser).startswith("No node is going any more.")


def test_it_says_when_the_command_does_not_answer(browser: Chrome) -> None:
    with served("--storm", "node=1") as (address, process):
        browser.get(address)
        process.kill()
        process.wait(PATIENCE)
        state = browser.find_element(By.ID, "state")
        until(browser, lambda: "does not answer" in state.text)
