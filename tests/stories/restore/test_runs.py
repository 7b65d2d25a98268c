"""Single runs: side by side, observing, refused, and what they tell."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.errors import ForbiddenError, QueueError
from evenkeel.flows.restore import flow
from evenkeel.flows.restore.reading import MOVES, read_again
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease, PersistentVolume
from evenkeel.model.decision import Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Reference
from evenkeel.model.move import new_move
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, List, Patch, Request, Selection
from evenkeel.ports import Reply
from evenkeel.settings import Mode
from evenkeel_sandbox.application import Environments
from evenkeel_sandbox.simulator.event_source import SimulatedSchedule
from tests.kit.asking import asks, noting
from tests.kit.manifests import MAJORITY, Manifest, budget, deployment, resource, stateful_set
from tests.kit.restoring import EVERY, RestoreScene
from tests.stories.restore.conftest import MakeScene

FLOOR_OF_ONE = {names.ON_DEMAND: "1"}


def above_its_floor(scene: RestoreScene, *more: Manifest) -> None:
    """Two workloads on on-demand nodes alone, and room on spot."""
    both = deployment("web", 4, notes=FLOOR_OF_ONE), stateful_set("db", 3, notes=MAJORITY)
    scene.given(*more, *both, on="o0 o1 o2", spare="s0 s1 s2")


def most_released(scene: RestoreScene, until: float) -> int:
    """The most pods of ``web`` that were released at once."""
    most = 0
    for second in range(int(scene.seconds), int(until)):
        scene.run(second + 1)
        most = max(most, sum(pod.released for pod in scene.pods("web")))
    return most


@pytest.mark.parametrize("apart", [0.0, 0.02, 0.05, 0.1, 0.5])
def test_two_runs_at_once_begin_one_move(scene: RestoreScene, apart: float) -> None:
    above_its_floor(scene)
    scene.settle(apart)
    other = SimulatedSchedule(scene.clock, Environments(scene._restore), every=EVERY)

    assert most_released(scene, 300) == 1

    assert scene.split("web") == {"on-demand": 1, "spot": 3}
    assert scene.lowest("web") == 4
    assert scene.restoring.errors == other.errors == []


def test_observing_it_tells_and_writes_nothing(make_scene: MakeScene) -> None:
    scene = make_scene(mode=Mode.OBSERVE)
    above_its_floor(scene)
    scene.run(until=200)
    assert {decision.verb for decision in scene.moves()} == {Verb.RELEASE, Verb.EVICT}
    assert scene.written() == []
    assert scene.wake_ups.messages == []


def test_where_nothing_is_to_be_done_no_wake_up_is_sent(scene: RestoreScene) -> None:
    scene.given(deployment("web", 2, notes=FLOOR_OF_ONE), on="o0 s0")
    scene.run(until=200)
    assert scene.outcomes() == ["Quiet"] * 3
    assert scene.written() == []
    assert scene.recorder.total("WorkloadsAsWanted") >= 3


def test_no_pod_is_read_until_a_namespace_takes_part(scene: RestoreScene) -> None:
    """Each run would read them all, once a minute."""
    scene.apply(resource("Namespace", "default", labels={names.MANAGED: "false"}))
    above_its_floor(scene)
    pods = noting(scene.cluster, asks(List, selection=Selection(Pod)))
    scene.run(until=200)
    assert set(scene.outcomes()) == {"Quiet"}
    assert pods == []

    scene.manage("default")
    scene.run(until=300)
    assert pods
    assert scene.moves("web")


def test_all_namespaces_may_take_part_without_a_label(make_scene: MakeScene) -> None:
    scene = make_scene(everywhere=True)
    scene.apply(resource("Namespace", "default", labels={names.MANAGED: "false"}))
    above_its_floor(scene)
    scene.run(until=100)
    assert scene.moves("web")


def test_a_floor_that_cannot_be_read_is_warned_of_once_in_a_while(scene: RestoreScene) -> None:
    scene.webhook.down = True
    scene.given(deployment("typo", 1, notes={names.ON_DEMAND: "tow"}), on="s0", settle=0)
    scene.run(until=4000)
    told = scene.told("BadFloor")
    assert [round(at) for at, _ in told] == [20, 3620]
    assert all(decision.warning for _, decision in told)


@pytest.mark.parametrize(
    "concerns",
    [asks(Create, Patch, of=Lease), asks(Patch, of=Deployment)],
    ids=["the webhook's word", "the note"],
)
def test_what_is_refused_is_left_to_the_next_run(scene: RestoreScene, concerns: Any) -> None:
    above_its_floor(scene)
    scene.fail(ForbiddenError("no"), concerns, times=1)
    scene.run(until=400)
    assert scene.split("web") == {"on-demand": 1, "spot": 3}
    assert scene.recorder.total("WritesFailed") == 1


def test_an_eviction_that_a_budget_refuses_is_left_to_the_next_run(scene: RestoreScene) -> None:
    """The budget's count lagged behind: the eviction's own answer is the last word."""
    above_its_floor(scene, budget("db", minAvailable=3))
    scene.run(until=200)
    assert scene.split("db") == {"on-demand": 3}
    assert scene.lowest("db") == 3


def test_leases_of_moves_that_are_long_over_are_taken_away(scene: RestoreScene) -> None:
    above_its_floor(scene)
    scene.run(until=400)
    assert moves_told(scene) == 2
    scene.run(until=2 * 3600)
    assert moves_told(scene) == 2  # nothing was to be done meanwhile
    scene.cluster.scale("Deployment", "web", "default", 0)
    scene.webhook.down = True
    scene.settle()
    scene.cluster.scale("Deployment", "web", "default", 4)
    scene.settle()
    scene.webhook.down = False
    scene.run(until=3 * 3600)
    assert moves_told(scene) == 1


def moves_told(scene: RestoreScene) -> int:
    """How many Leases tell of moves."""
    leases = scene.cluster.objects("Lease", names.SYSTEM_NAMESPACE)
    return sum(names.MOVE_OF in lease["metadata"].get("labels", {}) for lease in leases)


def test_a_queue_that_fails_leaves_the_moves_to_the_schedule(
    scene: RestoreScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    above_its_floor(scene)

    def refuse(*_: Any) -> None:
        raise QueueError("no queue")

    with monkeypatch.context() as patched:
        patched.setattr(scene.wake_ups, "send", refuse)
        scene.run(until=25)
    assert scene.restoring.errors == []
    assert any("no queue" in message for message, _ in scene.recorder.notes)
    scene.run(until=400)
    assert scene.split("web") == {"on-demand": 1, "spot": 3}


@pytest.mark.parametrize("change", ["a rollout", "a floor"])
def test_what_changes_while_a_run_reads_is_not_moved(scene: RestoreScene, change: str) -> None:
    """Of a rollout's new ReplicaSet the snapshot knows nothing, nor of another floor."""
    above_its_floor(scene)
    changed = False

    def change_it() -> None:
        rollout = {"spec": {"template": {"spec": {"priority": 1}}}}
        floor = {"metadata": {"annotations": {names.ON_DEMAND: "all"}}}
        for kind, name in (("Deployment", "web"), ("StatefulSet", "db")):
            patch = rollout if change == "a rollout" else floor
            scene.cluster.server.patch(kind, ("default", name), patch)

    def meanwhile(request: Request, proceed: Callable[[], Any]) -> Any:
        nonlocal changed
        if isinstance(request, List) and request.selection == MOVES and not changed:
            changed = True
            answer = proceed()
            change_it()
            scene.clock.sleep(timedelta(seconds=1))  # its controllers take it up
            return answer
        return proceed()

    scene.cluster.intercept(meanwhile)
    scene.run(until=40)

    assert changed
    assert scene.moves() == []


def test_workloads_are_read_again_together_and_one_gone_keeps_no_other(scene: RestoreScene) -> None:
    """An API server takes its time for each answer that it proves to be fresh."""
    above_its_floor(scene, deployment("api", 4, notes=FLOOR_OF_ONE))
    labels = {"app=api", "app=web", "app=db"}
    together: list[set[str]] = []
    perform = scene.cluster.perform

    def recording(requests: Sequence[Request]) -> Sequence[Reply]:
        asked = {each.selection.labels for each in requests if isinstance(each, List)}
        if asked & labels:
            if not together:
                scene.cluster.delete("Deployment", "web", "default")
            together.append(asked)
        return perform(requests)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scene.cluster, "perform", recording)
        scene.run(until=40)

    assert together[0] == labels
    moved = {(each.workload or each.subject).name for each in scene.moves()}
    assert moved == {"api", "db"}


@pytest.mark.parametrize("spoilt", ["in days", "nobody", "another's name"])
def test_a_forged_lease_stops_no_move_for_long(scene: RestoreScene, spoilt: str) -> None:
    scene.place(deployment("web", 4, notes=FLOOR_OF_ONE), on="o0 o1 o2")
    scene.place(on="s0 s1")
    (web,) = scene.cluster.objects("ReplicaSet")
    uid, pod = web["metadata"]["uid"], scene.pods("web")[0]
    since = scene.clock.now() + timedelta(days=300 if spoilt == "in days" else 0)
    made = new_move(
        Reference(kind="ReplicaSet", namespace="default", name="web", uid=uid),
        pod.reference,
        Capacity.SPOT,
        since,
        since + EVERY,
    )
    metadata = made.metadata
    if spoilt == "another's name":
        metadata = msgspec.structs.replace(metadata, name="zzz")
    spec = made.spec
    if spoilt == "nobody":
        spec = msgspec.structs.replace(spec, holder_identity="")
    scene.cluster.perform([Create(Lease(metadata=metadata, spec=spec))])
    scene.begin()

    scene.run(until=600)

    assert scene.split("web") == {"on-demand": 1, "spot": 3}
    assert scene.told("WrongCapacityType") == []


def test_an_update_that_waits_for_a_deletion_is_not_brought_by_a_move(scene: RestoreScene) -> None:
    """OnDelete: its owner says when which ordinal gets the new template."""
    scene.place(
        stateful_set("db", 3, notes=MAJORITY, updateStrategy={"type": "OnDelete"}), on="o0 o1 o2"
    )
    newer = {"spec": {"template": {"metadata": {"annotations": {"release": "2"}}}}}
    scene.cluster.server.patch("StatefulSet", ("default", "db"), newer)
    scene.settle()
    scene.given(on="s0 s1")

    scene.run(until=200)
    assert scene.split("db") == {"on-demand": 3}
    assert {decision.subject.name for _, decision in scene.told("UpdateOnDelete")} == {"db"}

    scene.cluster.delete("Pod", "db-2", "default")
    scene.run(until=400)
    assert scene.split("db") == {"on-demand": 2, "spot": 1}


def test_a_run_whose_time_is_up_leaves_the_rest_to_the_next(
    scene: RestoreScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function is stopped in the middle of a write otherwise."""

    def read_slowly(*args: Any) -> Any:
        scene.clock.sleep(timedelta(seconds=5))
        return read_again(*args)

    monkeypatch.setattr(flow, "read_again", read_slowly)
    monkeypatch.setattr(flow, "LONGEST_RESTORE", timedelta(seconds=4))
    apps = [f"web-{number}" for number in range(20)]
    scene.given(
        *(deployment(app, 1) for app in apps),
        on="o0 o1 o2 o3",
        spare="s0 s1 s2 s3",
        room={"o": "8", "s": "8"},
    )
    scene.run(until=58)
    assert len(scene.moves()) == 16
    assert ("time is up; the next run takes what is left", {"steps": 4}) in scene.recorder.notes

    scene.run(until=200)

    assert all(scene.split(app) == {"spot": 1} for app in apps)
    assert {scene.lowest(app) for app in apps} == {1}


@pytest.mark.parametrize(
    ("on", "spare", "before", "moves"),
    [("o0 o1", "s0 s1", {"on-demand": 5}, 3), ("s0 s1", "o0 o1", {"spot": 5}, 2)],
    ids=["what is above a floor goes to spot", "a floor that is missing is made"],
)
def test_pods_go_one_at_a_time_to_where_they_belong(
    scene: RestoreScene, on: str, spare: str, before: dict[str, int], moves: int
) -> None:
    """They were placed while no webhook answered."""
    scene.webhook.down = True
    scene.place(deployment("web", 5, notes={names.ON_DEMAND: "2"}), on=on)
    scene.webhook.down = False
    scene.given(on=spare)
    assert scene.split("web") == before

    scene.run(until=300)

    assert scene.split("web") == {"on-demand": 2, "spot": 3}
    assert len(scene.moves("web")) == moves
    assert scene.lowest("web") == 5


def test_a_role_that_may_not_read_volumes_is_told_once_and_the_rest_moves(
    scene: RestoreScene,
) -> None:
    above_its_floor(scene)
    scene.fail(ForbiddenError("no volumes for you"), asks(List, of=PersistentVolume))
    scene.run(until=300)
    told = [note for note, _ in scene.recorder.notes if "persistentvolumes" in note]
    assert told == ["no right to list persistentvolumes: pods that mount one are not moved"]
    assert scene.split("web") == {"on-demand": 1, "spot": 3}
