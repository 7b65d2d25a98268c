"""``evenkeel restore``: what would move, and why; and moving, run after run."""

import json
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
from evenkeel_cli.restoring.listing import ACCEPTED
from evenkeel_cli.restoring.real import Restoring
from evenkeel_cli.status.gather import gather
from evenkeel_cli.status.listing import listing
from evenkeel_cli.targets import Target
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
    scene: RestoreScene, tmp_path: Path
) -> None:
    """Of all namespaces: a plan for one of them does not see the others' moves."""
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


def test_it_is_said_that_a_snapshot_has_no_webhook(snapshot: str) -> None:
    said = "A snapshot does not tell whether a webhook places new pods: one counts as there."
    assert said in restore("--snapshot", snapshot).stdout
    assert said not in restore("--built-in", "--manage-all").stdout


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
    assert "deploy/web" in restore("--built-in", "--manage-all", "-n", "shop").stdout


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
