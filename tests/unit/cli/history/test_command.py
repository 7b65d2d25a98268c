"""What `evenkeel history` says of an interruption, to who is on call."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import msgspec
import pytest
from moto import mock_aws

from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.telemetry.decision_log import count_record
from evenkeel.model.meta import Reference
from evenkeel_cli import words
from evenkeel_cli.demo import play
from evenkeel_cli.errors import Exit
from evenkeel_cli.history import incident
from evenkeel_cli.history.cutting import Record
from evenkeel_cli.history.pods import NO_WARNING
from tests.unit.cli.history.records import BEGIN, counted, decided, marked, of_pod
from tests.unit.cli.running import run

DB = Reference("StatefulSet", "db", "data", "db-uid")
LATE = {"forced": True, "warning": True}
STORM: Sequence[Record] = [
    marked(0, "ip-10-0-0-1.internal"),
    marked(1, "ip-10-0-0-2.internal", until=BEGIN, reason="InstanceStateChange"),
    counted(2, 3),
    of_pod(2, "release", "NodeDoomed", node="ip-10-0-0-1.internal"),
    of_pod(
        3, "evict", "LastMoment", "web-2", node="ip-10-0-0-2.internal", forced=True, warning=True
    ),
    counted(4, 2),
    of_pod(9, "evict", "ReplacementAvailable", node="ip-10-0-0-1.internal"),
    counted(24, 3),
    counted(2, 2, 2, DB),
    decided(
        5,
        "evict",
        "StatefulSet",
        Reference("Pod", "db-0", "data", "db-0-uid"),
        workload=DB,
        node="ip-10-0-0-1.internal",
        cause="each ordinal is there once",
        remedy="have more replicas than must serve",
    ),
    counted(6, 1, 2, DB),
]


SCREEN = f"""\
prod, 2026-01-05 03:00:00 to 03:00:24 UTC: 2 nodes, 2 workloads, 3 pods to move.

NAMESPACE  WORKLOAD    OK      WANTED  LOWEST  BELOW      AT-ZERO  LATE  WHY
data       sts/db      dipped  2       1       not known  -        0     each ordinal is there once
shop       deploy/web  dipped  3       2       20s        -        1     {NO_WARNING}

NODE         REASON               NOTICE    DEADLINE  PODS  LATE
ip-10-0-0-1  SpotInterruption     03:00:00  03:02:00  2     0
ip-10-0-0-2  InstanceStateChange  03:00:01  03:00:00  1     1

Of 2 workloads with pods that had to move none kept all that are wanted, 2 dipped for a reason that\
 is named, none failed; 1 of 3 pods was late.
Not known: how long data/sts/db had too few, for the counts end before.
SpotInterruption: 1 node, the first at 03:00:00, the last deadline at 03:02:00.
InstanceStateChange: 1 node, the first at 03:00:01, the last deadline at 03:00:00.
Notice came less than 60s before the deadline: ip-10-0-0-2.
Late: 1 pod: its node left no time for a handover.
Change data/sts/db: have more replicas than must serve.
Change shop/deploy/web: keep replicas on on-demand nodes (annotation evenkeel.dev/on-demand).
The same with sts/db -n data shows each of its pods; with a node's name those of a node.
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return written(tmp_path / "log.jsonl", STORM)


def written(path: Path, records: Sequence[Record]) -> Path:
    path.write_bytes(b"\n".join(map(msgspec.json.encode, records)))
    return path


history = partial(run, "history")


def test_the_first_screen_says_who_fell_why_what_was_late_and_what_to_change(log: Path) -> None:
    printed = history("--from", log)
    assert printed.exit_code == Exit.FINDING
    assert printed.stdout == SCREEN


@pytest.mark.parametrize("name", ["web", "deploy/web", "deployment/web", "shop/deploy/web"])
def test_a_workloads_part_is_every_step_every_count_and_each_pods_way(name: str, log: Path) -> None:
    lines = history(name, "--from", log).stdout.splitlines()
    assert [line.split()[:2] for line in lines[:6]] == [
        ["03:00:02.0", "count"],
        ["03:00:02.0", "release"],
        ["03:00:03.0", "evict"],
        ["03:00:04.0", "count"],
        ["03:00:09.0", "evict"],
        ["03:00:24.0", "count"],
    ]
    assert "web-1  ip-10-0-0-1  03:00:02  03:00:09  handed over" in lines[-5]
    assert "web-2  ip-10-0-0-2  -         03:00:03  at the last moment" in lines[-4]
    assert lines[-2:] == [
        "shop/deploy/web: dipped, 2 of 3 pods at the lowest, below what is wanted for 20s.",
        "Change: keep replicas on on-demand nodes (annotation evenkeel.dev/on-demand).",
    ]


def test_a_workloads_part_says_what_became_of_it(log: Path, tmp_path: Path) -> None:
    unclear = "1 of 2 pods at the lowest, below what is wanted, for how long is not known."
    assert f"data/sts/db: dipped, {unclear}" in history("db", "--from", log).stdout
    gone = of_pod(5, "evict", "Recreate")
    storm = [marked(0), counted(1, 3), gone, counted(5, 0), counted(9, 3)]
    at_none = history("web", "--from", written(tmp_path / "none.jsonl", storm)).stdout
    assert "0 of 3 pods at the lowest, below what is wanted for 4s, at none for 4s." in at_none
    storm = [marked(0), counted(1, 3), of_pod(5, "evict", "ReplacementAvailable"), counted(9, 3)]
    kept = history("web", "--from", written(tmp_path / "kept.jsonl", storm)).stdout
    assert kept.splitlines()[-1] == "shop/deploy/web: kept."


def test_a_workload_that_has_fewer_replicas_by_now_is_told_with_its_lowest(tmp_path: Path) -> None:
    gone = of_pod(5, "evict", "Recreate")
    storm = [marked(0), counted(1, 3), gone, counted(5, 2), counted(9, 1, wanted=1)]
    printed = history("web", "--from", written(tmp_path / "less.jsonl", storm)).stdout
    assert "web: dipped, 2 pods at the lowest, below what is wanted for 4s." in printed


def test_a_workload_that_restore_left_without_a_pod_is_a_finding(tmp_path: Path) -> None:
    kept = [marked(0), of_pod(1, "evict", "ReplacementAvailable"), counted(2, 1, 1)]
    gone = of_pod(10, "evict", "FloorMissing", "web-2", node="b")
    log = written(tmp_path / "log", [*kept, gone, counted(10, 0, 1), counted(20, 1, 1)])
    assert history("--from", log).exit_code == Exit.FINDING


def test_a_nodes_part_has_its_notice_and_its_pods(log: Path) -> None:
    found = json.loads(history("ip-10-0-0-1", "--from", log, "-o", "json").stdout)
    assert [each["subject"]["name"] for each in found["items"]] == ["db-0", "web-1"]
    assert found["moments"][0]["verb"] == "mark"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["nothing"], "touched no nothing: there are data/sts/db, shop/deploy/web, ip-10-0-0-1"),
        (["web", "-n", "data"], "touched no web"),
        (["deploy/wob"], "touched no deploy/wob: did you mean shop/deploy/web?"),
        (["ip-10-0-0-7"], "touched no ip-10-0-0-7: did you mean ip-10-0-0-"),
        (["-n", "shp"], "touched no namespace shp: did you mean shop?"),
        (["-n", "elsewhere"], "touched no namespace elsewhere: it touched data, shop"),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_those_that_are(
    args: Sequence[str], says: str, log: Path
) -> None:
    printed = history(*args, "--from", log)
    assert printed.exit_code == Exit.BAD_INPUT
    assert says in printed.stderr


def test_a_namespace_is_enough(log: Path) -> None:
    found = json.loads(history("-n", "data", "--from", log, "-o", "json").stdout)
    assert {each["subject"]["namespace"] for each in found["items"]} == {"data"}
    assert history("-n", "data", "-A", "--from", log).exit_code == Exit.BAD_INPUT


def test_a_name_that_is_there_twice_is_not_guessed(tmp_path: Path) -> None:
    other = Reference("Deployment", "web", "test", "other-uid")
    log = written(tmp_path / "log", [*STORM, counted(7, 1, 1, other)])
    printed = history("web", "--from", log)
    assert printed.exit_code == Exit.BAD_INPUT
    assert "web may be shop/deploy/web, test/deploy/web" in printed.stderr
    assert history("web", "-n", "test", "--from", log).exit_code == Exit.DONE


def test_it_is_the_last_interruption_unless_a_time_is_named(tmp_path: Path) -> None:
    later = [marked(3_000, "ip-10-0-0-9.internal"), counted(3_001, 3)]
    log = written(tmp_path / "log", [*STORM, *later])
    assert "03:50:00 to 03:50:01 UTC: 1 node," in history("--from", log).stdout
    assert "03:00:00 to 03:50:01 UTC: 3 nodes," in history("--from", log, "--since", "1h").stdout
    assert history("--from", log).exit_code == Exit.DONE


def test_without_counts_it_says_that_the_log_has_none(tmp_path: Path) -> None:
    log = written(tmp_path / "log", [marked(0), of_pod(1, "evict", "Recreate")])
    assert "How many pods were available is not in the log" in history("--from", log).stdout


def test_notices_that_led_to_no_node_are_told(tmp_path: Path) -> None:
    instance = Reference("Instance", "i-0123")
    log = written(tmp_path / "log", [decided(1, "retry", "NoAnswerFromApiServer", instance)])
    told = "NoAnswerFromApiServer for 1 notice: because of NoAnswerFromApiServer."
    assert told in history("--from", log).stdout.splitlines()


def test_a_log_in_which_nothing_happened_is_said_to_be_one(tmp_path: Path) -> None:
    log = written(tmp_path / "log", [of_pod(1, "place", "InFloor")])
    printed = history("--from", log)
    assert printed.exit_code == Exit.UNMET
    assert "nothing was decided about a node or pod" in printed.stderr


def test_it_says_what_to_name_where_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENKEEL_CLUSTER_NAME", raising=False)
    printed = history()
    assert printed.exit_code == Exit.BAD_INPUT
    assert "--cluster-name" in printed.stderr


def test_the_log_of_a_storm_says_what_was_seen_from_outside() -> None:
    scene = play.prepare()
    try:
        for _ in play.steps(scene):
            pass
        journal = scene.simulation.journal
        counts = [count_record(each, "demo") for each in journal.pod_counts]
        found = incident.of([*journal.records("demo", "act"), *counts])
        assert found is not None
        seen = {
            words.workload_name(health.workload): health.lowest
            for health in scene.simulation.observer.workloads.values()
        }
        counted = [each for each in found.workloads if each.counts]
        lowest = {words.workload_name(each.subject): each.lowest for each in counted}
        assert len(lowest) > 10
        assert lowest == {name: seen[name] for name in lowest}
    finally:
        scene.simulation.close()


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """CloudWatch Logs, with the credentials that a person has."""
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with mock_aws():
        yield boto3.client("logs", region_name="eu-central-1")


def test_the_log_groups_of_lambda_are_read(logs: Any) -> None:
    first, second = "evenkeel-prod-InterruptionLogs", "evenkeel-prod-HandoverLogs"
    for group, some in ((first, STORM[:2]), (second, STORM[2:])):
        logs.create_log_group(logGroupName=group)
        logs.create_log_stream(logGroupName=group, logStreamName="s")
        lines = [
            {"service": "evenkeel", "message": "m", field: msgspec.to_builtins(record)}
            for record in some
            for field in ("count" if "available" in record.__struct_fields__ else "decision",)
        ]
        now = int(SystemClock().now().timestamp() * 1000)
        events = [{"timestamp": now, "message": json.dumps(line)} for line in lines]
        logs.put_log_events(logGroupName=group, logStreamName="s", logEvents=events)
    printed = history("--log-group", first, "--log-group", second)
    assert printed.stderr == ""
    assert printed.stdout.startswith("prod, 2026-01-05 03:00:00 to 03:00:24 UTC: 2 nodes")


@pytest.mark.usefixtures("logs")
def test_a_stack_that_is_not_there_is_told() -> None:
    printed = history("--cluster-name", "prod")
    assert printed.exit_code == Exit.BAD_INPUT
    assert "there is no stack evenkeel-prod in eu-central-1" in printed.stderr


def test_credentials_that_are_not_there_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    printed = history("--log-group", "none")
    assert printed.exit_code == Exit.UNMET
    assert "there are no AWS credentials" in printed.stderr
    assert "--from" in printed.stderr


def test_files_and_log_groups_contradict_each_other(log: Path) -> None:
    printed = history("--from", log, "--log-group", "none")
    assert printed.exit_code == Exit.BAD_INPUT


def test_logs_of_two_clusters_are_not_one_story(tmp_path: Path) -> None:
    other = [msgspec.structs.replace(each, cluster="other") for each in STORM]
    log = written(tmp_path / "both.jsonl", [*STORM, *other])
    refused = history("--from", log)
    assert refused.exit_code == Exit.BAD_INPUT
    assert "several clusters (other, prod): name one by --cluster-name" in refused.stderr
    assert history("--from", log, "--cluster-name", "prod").stdout == SCREEN
