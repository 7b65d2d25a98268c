"""What is asked of every page: whether a phone shows all of it, and an accessibility checker."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from selenium.webdriver import Chrome

AXE = files("axe_selenium_python") / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
PATIENCE = 120
"""Seconds that the checker may take, at most: on a busy machine it takes long."""


@contextmanager
def phone(browser: Chrome) -> Iterator[None]:
    """The page on a screen of 390 px, an iPhone's width."""
    screen = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def cut_off(browser: Chrome) -> Sequence[str]:
    """The elements that reach beyond the right edge."""
    found: Sequence[str] = browser.execute_script(
        "const width = document.documentElement.clientWidth;"
        "const all = [...document.querySelectorAll('main *, .bar *, footer *')];"
        "return all.filter((each) => each.getBoundingClientRect().right > width + 1)"
        ".map((each) => each.outerHTML.slice(0, 80));"
    )
    return found


def serious_findings(browser: Chrome) -> Sequence[tuple[str, Any]]:
    """What the checker finds that is serious, and the first elements of which that is true."""
    browser.set_script_timeout(PATIENCE)
    browser.execute_script(AXE.read_text())
    found: dict[str, Any] = browser.execute_async_script(
        "const done = arguments[arguments.length - 1]; axe.run().then(done)"
    )
    assert found["passes"]
    serious = [each for each in found["violations"] if each["impact"] in SERIOUS]
    return [(each["id"], [node["target"] for node in each["nodes"][:3]]) for each in serious]
