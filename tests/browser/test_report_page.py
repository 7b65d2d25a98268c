"""The report page does in a browser what a person does with it."""

import re

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.browser.looking import cut_off, phone, serious_findings

pytestmark = pytest.mark.browser


def all_of(opened: Chrome, selector: str) -> list[WebElement]:
    return opened.find_elements(By.CSS_SELECTOR, selector)


def rows(opened: Chrome, section: str) -> list[str]:
    """The rows of the first table of a section, by their first cells."""
    return [each.text for each in all_of(opened, f"#{section} > .sheet > table > tbody > tr > th")]


def press(opened: Chrome, *keys: str) -> None:
    ActionChains(opened).send_keys(*keys).perform()


def focused(opened: Chrome) -> WebElement:
    return opened.switch_to.active_element


def background(opened: Chrome) -> str:
    script = "return getComputedStyle(document.body).backgroundColor"
    found: str = opened.execute_script(script)
    return found


def test_the_first_screen_says_what_dipped_and_what_to_change(opened: Chrome) -> None:
    seen = [each for each in all_of(opened, "#workloads tr") if each.rect["y"] < 1_000]
    said = "\n".join(each.text for each in seen)
    assert "shop/deploy/mailer" in said
    assert "set the strategy to RollingUpdate" in said


def test_on_a_phone_nothing_is_cut(opened: Chrome) -> None:
    """390 px are an iPhone's width; a table that is wider would have to be pushed aside."""
    with phone(opened):
        opened.find_element(By.CSS_SELECTOR, "#workloads .opener").click()
        assert cut_off(opened) == []
        labels = "return getComputedStyle(document.querySelector('#nodes td'), '::before').content"
        assert opened.execute_script(labels) in ("attr(data-label)", '"Nodes"')


def test_search_narrows_workloads_nodes_and_pods(opened: Chrome) -> None:
    every = rows(opened, "workloads")
    press(opened, "/")
    assert focused(opened).get_attribute("id") == "search"
    press(opened, "mailer")
    assert rows(opened, "workloads") == ["shop/deploy/mailer"]
    assert all("mailer" in pod for pod in rows(opened, "pods"))
    assert opened.find_element(By.ID, "found").text.startswith("1 workload, ")
    press(opened, Keys.ESCAPE)
    assert rows(opened, "workloads") == every


def test_a_workload_opens_and_closes(opened: Chrome) -> None:
    opener = opened.find_element(By.CSS_SELECTOR, "#workloads .opener")
    opener.click()
    assert opener.get_attribute("aria-expanded") == "true"
    (detail,) = all_of(opened, "#workloads > .sheet > table > tbody > tr.detail")
    assert detail.find_element(By.CSS_SELECTOR, "svg.chart").is_displayed()
    assert " available of " in detail.text
    assert detail.find_elements(By.CSS_SELECTOR, "table .opener")
    opener.click()
    assert not all_of(opened, "#workloads tr.detail")


def test_no_table_is_wider_than_the_page_with_all_first_rows_open(opened: Chrome) -> None:
    for section in ("workloads", "nodes", "pods"):
        opened.find_element(By.CSS_SELECTOR, f"#{section} .opener").click()
    script = (
        "return [...document.querySelectorAll('.sheet')]"
        ".filter((each) => each.scrollWidth > each.clientWidth)"
        ".map((each) => [each.ariaLabel, each.scrollWidth, each.clientWidth]);"
    )
    assert opened.execute_script(script) == []


def test_a_drawing_says_what_it_is_at_the_pointer(opened: Chrome) -> None:
    plot = opened.find_element(By.CSS_SELECTOR, "#course .plot")
    opened.execute_script("arguments[0].scrollIntoView({ block: 'center' })", plot)
    ActionChains(opened).move_to_element(plot).perform()
    readout = opened.find_element(By.CSS_SELECTOR, "#course .readout")
    assert re.fullmatch(r"09:0\d:\d\d\s+\d+ missing, \d+ in a plain eviction", readout.text), (
        readout.text
    )


def test_the_theme_changes_and_comes_back(opened: Chrome) -> None:
    button = opened.find_element(By.ID, "theme")
    seen = []
    for name in ("light", "dark", "system"):
        button.click()
        assert button.text == f"Theme: {name}"
        seen.append(background(opened))
    assert seen[0] != seen[1]


def test_the_keyboard_alone_reaches_a_pods_steps(opened: Chrome) -> None:
    press(opened, Keys.TAB)
    assert focused(opened).text == "Skip to what happened"
    press(opened, Keys.ENTER)
    for _ in range(80):
        press(opened, Keys.TAB)
        if "opener" in (focused(opened).get_attribute("class") or ""):
            break
    outline = focused(opened).value_of_css_property("outline-style")
    assert outline != "none"
    press(opened, Keys.ENTER)
    assert focused(opened).get_attribute("aria-expanded") == "true"


def test_on_paper_everything_is_there_and_light(opened: Chrome) -> None:
    opened.execute_script("document.documentElement.dataset.theme = 'dark'")
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert opened.find_element(By.ID, "workloads").is_displayed()
        assert opened.find_element(By.ID, "pods").is_displayed()
        assert not opened.find_element(By.ID, "theme").is_displayed()
        assert background(opened) == "rgb(255, 255, 255)"
    finally:
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_accessibility_checker_finds_nothing_serious(opened: Chrome, theme: str) -> None:
    opened.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    opened.find_element(By.CSS_SELECTOR, "#workloads .opener").click()
    assert serious_findings(opened) == []


def test_it_asks_no_network(opened: Chrome) -> None:
    script = "return performance.getEntriesByType('resource').map(each => each.name)"
    assert opened.execute_script(script) == []
