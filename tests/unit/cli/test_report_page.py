"""The report's page: nothing from the cluster gets out of its data, and nothing is loaded."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, override

import pytest
from msgspec import structs

from evenkeel.model.meta import Reference
from evenkeel_cli.history import incident
from evenkeel_cli.page import html
from evenkeel_cli.screen import making
from evenkeel_cli.screen.known import Known
from tests.unit.cli import storms
from tests.unit.cli.history.records import at, counted, of_pod
from tests.unit.cli.running import run

DATA = '{"at"'
EVIL = "</script><script>alert(1)</script><!--"
WEB = Reference(kind="Deployment", namespace="shop", name=EVIL, uid="w")


class Parts(HTMLParser):
    """The elements of a page, and the text of those that hold code or data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.texts.append((tag, ""))

    @override
    def handle_data(self, data: str) -> None:
        if self.cdata_elem is not None:
            tag, text = self.texts[-1]
            self.texts[-1] = tag, text + data


def told_in(page: str) -> dict[str, Any]:
    """The data of a page."""
    found = next(text for _, text in Parts(page).texts if text.startswith(DATA))
    told: dict[str, Any] = json.loads(found)
    return told


def page() -> str:
    """A dip of a workload; whatever strangers can name is named so that it might do harm."""
    records = [
        of_pod(0, "evict", "Recreate", workload=WEB, node=EVIL, message=EVIL),
        *(counted(after, ready, 2, WEB) for after, ready in ((0, 2), (3, 1), (70, 2))),
    ]
    account = incident.of([structs.replace(each, cluster=EVIL) for each in records])
    return html.report(making.of(Known(at(70), EVIL, account, over=True)), EVIL)


def test_a_name_from_the_cluster_ends_no_element() -> None:
    parts = Parts(page())
    data, _ = [text for tag, text in parts.texts if tag == "script"]
    assert json.loads(data)["workloads"][0]["name"] == f"deploy/{EVIL}"
    assert json.loads(data)["pods"][0]["steps"][0][3] == EVIL


def test_the_policy_allows_the_pages_own_style_and_script_and_no_network() -> None:
    parts = Parts(page())
    (policy,) = (
        a["content"] or ""
        for t, a in parts.elements
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    named = set(re.findall(r"'sha256-([^']+)'", policy))
    code = [text for _, text in parts.texts if not text.startswith(DATA)]
    digests = {base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in code}
    assert named == digests
    assert len(named) == 2


def test_the_page_names_no_address_and_has_no_inline_handler() -> None:
    parts = Parts(page())
    attributes = [(name, value or "") for _, each in parts.elements for name, value in each.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in ("src", "style")]
    assert all(value.startswith("#") for name, value in attributes if name == "href")


def test_a_person_who_uses_a_keyboard_or_a_screen_reader_finds_the_parts() -> None:
    parts = Parts(page())
    tags = {tag for tag, _ in parts.elements}
    assert {"header", "nav", "main", "search", "footer", "h1", "label", "output"} <= tags
    assert ("html", {"lang": "en"}) in parts.elements


def test_report_writes_the_page_of_the_demo(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    done = run("report", "--from", "demo", "--html", file)
    assert done.exit_code == 1, done.output
    page = file.read_text()
    assert len(page) < 500_000
    told = told_in(page)
    assert told["workloads"]
    assert len(told["nodes"]) == 20
    assert told["over"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--from", "demo", "--log-group", "x"],
        ["--from", "nowhere.log"],
        ["--from", "demo", "--snapshot", "mine.json"],
        ["--from", "demo", "--storm", "all"],
        ["--from", "demo", "--seed", "0"],
        ["--from", "simulate", "--storm", "hail"],
    ],
)
def test_report_says_what_is_wrong_with_its_options(arguments: list[str], tmp_path: Path) -> None:
    done = run("report", "--html", tmp_path / "r.html", *arguments)
    assert done.exit_code == 2


def test_of_a_simulated_storm_pools_floors_and_money_are_in_the_page(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    done = run("report", "--from", "simulate", "--storm", "all", "--html", file)
    assert done.exit_code in (0, 1), done.output
    told = told_in(file.read_text())
    assert told["source"] == "a simulated storm (all, seed 0)"
    assert {each["name"] for each in told["pools"]} >= {"m6i.xlarge in eu-central-1a"}
    assert {each["floor"] for each in told["workloads"] if each["name"] == "deploy/web"} == {20}
    assert told["course"]["plain"]
    *workloads, idle, together = told["money"]["rows"]
    assert (idle[0], together[0]) == ("idle", "together")
    assert "US dollars a month" in told["money"]["note"]
    assert len(workloads) > len(told["workloads"]) / 2


def test_of_a_log_the_page_names_its_cluster(tmp_path: Path) -> None:
    log, file = tmp_path / "storm.jsonl", tmp_path / "report.html"
    storms.write_log(log)
    done = run("report", "--from", log, "--html", file)
    assert done.exit_code == 1, done.output
    told = told_in(file.read_text())
    assert told["source"].endswith(", storm.jsonl")
    assert told["source"].startswith("cluster ")
    assert told["money"] is None
    assert {each["text"] for each in told["facts"] if each["name"] == "mode"} == {"act"}
