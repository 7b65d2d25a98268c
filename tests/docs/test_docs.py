"""Links between the project's pages lead somewhere, and Sphinx makes a site of them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from evenkeel_cli.groups import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in ("docs", "tests", "bench") for page in (ROOT / folder).rglob("*.md")),
]
CODE = re.compile(r"```.*?```", re.DOTALL)
MADE = {"manifests/scheduler/extender/config.yaml"}
"""Files that a command of the page makes."""
LOADED = re.compile(r"<(?:script|img|link|iframe)[^>]*https?://[^>]*>|url\([\"']?(?:https?:)?//")
"""What a browser would fetch from another server."""
LAYER = ROOT / "layers" / "evenkeel" / "evenkeel"
TOPS = ("bench", "charts", "docs", "events", "functions", "layers", "manifests", "src", "tests")
PATHS = [path for top in (*TOPS, "tools") for path in (ROOT / top).rglob("*")]
EXTEND = ROOT / "docs" / "extend.md"
ROWS = [line for line in EXTEND.read_text().splitlines() if line.startswith("| ")][1:]


def text_of(page: Path) -> str:
    return CODE.sub("", page.read_text())


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    told = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in told}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_link_leads_to_a_page_and_a_heading_that_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", text_of(page))
    for link in (each for each in links if "://" not in each):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors_of(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_files_and_targets_that_are_there(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = page.read_text()
    assert set(re.findall(r"`make ([a-z]+(?:-[a-z]+)*)", text)) <= targets
    named = re.findall(r"(?<![\w/.-])(?:manifests|events|docs)/[\w./-]*\w", text)
    for path in set(named) - MADE:
        assert (ROOT / path).exists(), path


def named(path: str) -> list[Path]:
    """What a page means by a path, or by the end of one: files, or folders."""
    told = path.removeprefix("../").rstrip("/")
    for base in (LAYER, ROOT):
        if found := [*base.glob(told)]:
            return found
    return [each for each in PATHS if each.as_posix().endswith(f"/{told}")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_modules_that_are_there(page: Path) -> None:
    modules = set(re.findall(r"`([\w./-]+\.py)`", text_of(page)))
    assert not {module for module in modules if not named(module)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_what_a_row_of_extend_names_stands_in_the_files_that_it_names(row: str) -> None:
    said = set(re.findall(r"`([^`]+)`", row)) - set(COMMANDS)
    folders = {each for each in said if re.fullmatch(r"[\w/-]+/\w*", each)}
    files = {each for each in said if re.fullmatch(r"[\w./*-]+\.(py|yaml|js)", each)}
    assert not {each for each in folders | files if not named(each)}
    found = [path for each in folders | files for path in named(each)]
    within = [each for path in found for each in ([path] if path.is_file() else path.rglob("*"))]
    text = "".join(path.read_text() for path in within if path.suffix in (".py", ".yaml", ".js"))
    words = {each for each in said if re.fullmatch(r"[A-Za-z_]\w*", each)}
    assert not {each for each in words if not re.search(rf"\b{each}\b", text)}


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    options = ["-q", "-n", "-W", "-E", "-d", str(tmp_path / "read")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ROOT / "docs", tmp_path / "site"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = [path for kind in ("html", "css") for path in (tmp_path / "site").rglob(f"*.{kind}")]
    assert files
    for path in files:
        assert not LOADED.findall(path.read_text()), path
