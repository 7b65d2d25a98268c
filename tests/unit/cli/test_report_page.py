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

from evenkeel.adapters.telemetry.decision_log import CountRecord
from evenkeel.model.meta import Reference
from evenkeel_cli.history import incident
from evenkeel_cli.history.incident import Seen
from evenkeel_cli.page import data, html
from tests.unit.cli.history.records import at, counted, decided, marked, of_pod
from tests.unit.cli.running import run

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
    found = next(text for _, text in Parts(page).texts if text.startswith('{"maker"'))
    told: dict[str, Any] = json.loads(found)
    return told


def found() -> incident.Incident:
    """A dip of a workload; whatever strangers can name is named so that it might do harm."""
    records = [
        of_pod(0, "evict", "Recreate", workload=WEB, node=EVIL, message=EVIL),
        *(counted(after, ready, 2, WEB) for after, ready in ((0, 2), (3, 1), (70, 2))),
    ]
    account = incident.of([structs.replace(each, cluster=EVIL) for each in records])
    assert account is not None
    return account


def test_a_name_from_the_cluster_ends_no_element() -> None:
    parts = Parts(html.page(data.of(found(), EVIL)))
    scripts = [text for tag, text in parts.texts if tag == "script"]
    assert len(scripts) == 4
    assert json.loads(scripts[0])["workloads"][0]["name"] == f"deploy/{EVIL}"
    assert json.loads(scripts[0])["pods"][0]["steps"][0][3] == EVIL


def test_the_policy_allows_the_pages_own_styles_and_scripts_and_no_network() -> None:
    parts = Parts(html.page(data.of(found(), "a log")))
    (policy,) = (
        a["content"] or ""
        for t, a in parts.elements
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    named = set(re.findall(r"'sha256-([^']+)'", policy))
    code = [text for _, text in parts.texts if not text.startswith('{"maker"')]
    digests = {base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in code}
    assert named == digests
    assert len(named) == 5


def test_the_page_names_no_address_and_has_no_inline_handler() -> None:
    parts = Parts(html.page(data.of(found(), "a log")))
    attributes = [(name, value or "") for _, each in parts.elements for name, value in each.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in ("src", "style")]
    assert all(value.startswith("#") for name, value in attributes if name == "href")


def test_a_person_who_uses_a_keyboard_or_a_screen_reader_finds_the_parts() -> None:
    parts = Parts(html.page(data.of(found(), "a log")))
    tags = {tag for tag, _ in parts.elements}
    assert {"header", "nav", "main", "search", "footer", "h1", "label", "output"} <= tags
    assert ("html", {"lang": "en"}) in parts.elements


def test_the_first_screen_says_which_workloads_dipped_why_and_what_to_change() -> None:
    told = data.of(found(), "a log")
    assert told["headline"] == (
        "Of 1 workload with pods that had to move none kept all that are wanted, 1 dipped for a"
        " reason that is named, none failed; no pod was late."
    )
    (dip,) = told["dips"]
    assert dip["why"] == "the Deployment's strategy is Recreate"
    assert dip["change"] == "set the strategy to RollingUpdate"
    assert [each["below"] for each in told["minutes"]] == [1, 1]
    assert [each[:3] for each in told["total"]] == [(0.0, 2, 2), (3.0, 1, 2), (70.0, 2, 2)]


def test_the_time_line_ends_with_the_storm_and_not_with_a_hint() -> None:
    """A recommendation expires a quarter of an hour later, and its node lives on."""
    hint = {"reason": "RebalanceRecommendation", "until": at(900)}
    records = [
        *(marked(0), marked(3, "b", **hint)),
        *(counted(after, ready) for after, ready in ((5, 3), (20, 2), (70, 3))),
        decided(900, "lift", "HintExpired", Reference("Node", "b"), node="b"),
    ]
    account = incident.of(records)
    assert account is not None
    told = data.of(account, "a log")
    assert told["lasts"] == 120
    assert [each["deadlines"] for each in told["minutes"]] == [0, 0, 1]
    assert {node["name"]: node["dies"] for node in told["nodes"]} == {"a": True, "b": False}


def test_the_time_line_ends_with_the_storm_however_long_a_low_workload_was_watched() -> None:
    counts = [each for each in (counted(0, 3), counted(20, 2)) if isinstance(each, CountRecord)]
    account = incident.seen([marked(0), of_pod(20, "evict", "Recreate")], Seen(at(900), counts))
    told = data.of(account, "a simulated storm")
    assert told["lasts"] == 120
    assert told["dips"]
    assert told["workloads"][0]["below"] == 880


def test_money_is_in_the_page_where_it_is_given() -> None:
    columns, rows = ["Workload", "Now"], [["web", "$3"]]
    money = data.Money(saved="$7", note="a month", columns=columns, rows=rows)
    told, without = data.of(found(), "a log", money=money), data.of(found(), "a log")
    assert told["money"] is money
    assert told["figures"] == [*without["figures"], ("saved a month by spot", "$7", False)]
    assert without["money"] is None


def test_report_writes_the_page_of_the_demo(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    done = run("report", "--from", "demo", "--html", file)
    assert done.exit_code == 1, done.output
    page = file.read_text()
    assert len(page) < 500_000
    told = told_in(page)
    assert told["workloads"]
    assert len(told["nodes"]) == 20


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
    *workloads, idle, together = told["money"]["rows"]
    assert (idle[0], together[0]) == ("idle", "together")
    assert "US dollars a month" in told["money"]["note"]
    assert len(workloads) > len(told["workloads"]) / 2


def test_what_is_not_known_is_no_number_and_others_dips_are_marked() -> None:
    gone = of_pod(0, "evict", "Recreate")
    last = of_pod(60, "wait", "ReplacementPending", "web-2")
    records = [gone, counted(0, 3), counted(9, 2), counted(20, 3), counted(50, 1), last]
    account = incident.of(records)
    assert account is not None
    told = data.of(account, "a log")
    (web,) = told["workloads"]
    assert web["counts"][1:] == [
        (9, 2, 3, False),
        (20, 3, 3, False),
        (50, 1, 3, True),
        (50, None, 3, False),
    ]
    assert not told["total"]
