"""``evenkeel restore``: what would move, and why; and moving, run after run."""

import json
import re
from collections import Counter
from contextlib import nullcontext
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.errors import UnavailableError
from evenkeel.flows.restore.reading import Scope
from evenkeel.model import names
from evenkeel.model.reasons import Reason
from evenkeel_cli import snapshot as snapshots
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.journal import Journal
from evenkeel_cli.restoring.listing import ACCEPTED, Row, few
from evenkeel_cli.restoring.real import Restoring
from evenkeel_cli.status.gather import gather
from evenkeel_cli.status.listing import listing
from evenkeel_cli.targets import Target
from evenkeel_sandbox.built_in import placing
from tests.kit.given_reasons import RULING_OUT
from tests.kit.manifests import MAJORITY, PAUSED, SYSTEM, deployment, resource, stateful_set
from tests.kit.restoring import RestoreScene
from tests.kit.scene import Scene
from tests.unit.cli.running import run


@pytest.fixture
def scene() -> Any:
    """Two workloads above their floor, and one below it."""
    made = RestoreScene()
    made.place(
        deployment("web", 3, notes={names.ON_DEMAND: "1"}),
        stateful_set("db", 3, notes=MAJORITY),
        deployment("kept", 2, pod={"annotations": {names.SAFE_TO_EVICT: "false"}}),
        on="o0 o1",
    )
    made.webhook.down = True
    on_spot = {"nodeSelector": {names.CAPACITY_LABELS[-1]: "spot"}}
    made.place(deployment("low", 2, notes={names.ON_DEMAND: "2"}, pod=on_spot), on="s0 s1")
    made.webhook.down = False
    yield made
    made.close()


@pytest.fixture
def snapshot(scene: RestoreScene, tmp_path: Path) -> str:
    """The scene as kubectl prints it."""
    file = tmp_path / "all.json"
    snapshots.write(file, scene.cluster.objects)
    return str(file)


restore = partial(run, "restore")


def test_each_move_is_planned_with_its_reason_and_what_is_as_wanted_is_not(snapshot: str) -> None:
    items = json.loads(restore("--snapshot", snapshot, "-o", "json").stdout)["items"]
    told = {each["subject"]["name"]: (each["action"], each["reason"]) for each in items}
    assert told == {
        "web": ("release", "AboveFloor"),
        "db": ("evict", "AboveFloor"),
        "kept": ("leave", "Protected"),
        "low": ("leave", "OwnRules"),
    }
    assert [each["subject"]["name"] for each in items if each["planned"]] == ["web", "db"]
    shown = restore("--snapshot", snapshot)
    assert shown.exit_code == 0
    assert "deploy/web" in shown.stdout
    assert "POD" not in shown.stdout
    assert "POD" in restore("--snapshot", snapshot, "-o", "wide").stdout


def test_without_room_on_spot_one_move_that_waits_for_a_node_is_planned(
    scene: RestoreScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all namespaces: a plan for one of them does not see the others' moves."""
    monkeypatch.setattr("evenkeel_cli.restoring.day.LENGTH", timedelta(minutes=5))
    scene.remove_nodes("s")
    scene.apply(deployment("api", 3, notes={names.ON_DEMAND: "1"}))
    scene.settle(60)
    file = tmp_path / "spotless.json"
    snapshots.write(file, scene.cluster.objects)
    wanted = {"": {"release": 1, "wait": 1}, "default": {"leave": 2}}
    for namespace, actions in wanted.items():
        where = ("-n", namespace) if namespace else ()
        found = json.loads(restore("--snapshot", str(file), *where, "-o", "json").stdout)["items"]
        rows = [each for each in found if each["subject"]["name"] in ("web", "api")]
        assert Counter(each["action"] for each in rows) == actions
        reasons = {(each["action"], each["reason"]) for each in rows}
        assert reasons <= {
            ("release", "AboveFloor"),
            ("wait", "BudgetOfRun"),
            ("leave", "NoRoomOnSpot"),
        }
        waiting = [each for each in rows if "waits for one" in each["message"]]
        assert all(each["planned"] for each in waiting)
        assert len(waiting) == actions.get("release", 0)


@pytest.fixture(scope="module")
def built_in() -> str:
    """What is shown of the built-in cluster."""
    done = restore("--built-in")
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def rows_of(table: str) -> list[list[str]]:
    return [re.split(r"  +", line) for line in table.splitlines()]


def test_a_day_of_runs_brings_the_built_in_cluster_back_to_its_floors(built_in: str) -> None:
    said, runs, workloads, sentences = built_in.strip().split("\n\n")
    assert said.startswith("The built-in cluster after half of its spot nodes went")
    title, first, *_, last = rows_of(runs)
    assert title == ["TIME", "MOVED", "WENT-BACK", "ON-DEMAND", "SPOT", "SHARE", "OFF"]
    assert (first[0], first[1], last[-1]) == ("0:00", "0", "0")
    assert int(first[-1]) == sum(int(row[1]) for row in rows_of(runs)[1:])
    found = {row[1]: row[2:6] for row in rows_of(workloads)[1:]}
    assert found["deploy/search"] == ["6", "3 + 15", "6 + 12", "3"]
    for floor, _, after, _ in found.values():
        assert after.split(" + ")[0] == floor
    assert re.search(r"^From 0:\d\d on nothing is left to do", sentences, re.MULTILINE)
    assert "Meanwhile data/sts/postgres had fewer Ready pods at times." in sentences
    assert SAID not in built_in


def test_a_day_of_runs_is_shown_of_a_snapshot(snapshot: str) -> None:
    found = json.loads(restore("--snapshot", snapshot, "-o", "json").stdout)
    assert found["kind"] == "RestoreDayList"
    whole = {each["subject"]["name"]: each for each in found["items"]}
    assert (whole["web"]["first"], whole["web"]["last"]) == (
        {"onDemand": 3, "spot": 0},
        {"onDemand": 1, "spot": 2},
    )
    assert {name: (each["moved"], each["wentBack"]) for name, each in whole.items()} == {
        "web": (2, 0),
        "db": (1, 0),
        "kept": (0, 0),
        "low": (0, 0),
    }
    first, *_, last = found["runs"]
    assert (first["seconds"], first["off"]) == (0, 7)
    assert last["off"] == 4
    assert sum(each["moved"] for each in found["runs"]) == 3
    assert SAID in found["summary"]


def test_moves_that_go_back_are_counted(
    scene: RestoreScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the webhook does not answer, and the scheduler rather takes an on-demand node."""
    silent = {"statusCode": 500, "body": ""}
    monkeypatch.setattr(placing, "_build", lambda *_: lambda *_: silent)
    monkeypatch.setattr("evenkeel_cli.restoring.day.LENGTH", timedelta(minutes=5))
    for number in range(9):
        scene.add_node(f"p{number}", spot=False, room="64")
    file = tmp_path / "all.json"
    snapshots.write(file, scene.cluster.objects)
    found = json.loads(restore("--snapshot", str(file), "-o", "json").stdout)
    (web,) = (each for each in found["items"] if each["subject"]["name"] == "web")
    assert web["wentBack"] == sum(each["wentBack"] for each in found["runs"]) > 0
    assert "still to move" in " ".join(found["summary"])


def test_of_a_long_day_some_rows_are_shown_and_no_move_is_left_out() -> None:
    rows = [
        Row(seconds=60 * i, moved=i > 0, went_back=i % 2, on_demand=1, spot=3, off=i)
        for i in range(101)
    ]
    shown = few(rows)
    assert [shown[0], shown[-1].time, shown[-1].share] == [rows[0], "1:40", "75%"]
    assert len(shown) <= 12
    assert sum(each.moved for each in shown) == 100
    assert sum(each.went_back for each in shown) == 50
    assert few(rows[:3]) == rows[:3]
    assert few(rows[:1]) == rows[:1]


SAID = "A snapshot does not tell whether a webhook places new pods: one counts as there."


def test_a_namespace_is_enough(snapshot: str) -> None:
    assert "deploy/web" in restore("--snapshot", snapshot, "-n", "default").stdout
    empty = restore("--built-in", "-n", "ops")
    assert empty.stdout == (
        "Nothing to move: every managed workload is as wanted (-A looks at all).\n"
    )


def test_where_nothing_is_managed_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenkeel_sandbox.built_in.workloads.MANAGED", frozenset())
    assert "no namespace of these workloads has evenkeel.dev/managed=true" in (
        restore("--built-in").stdout
    )
    monkeypatch.setattr("evenkeel_cli.restoring.day.LENGTH", timedelta(minutes=10))
    shown = restore("--built-in", "--manage-all", "-n", "shop").stdout
    assert re.search(r"deploy/web +20 +\d+ \+ \d+ +\d+ \+ \d+ +[1-9]", shown)


@pytest.mark.parametrize(
    ("namespace", "more"), [("default", ": add --apply to do it"), ("calm", "")]
)
def test_apply_is_named_only_where_something_would_move(
    scene: RestoreScene, monkeypatch: pytest.MonkeyPatch, namespace: str, more: str
) -> None:
    monkeypatch.setattr(Target, "connect", lambda _target: nullcontext(scene.cluster))
    scene.cluster.apply(resource("Namespace", "calm"))

    done = restore("-n", namespace, "--context", "prod")

    assert done.exit_code == 0
    assert done.stdout.endswith(f"\nNothing was written to context prod{more}.\n")


@pytest.mark.parametrize(
    "arguments",
    [("--apply", "--built-in"), ("--apply", "--snapshot", "x.json"), ("-A", "-n", "default")],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...]) -> None:
    assert restore(*arguments).exit_code == 2


def restoring(scene: RestoreScene, **terms: Any) -> Restoring:
    return Restoring(scene.cluster, scene.clock, Terms(**terms), Scope(), Journal(scene.clock))


def test_pods_are_moved_until_nothing_more_can_be(scene: RestoreScene) -> None:
    acting = restoring(scene)
    left = acting.act()
    assert scene.split("web") == {"on-demand": 1, "spot": 2}
    assert scene.split("db") == {"on-demand": 2, "spot": 1}
    assert (acting.moved, acting.rolled_back) == (3, [])
    assert {each.reason for each in left.left} == {"AsWanted", "Protected", "OwnRules"}


def test_deployed_functions_finish_the_moves_that_it_begins(scene: RestoreScene) -> None:
    scene.apply(SYSTEM)
    Scene.begin(scene)
    scene.run(until=31)
    acting = restoring(scene)

    acting.act()

    assert acting.moved > 0
    assert scene.split("web") == {"on-demand": 1, "spot": 2}
    assert scene.told("ReplacementAvailable")
    its_own = {entry.decision.reason for entry in acting.journal.entries}
    assert "ReplacementAvailable" not in its_own


def test_what_went_back_is_known(scene: RestoreScene) -> None:
    scene.webhook.down = True
    for number in range(9):  # the scheduler rather takes one of these
        scene.add_node(f"p{number}", spot=False, room="64")
    acting = restoring(scene)
    left = acting.act()
    assert {decision.reason for decision in acting.rolled_back} == {"WrongCapacityType"}
    assert "CoolingDown" in {each.reason for each in left.left}


def test_nothing_is_moved_while_paused(scene: RestoreScene) -> None:
    scene.apply(PAUSED)
    with pytest.raises(UnmetError, match="evenkeel resume --apply"):
        restoring(scene).act()


def test_moves_that_a_pause_holds_up_are_not_waited_for_without_end(scene: RestoreScene) -> None:
    begun = scene.clock.now()
    scene.clock.call_in(timedelta(seconds=1.2), lambda: scene.apply(PAUSED))
    with pytest.raises(UnmetError, match="not through: Evenkeel is paused"):
        restoring(scene, patience=timedelta(minutes=2)).act()
    assert scene.clock.now() - begun < timedelta(minutes=4)


def test_an_api_server_that_fails_is_told(scene: RestoreScene) -> None:
    scene.fail(UnavailableError("silence"), lambda _: True)
    with pytest.raises(UnmetError, match="silence"):
        restoring(scene).act()


def test_status_says_what_restore_does(scene: RestoreScene) -> None:
    remarks = {each.subject.name: each.remarks for each in listing(gather(scene.cluster)).items}
    (above,) = remarks["web"]
    assert above.reason == "AboveFloor"
    assert "next: release web-" in above.message
    (below,) = remarks["low"]
    assert "now it does not: its own rules exclude on-demand" in below.message


def test_restore_has_done_its_work_where_an_owner_rules_two_pods_at_once_out() -> None:
    """Else it exits with 1 each time. A ReplicaSet on its own, and a refusal, are no wish."""
    wished = RULING_OUT - {Reason.NO_DEPLOYMENT, Reason.RELEASE_REFUSED}
    assert not wished - ACCEPTED, "see ACCEPTED in restoring/listing.py"
