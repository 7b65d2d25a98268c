"""The report page does in a browser what a person does with it."""

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
    seen = [each for each in all_of(opened, "#answers tr") if each.rect["y"] < 1_000]
    said = "\n".join(each.text for each in seen)
    assert "shop/deploy/mailer" in said
    assert "set the strategy to RollingUpdate" in said


def test_on_a_phone_nothing_is_cut(opened: Chrome) -> None:
    """390 px are an iPhone's width; a table that is wider would have to be pushed aside."""
    with phone(opened):
        opened.find_element(By.CSS_SELECTOR, "#workloads .opener").click()
        assert cut_off(opened) == []
        labels = "return getComputedStyle(document.querySelector('#nodes td'), '::before').content"
        assert opened.execute_script(labels) == "attr(data-label)" or "Pool" in str(
            opened.execute_script(labels)
        )


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
    assert detail.find_element(By.CSS_SELECTOR, "canvas").is_displayed()
    assert "Pods of " in detail.text
    opener.click()
    assert not all_of(opened, "#workloads tr.detail")


def test_an_answer_leads_to_its_workload(opened: Chrome) -> None:
    jump = opened.find_element(By.CSS_SELECTOR, "#answers .jump")
    wanted = jump.text
    jump.click()
    assert focused(opened).text == wanted
    assert focused(opened).get_attribute("aria-expanded") == "true"


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
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert opened.find_element(By.ID, "answers").is_displayed()
        assert opened.find_element(By.ID, "pods").is_displayed()
        assert not opened.find_element(By.ID, "theme").is_displayed()
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
