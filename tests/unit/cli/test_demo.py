import contextlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from evenkeel.model.capacity import WELL_KNOWN, Capacity
from evenkeel.model.meta import Reference
from evenkeel_cli.demo import play
from evenkeel_cli.demo.picture import HEADLINES
from evenkeel_cli.main import main
from evenkeel_cli.words import workload_name
from evenkeel_hosting import files
from evenkeel_sandbox import storm
from evenkeel_sandbox.simulation import Simulation, nodes_of
from tests.unit.cli.running import run

EVENKEEL = Path(sys.executable).parent / "evenkeel"
PLAIN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TERM": "xterm"}


@pytest.fixture(scope="module")
def end(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the reported demo writes its cluster at the end."""
    return tmp_path_factory.mktemp("demo") / "end.json"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it writes its decisions."""
    return tmp_path_factory.mktemp("demo") / "storm.jsonl"


@pytest.fixture(scope="module")
def report(end: Path, log: Path) -> dict[str, Any]:
    done = run("demo", "-o", "json", "--snapshot-to", end, "--decisions", log)
    assert done.exit_code == 0, done.output
    return result(done)


def result(done: Result) -> dict[str, Any]:
    (found,) = json.loads(done.stdout)["items"]
    assert isinstance(found, dict)
    return found


def by_name(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {workload_name(msgspec.convert(item["subject"], Reference)): item for item in items}


def rows(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return by_name(report["workloads"])


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param("shop/deploy/login", id="a single replica behind a budget that deadlocks"),
        pytest.param("shop/deploy/coupons", id="a single replica"),
        pytest.param("shop/deploy/checkout", id="three replicas behind a budget of two"),
        pytest.param("kube-system/deploy/coredns", id="two replicas behind maxUnavailable 1"),
    ],
)
def test_no_replica_is_missed_where_all_pods_were_warned(
    report: dict[str, Any], workload: str
) -> None:
    row = rows(report)[workload]

    assert row["lowest"] == row["wanted"] == row["ready"]
    assert set(row["moves"]) == {"handed over"}


@pytest.mark.parametrize(
    ("workload", "way"),
    [
        ("batch/job/nightly-report", "at the last moment"),
        ("batch/job/import", "finished first"),
        ("data/deploy/ledger", "at once"),
        ("data/sts/queue", "one at a time"),
        ("ml/deploy/embeddings", "at the last moment"),
        ("shop/deploy/chat", "in turns"),
        ("shop/deploy/mailer", "at once"),
        ("shop/deploy/web", "handed over"),
        ("tenant/deploy/portal", "in turns"),
    ],
)
def test_the_demo_has_a_workload_for_every_way_that_pods_can_go(
    report: dict[str, Any], workload: str, way: str
) -> None:
    assert way in rows(report)[workload]["moves"]


def test_the_report_says_why_a_replacement_could_not_run(report: dict[str, Any]) -> None:
    reasons = {row["why"] for row in report["moves"] if row["move"] == "at the last moment"}

    assert any(reason.startswith("no place for its replacement: 0/") for reason in reasons)


def test_the_report_says_that_a_quota_had_pods_go_in_turns(report: dict[str, Any]) -> None:
    reasons = {row["why"] for row in report["moves"] if row["move"] == "in turns"}

    assert "a quota refuses a second pod beside it" in reasons
    assert rows(report)["tenant/deploy/portal"]["lowest"] == 2


def test_the_demo_ends_well(report: dict[str, Any]) -> None:
    assert report["failed"] == []
    bad = ("lost with its node", "still waiting")
    lost = [row for row in report["moves"] if row["move"] in bad]
    assert lost == []


@pytest.fixture(scope="module")
def piped() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EVENKEEL, "demo"], capture_output=True, text=True, timeout=180, check=False, env=PLAIN
    )


def test_the_demo_is_plain_text_when_it_is_piped(
    piped: subprocess.CompletedProcess[str],
) -> None:
    assert (piped.returncode, piped.stderr) == (0, "")
    assert "\x1b" not in piped.stdout
    assert "60 nodes, 40 of them spot" in piped.stdout


def test_events_and_ends_are_told_in_their_order_when_it_is_piped(
    piped: subprocess.CompletedProcess[str],
) -> None:
    told = [line.split() for line in piped.stdout.splitlines() if line.startswith(" ")]
    times = [float(words[0].strip("+s")) for words in told if words[0].startswith("+")]

    assert times == sorted(times)
    assert sum(words[1] == "end" for words in told if len(words) > 1) == 19


def test_a_live_picture_is_shown_on_a_terminal_and_the_report_stays() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [EVENKEEL, "demo", "--speed", "200"],
        stdout=theirs,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=PLAIN | {"COLUMNS": "80", "LINES": "24"},
    ) as process:
        os.close(theirs)
        shown = _read_all(ours)
        assert process.wait(timeout=180) == 0

    text = shown.decode()
    assert "the demo: the storm" in text
    assert "plain eviction" in text
    assert "the demo: new spot nodes came" in text
    assert "\x1b[" in text
    assert "Of 14 workloads with pods that had to move" in text.replace("\r", "")


def _read_all(descriptor: int) -> bytes:
    """What is written to a terminal until its last writer closes it."""
    found = b""
    while select.select([descriptor], [], [], 60)[0]:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # Linux: no process holds the other end any more
            break
        if not chunk:
            break
        found += chunk
    os.close(descriptor)
    return found


def ratios(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return by_name(report["ratios"])


@pytest.mark.parametrize(
    ("workload", "floor", "spot"),
    [
        pytest.param("shop/deploy/web", 20, 76, id="a percentage"),
        pytest.param("shop/deploy/api", 12, 36, id="a number"),
        pytest.param("data/sts/postgres", 2, 1, id="a majority"),
        pytest.param("shop/deploy/search", 0, 18, id="none"),
    ],
)
def test_the_ratios_come_back_after_the_storm(
    report: dict[str, Any], workload: str, floor: int, spot: int
) -> None:
    row = ratios(report)[workload]

    assert row["ok"]
    assert row["floor"] == row["survivors"] == floor
    assert row["first"] == row["restored"] == {"onDemand": floor, "spot": spot, "ok": True}


def test_the_storm_drove_pods_to_on_demand_nodes_before(report: dict[str, Any]) -> None:
    after = {name: row["storm"] for name, row in ratios(report).items()}

    assert after["shop/deploy/web"]["onDemand"] > 20
    assert after["shop/deploy/api"]["onDemand"] > 12
    assert not after["shop/deploy/web"]["ok"]
    assert all(row["ok"] for row in ratios(report).values())


def test_status_agrees_with_the_end_of_the_demo(report: dict[str, Any], end: Path) -> None:
    asked = CliRunner().invoke(main, ["status", "--snapshot", str(end), "-o", "json"])

    stands = by_name([item for item in json.loads(asked.stdout)["items"] if item["managed"]])
    restored = ratios(report)
    assert len(restored) == 11
    assert restored.keys() == stands.keys()
    for name, row in restored.items():
        stand = stands[name]
        assert row["restored"]["onDemand"] == stand["onDemand"]
        assert row["restored"]["spot"] == stand["spot"]
        assert (row["policy"], row["floor"]) == (
            stand["floor"]["policy"],
            stand["floor"]["replicas"],
        )
        assert row["survivors"] == stand["survivors"]
        assert stand["remarks"] == []


def test_a_snapshot_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["demo", "--snapshot-to", str(tmp_path / "no" / "end.json")])

    assert done.exit_code == 3
    assert "end.json: cannot be written (No such file" in done.stderr
    assert done.stdout == ""


def lose_on_demand(simulation: Simulation, _manifests: object) -> None:
    for node in nodes_of(simulation.cluster):
        if WELL_KNOWN.of(node) is Capacity.ON_DEMAND:
            simulation.cluster.kill_node(node.name, timedelta())


def test_a_floor_that_does_not_stand_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of new spot nodes coming, all on-demand nodes go."""
    monkeypatch.setattr("evenkeel_sandbox.simulation.Simulation.join", lose_on_demand)
    monkeypatch.setattr("evenkeel_cli.demo.recovery.LONGEST", timedelta(minutes=2))

    done = CliRunner().invoke(main, ["demo"])

    assert done.exit_code == 1
    said = done.stdout.replace("\n", " ")
    assert "Not as wanted: the floor does not stand of data/sts/postgres" in said
    assert "shop/deploy/web" in said.partition("does not stand of")[2]


def test_restore_alone_brings_the_floors_that_no_webhook_placed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evenkeel_sandbox.built_in.placing.install", lambda _cluster: None)

    done = CliRunner().invoke(main, ["demo", "-o", "json"])

    found = ratios(result(done))
    assert found["data/sts/postgres"]["first"]["onDemand"] == 0
    assert all(row["ok"] for row in found.values())


def test_each_headline_fits_before_the_time() -> None:
    assert set(HEADLINES) == set(play.Phase)
    assert all(len(f"{headline}  09:00:53 UTC") <= 80 for headline in HEADLINES.values())


ABOUT_SPOT = [
    file
    for file in files.sample_events()
    if file.name.startswith(("interruption", "rebalance", "state"))
]


def test_the_storm_comes_the_same_way_every_time() -> None:
    scenes = [play.prepare() for _ in range(2)]
    blows = [[(blow.after, blow.arriving.event) for blow in scene.storm.blows] for scene in scenes]
    for scene in scenes:
        scene.simulation.close()

    assert blows[0] == blows[1]
    assert len(blows[0]) == storm.WARNINGS + len(ABOUT_SPOT)


def test_a_function_that_does_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report does not ask Evenkeel: without any handover workloads go to zero."""
    monkeypatch.setattr("evenkeel_sandbox.application.Application.send", lambda _self, _event: None)

    done = CliRunner().invoke(main, ["demo", "-o", "json"])

    assert done.exit_code == 1
    failed = {each["name"] for each in result(done)["failed"]}
    assert {"login", "coupons"} <= failed


def test_the_nodes_that_left_no_time_are_named_and_each_reason_is_whole() -> None:
    """On a terminal of 80 columns, too."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    with subprocess.Popen(
        [EVENKEEL, "demo", "--no-live"], stdin=slave, stdout=slave, stderr=slave, env=PLAIN
    ) as process:
        os.close(slave)
        printed = b""
        with contextlib.suppress(OSError):  # how the end of a terminal is told
            while part := os.read(master, 65536):
                printed += part
        os.close(master)
        assert process.wait(60) == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed.decode()).splitlines()
    assert max(map(len, lines)) <= 80
    told = " ".join(line.strip() for line in lines)
    assert "no place for its replacement: 0/60 nodes are available: 1 Insufficient cpu" in told
    assert "1 node(s) had untolerated taint(s), 9 node(s) were unschedulable" in told
    named = "ip-10-0-0-47, ip-10-0-0-11, ip-10-0-0-23."
    assert f"Notice came less than 60s before the deadline: {named}" in told


@pytest.mark.usefixtures("report")
def test_its_decision_log_is_a_storm_to_look_at(log: Path) -> None:
    told = run("history", "ip-10-0-64-67", "--decisions", log)
    assert told.exit_code == 1
    assert "mark        node ip-10-0-64-67" in told.stdout
