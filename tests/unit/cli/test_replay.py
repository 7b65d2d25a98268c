import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.node import Node
from evenkeel_cli import snapshot
from evenkeel_cli.main import main
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW
from tests.kit.manifests import resource
from tests.unit.cli.running import run

EVENTS = Path(__file__).parents[3] / "events"
WARNING = json.loads((EVENTS / "interruption-warning-terminate.json").read_text())
RUNNING = json.loads((EVENTS / "state-change-running.json").read_text())
HINT = json.loads((EVENTS / "rebalance-recommendation.json").read_text())


def replay(*arguments: str | Path, stdin: object = None) -> Result:
    text = stdin if isinstance(stdin, str) else json.dumps(stdin)
    return CliRunner().invoke(main, ["replay", *map(str, arguments)], input=text)


def replayed(*arguments: str | Path) -> dict[str, Any]:
    """What a program gets of the warning."""
    done = replay("-", "-o", "json", *arguments, stdin=WARNING)
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["items"]
    assert isinstance(found, dict)
    return found


def about(instance_id: str, event: Any = WARNING, **changes: str) -> Any:
    return event | {"detail": event["detail"] | {"instance-id": instance_id} | changes}


@pytest.fixture(scope="module")
def snapshot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in cluster as kubectl would print it."""
    cluster = built_in.build(SimulatedClock(NOW))
    file = tmp_path_factory.mktemp("snapshot") / "cluster.json"
    snapshot.write(file, cluster.objects)
    return file


def test_all_sample_events_are_replayed_on_the_built_in_cluster() -> None:
    done = replay(*sorted(EVENTS.glob("*.json")))

    assert (done.exit_code, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert sum(line.split()[1:2] == ["mark"] for line in lines) == 11
    assert any("running: no node is lost; acknowledged" in line for line in lines)
    assert any(line.startswith("Of 1") and "none failed" in line for line in lines)
    assert lines[-1].startswith("A plain eviction of the same nodes")


def test_a_batch_of_messages_is_replayed() -> None:
    done = replay(EVENTS / "lambda" / "notices.json")

    assert (done.exit_code, done.stderr) == (0, "")
    assert "is interrupted: terminate in 120 s" in done.stdout
    assert "is running: no node is lost; acknowledged" in done.stdout


def test_a_sample_is_called_by_the_name_of_its_file() -> None:
    """And not by the path that the file has in an installation."""
    done = replay("--sample", "interruption-warning-terminate")

    assert done.exit_code == 0
    _taken, _, first, *_ = (line.split() for line in done.stdout.splitlines())
    assert first[1:3] == ["event", "interruption-warning-terminate.json:1:"]


def test_nothing_is_complained_of_when_the_reader_goes_away_while_a_function_prints(
    tmp_path: Path,
) -> None:
    """A pipe holds 4 kB here, and the functions' decisions take more: one of them is not read."""
    hints = tmp_path / "hints.json"
    hints.write_text(json.dumps([about(f"i-000000000000000{n:x}a", HINT) for n in range(6)]))
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with os.fdopen(writing, "wb") as writer:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("evenkeel"), "replay", hints],
            stdout=writer,
            stderr=subprocess.PIPE,
        )
    with os.fdopen(reading, "rb", buffering=0) as reader:
        while b" mark " not in reader.readline():
            pass
    _, complaint = process.communicate(timeout=180)

    assert (process.returncode, complaint) == (141, b"")


def test_decisions_are_told_in_the_order_of_time_with_their_reasons() -> None:
    lines = replay("-", stdin=WARNING).stdout.splitlines()

    told = [line for line in lines if line.lstrip().startswith("+")]
    times = [float(line.split()[0].strip("+s")) for line in told]
    assert times == sorted(times)
    assert [line.split()[1] for line in told[:2]] == ["event", "mark"]
    assert any(" evict " in line and "ReplacementAvailable: " in line for line in told)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps([about("i-0000000000000000a"), RUNNING, HINT]), id="an array"),
        pytest.param(
            "\n".join(map(json.dumps, [about("i-0000000000000000a"), RUNNING, HINT])),
            id="a line each",
        ),
    ],
)
def test_each_form_of_input_is_taken_from_standard_input(text: str) -> None:
    done = replay("-", stdin=text)

    assert done.exit_code == 0
    events = [line for line in done.stdout.splitlines() if line.split()[1:2] == ["event"]]
    lines = (1, 2, 3) if "\n" in text else (1, 1, 1)
    assert [event.split()[3] for event in events] == [f"input:{line}:" for line in lines]


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("nonsense", "is no JSON"),
        ({}, "id: is missing"),
        (WARNING | {"time": "noon"}, "time: should be a time such as"),
        (about("i-0000000000000000a", **{"instance-action": "x"}), "detail.instance-action: shou"),
    ],
)
def test_a_bad_record_is_one_line_and_exit_code_2_after_the_good_ones_were_done(
    tmp_path: Path, record: object, problem: str
) -> None:
    bad = record if isinstance(record, str) else json.dumps(record)
    file = tmp_path / "mixed.json"
    file.write_text("\n".join([json.dumps(RUNNING), bad, json.dumps(WARNING)]))

    done = replay(file)

    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {file}, record 2 (line 2): {problem}")
    assert done.stderr.count("\n") == 1
    assert " mark " in done.stdout
    assert "none failed" in done.stdout


def test_every_bad_record_is_told() -> None:
    done = replay("-", stdin="\n".join(["{}", "[1]", json.dumps(RUNNING)]))

    assert done.exit_code == 2
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["error", "error"]


@pytest.mark.parametrize("form", ["table", "json"])
def test_nothing_is_printed_but_errors_where_every_record_is_bad(form: str) -> None:
    done = replay("-", "-o", form, stdin="{}")

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: standard input, record 1 (line 1): ")
    assert done.stderr.count("\n") == 1


def test_harmless_and_unknown_kinds_are_acknowledged_with_a_line() -> None:
    unknown = WARNING | {"detail-type": "EC2 Something New"}

    done = replay("-", stdin=[RUNNING, unknown])

    assert done.exit_code == 0
    assert "is running: no node is lost; acknowledged" in done.stdout
    assert "'EC2 Something New' is not known to Evenkeel; acknowledged" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nowhere.json"], "nowhere.json: there is no such file"),
        (["-", "--apply"], "--apply without --context: name the cluster"),
        (["-", "--snapshot", "x", "--context", "y"], "more than one cluster is named"),
        (["-", "--snapshot", "-"], "- stands twice"),
        (["-", "-"], "- stands twice"),
        (["-", "--instance", "i-1"], "--instance i-1: should be INSTANCE=NODE"),
        (["-", "--instance", "i-1=nowhere"], "--instance i-1=nowhere: there is no node nowhere"),
        (["-", "--snapshot", "nowhere.json"], "nowhere.json: cannot be read"),
        (["-", "--decisions", "/nowhere/x"], "--decisions /nowhere/x: cannot be written"),
        (["-", "--decisions", "-"], "--decisions -: standard output has the result already"),
        (["-", "-n", "a", "-A"], "-A and -n contradict each other"),
    ],
)
def test_a_mistake_in_the_options_is_one_line_and_exit_code_2(
    arguments: list[str], problem: str
) -> None:
    done = replay(*arguments, stdin=RUNNING)

    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {problem}")
    assert done.stderr.count("\n") == 1


def test_an_instance_can_be_bound_to_a_node() -> None:
    node = "ip-10-0-1-107.eu-central-1.compute.internal"
    instance_id = WARNING["detail"]["instance-id"]

    done = replay("-", "--instance", f"{instance_id}={node}", stdin=WARNING)

    assert "mark        node ip-10-0-1-107" in done.stdout


def test_an_instance_counts_as_spot_when_a_person_names_it(snapshot_file: Path) -> None:
    items = json.loads(snapshot_file.read_text())["items"]
    node = next(
        item
        for item in items
        if item["kind"] == "Node" and not WELL_KNOWN.call_spot(msgspec.convert(item, Node))
    )
    short = node["metadata"]["name"].partition(".")[0]
    own = node["spec"]["providerID"].rpartition("/")[2]

    unnamed = replay("-", "--snapshot", snapshot_file, stdin=about(own))
    named = replay(
        "-", "--snapshot", snapshot_file, "--instance", f"{own}={short}", stdin=about(own)
    )

    assert f"acknowledge node {short}: NotSpot: " in unnamed.stdout
    assert " mark " not in unnamed.stdout
    assert f"mark        node {short}" in named.stdout


def test_a_strange_instance_is_acknowledged_when_instances_are_strict() -> None:
    done = replay("-", "--strict-instances", stdin=WARNING)

    assert done.exit_code == 0
    assert "UnknownInstance" in done.stdout
    assert " mark " not in done.stdout


def test_a_notice_counts_from_now_unless_its_time_is_kept() -> None:
    fresh = replayed()
    kept = replayed("--keep-time")

    marks = [next(d for d in found["decisions"] if d["verb"] == "mark") for found in (fresh, kept)]
    assert marks[1]["time"].startswith("2026-11-21T06:00:0")
    assert not marks[0]["time"].startswith("2026-11-21T06:00:0")


def test_events_come_at_their_own_times_when_these_are_kept() -> None:
    later = about("i-0000000000000000a") | {"time": "2026-11-21T06:00:40Z"}

    done = replay("-", "--keep-time", stdin=[later, WARNING])

    events = [line.split()[0] for line in done.stdout.splitlines() if " event " in line]
    assert events == ["+0.0s", "+40.0s"]


def test_the_decision_log_holds_every_decision_and_count(tmp_path: Path) -> None:
    log = tmp_path / "decisions.jsonl"

    told = replayed("--decisions", log)

    lines = [json.loads(line) for line in log.read_text().splitlines()]
    logged = [line for line in lines if "verb" in line]
    counts = [line for line in lines if line not in logged]
    assert counts
    assert all(line["available"] >= 0 and line["workload"]["name"] for line in counts)
    assert {(d["verb"], d["subject"]["name"]) for d in told["decisions"]} == {
        (d["verb"], d["subject"]["name"]) for d in logged
    }
    assert all(d["v"] == 1 and d["mode"] == "act" for d in logged)


def test_the_node_that_shows_most_stands_for_an_instance_that_is_none() -> None:
    done = run("replay", "--sample", "interruption-warning-terminate")
    first, *_ = done.stdout.splitlines()
    assert first.startswith(
        "ip-10-0-32-75 is taken for instance i-1234567890abcdef0: it shows most,"
    )
    assert "5 workloads whose pods go in 3 ways" in first
    for way in ("handed over", "in turns", "at the last moment"):
        assert f"\n{way}  " in done.stdout


def test_programs_get_decisions_and_report_as_data() -> None:
    found = replayed()
    assert set(found) == {"decisions", "workloads", "moves", "failed"}
    assert found["failed"] == []


def test_only_one_namespace_is_reported_when_it_is_named() -> None:
    found = replayed("-n", "shop")

    assert {row["subject"]["namespace"] for row in found["workloads"]} == {"shop"}


def test_a_snapshot_shows_what_would_happen_to_its_cluster(snapshot_file: Path) -> None:
    done = replay("-", "--snapshot", snapshot_file, stdin=WARNING)

    assert (done.exit_code, done.stderr) == (0, "")
    assert "deploy/" in done.stdout
    assert "none failed" in done.stdout


def test_an_instance_of_the_snapshot_is_the_node_that_it_says(snapshot_file: Path) -> None:
    nodes = [
        item for item in json.loads(snapshot_file.read_text())["items"] if item["kind"] == "Node"
    ]
    chosen = nodes[25]
    instance_id = chosen["spec"]["providerID"].rpartition("/")[2]

    done = replay("-", "--snapshot", snapshot_file, stdin=about(instance_id))

    short = chosen["metadata"]["name"].partition(".")[0]
    assert f"mark        node {short}:" in done.stdout


@pytest.mark.parametrize(
    ("operator", "ready"),
    [
        pytest.param("Exists", 1, id="every node can mount it"),
        pytest.param("DoesNotExist", 0, id="no node can"),
    ],
)
def test_a_forecast_knows_where_a_pods_volume_can_be_mounted(
    snapshot_file: Path, tmp_path: Path, operator: str, ready: int
) -> None:
    items = json.loads(snapshot_file.read_text())["items"]
    (claim,) = [each for each in items if each["metadata"]["name"] == "ledger" and _is_claim(each)]
    claim["spec"]["volumeName"] = "of-ledger"
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": operator}]}]
    only = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
    file = tmp_path / "mounted.json"
    volume = resource("PersistentVolume", "of-ledger", spec=only)
    file.write_text(json.dumps({"kind": "List", "items": [*items, volume]}))
    there = f"{WARNING['detail']['instance-id']}={_node_of('ledger')}"

    done = replay("-", "--snapshot", file, "--instance", there, "-o", "json", stdin=WARNING)

    (found,) = json.loads(done.stdout)["items"]
    (row,) = [each for each in found["workloads"] if each["subject"]["name"] == "ledger"]
    assert row["ready"] == ready


def _is_claim(item: dict[str, Any]) -> bool:
    return bool(item["kind"] == "PersistentVolumeClaim")


def test_it_is_said_what_a_smaller_snapshot_lacks(snapshot_file: Path, tmp_path: Path) -> None:
    items = json.loads(snapshot_file.read_text())["items"]
    absent = ("PodDisruptionBudget", "Namespace")
    smaller = tmp_path / "smaller.json"
    smaller.write_text(
        json.dumps({"kind": "List", "items": [i for i in items if i["kind"] not in absent]})
    )

    done = replay("-", "--snapshot", smaller, stdin=WARNING)

    assert done.exit_code == 0
    assert "note: no poddisruptionbudgets in it: if the cluster has some" in done.stderr


def test_exit_code_1_says_that_a_workload_went_to_zero_that_need_not_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evenkeel_sandbox.application.Application.send", lambda _self, _event: None)
    login = _node_of("login")

    done = replay("-", "--instance", f"{WARNING['detail']['instance-id']}={login}", stdin=WARNING)

    assert done.exit_code == 1
    assert "1 failed" in done.stdout


def test_a_decision_is_one_line_in_a_pipe_and_wrapped_on_no_terminal() -> None:
    evenkeel = Path(sys.executable).parent / "evenkeel"
    done = subprocess.run(
        [evenkeel, "replay", EVENTS / "interruption-warning-terminate.json"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "COLUMNS": "60"},
    )

    taken, decisions = (part.splitlines() for part in done.stdout.split("\n\n")[:2])
    assert len(taken) == 1
    assert all(line.lstrip().startswith("+") for line in decisions)
    assert max(map(len, decisions)) > 60


def _node_of(workload: str) -> str:
    cluster = built_in.build(SimulatedClock(NOW))
    name: str = next(
        pod["spec"]["nodeName"]
        for pod in cluster.objects("Pod")
        if pod["metadata"]["name"].startswith(workload)
    )
    return name
