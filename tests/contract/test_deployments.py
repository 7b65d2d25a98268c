"""How Deployments roll out and scale."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

import pytest

from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Relisted, Selection
from evenkeel.ports import Arrival
from tests.contract.ground import Ground
from tests.contract.manifests import QUICK, SLOW_START, SLOW_STOP, deployment, template


@pytest.fixture(autouse=True)
def _node(ground: Ground) -> None:
    ground.add_node("n")


def new_version(ground: Ground, notes: Mapping[str, str] | None = None) -> None:
    metadata = {"annotations": {"example.org/version": "2", **(notes or {})}}
    ground.patch(Deployment, "web", {"spec": {"template": {"metadata": metadata}}})


def rolled_out(ground: Ground, replicas: int) -> bool:
    found = ground.get(Deployment, "web")
    counts = ground.counts(Deployment, "web")
    return found.status.observed_generation == found.metadata.generation and (
        counts.updated_replicas,
        counts.replicas,
        counts.available_replicas,
    ) == (replicas, replicas, replicas)


def bounds_during_rollout(ground: Ground, replicas: int) -> tuple[int, int]:
    """The most pods that were asked for and the fewest that were ready during a rollout.

    Asked for by its ReplicaSets together: one may make pods a moment before another deletes
    some, so that there can be more.
    """
    pods: dict[str, Pod] = {}
    sizes: dict[str, int] = {}
    most, fewest, complete = 0, replicas, False
    with ground.cluster.session() as session:
        session.watch(Selection(Pod, ground.namespace, labels="app=web"))
        session.watch(Selection(ReplicaSet, ground.namespace))
        new_version(ground)
        give_up = ground.clock.now() + timedelta(seconds=60)
        while not rolled_out(ground, replicas):
            assert ground.clock.now() < give_up
            for found, deleted in seen(session.next(timedelta(milliseconds=50))):
                if isinstance(found, ReplicaSet):
                    sizes[found.uid] = found.spec.replicas
                elif isinstance(found, Pod):
                    pods[found.uid] = found
                    if deleted:
                        del pods[found.uid]
                complete = complete or len(pods) == replicas
                if complete:
                    most = max(most, sum(sizes.values()))
                    fewest = min(fewest, sum(1 for p in pods.values() if p.active and p.ready))
    return most, fewest


def seen(arrivals: Iterable[Arrival]) -> Iterator[tuple[KubernetesObject, bool]]:
    """The objects that watches tell of, and whether they are gone."""
    for arrival in arrivals:
        if isinstance(arrival, Relisted):
            yield from ((item, False) for item in arrival.listing.items)
        elif isinstance(arrival, Change):
            yield arrival.object, arrival.deleted


@pytest.mark.parametrize(
    ("surge", "unavailable", "most", "fewest"),
    [
        pytest.param("25%", "25%", 8, 5, id="percentages: surge rounds up, unavailable down"),
        pytest.param(1, 0, 7, 6, id="surge only"),
        pytest.param(0, 2, 6, 4, id="unavailable only"),
    ],
)
def test_a_rolling_update_stays_within_its_bounds(
    ground: Ground, surge: int | str, unavailable: int | str, most: int, fewest: int
) -> None:
    strategy = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    ground.apply(deployment("web", replicas=6, strategy=strategy))
    ground.ready_pods(6)
    ground.eventually(lambda: rolled_out(ground, 6))
    assert bounds_during_rollout(ground, 6) == (most, fewest)
    sizes = sorted(rs.spec.replicas for rs in ground.list(ReplicaSet))
    assert sizes == [0, 6]


def test_a_rollout_that_is_scaled_is_scaled_in_proportion(ground: Ground) -> None:
    strategy = {"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    ground.apply(deployment("web", replicas=10, strategy=strategy))
    ground.ready_pods(10)
    ground.eventually(lambda: rolled_out(ground, 10))
    new_version(ground, SLOW_START)

    def sizes() -> list[int]:
        return sorted(each.spec.replicas for each in ground.list(ReplicaSet))

    ground.eventually(lambda: sizes() == [5, 8])
    ground.scale(Deployment, "web", 20)
    ground.eventually(lambda: sizes() == [9, 14])
    ground.scale(Deployment, "web", 0)
    ground.eventually(lambda: sizes() == [0, 0])


def test_one_pod_may_be_missing_where_both_bounds_round_to_nothing(ground: Ground) -> None:
    strategy = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "10%"}}
    ground.apply(deployment("web", replicas=3, strategy=strategy))
    ground.ready_pods(3)
    ground.eventually(lambda: rolled_out(ground, 3))
    assert bounds_during_rollout(ground, 3) == (3, 2)


def test_recreate_starts_nothing_before_all_old_pods_have_ended(ground: Ground) -> None:
    pods = template("web", SLOW_STOP)
    ground.apply(deployment("web", pods, replicas=2, strategy={"type": "Recreate"}))
    old = {p.uid for p in ground.ready_pods(2)}
    ground.eventually(lambda: rolled_out(ground, 2))
    new_version(ground)

    def replaced() -> bool:
        now = {p.uid for p in ground.pods() if not p.finished}
        assert now <= old or not now & old
        return len(now - old) == 2

    ground.eventually(replaced)


def test_the_oldest_template_again_is_the_old_replica_set_again(ground: Ground) -> None:
    ground.apply(deployment("web"))
    ground.ready_pods(1)
    first = ground.replica_set()
    new_version(ground)
    ground.eventually(lambda: rolled_out(ground, 1) and len(ground.list(ReplicaSet)) == 2)
    ground.patch(
        Deployment,
        "web",
        {"spec": {"template": {"metadata": {"annotations": {"example.org/version": None}}}}},
    )
    ground.eventually(
        lambda: rolled_out(ground, 1) and ground.get(ReplicaSet, first.name).spec.replicas == 1
    )
    assert len(ground.list(ReplicaSet)) == 2


def test_scaling_keeps_the_replica_set(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=1))
    (first,) = ground.ready_pods(1)
    ground.scale(Deployment, "web", 4)
    assert first.uid in {p.uid for p in ground.ready_pods(4)}
    ground.scale(Deployment, "web", 0)
    ground.eventually(lambda: not ground.pods())
    assert ground.replica_set().spec.replicas == 0


def test_a_replica_set_tells_whether_its_deployment_wants_more_than_it_has(
    ground: Ground,
) -> None:
    def sizes() -> dict[str, tuple[int, bool]]:
        return {r.name: (r.spec.replicas, r.is_in_rollout) for r in ground.list(ReplicaSet)}

    ground.apply(deployment("web", replicas=1))
    ground.ready_pods(1)
    first = ground.replica_set().name
    ground.scale(Deployment, "web", 3)
    ground.eventually(lambda: sizes() == {first: (3, False)})
    new_version(ground)
    ground.eventually(lambda: rolled_out(ground, 3) and sizes()[first] == (0, True))
    ground.scale(Deployment, "web", 0)
    ground.eventually(lambda: {size for size, _ in sizes().values()} == {0})
    assert [part for name, (_, part) in sizes().items() if name != first] == [False]


def test_a_paused_deployment_scales_but_does_not_roll_out(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=1))
    ground.ready_pods(1)
    ground.patch(Deployment, "web", {"spec": {"paused": True}})
    new_version(ground)
    ground.scale(Deployment, "web", 2)
    ground.ready_pods(2)
    assert len(ground.list(ReplicaSet)) == 1
    ground.patch(Deployment, "web", {"spec": {"paused": False}})
    ground.eventually(lambda: rolled_out(ground, 2))
    assert len(ground.list(ReplicaSet)) == 2


def test_a_rollout_replaces_owned_pods_and_leaves_the_released_one(ground: Ground) -> None:
    ground.apply(deployment("web", template("web", QUICK), replicas=2))
    old, _ = ground.ready_pods(2)
    ground.release(old)
    ground.ready_pods(3)
    new_version(ground)
    ground.eventually(lambda: rolled_out(ground, 2))
    left = ground.get(Pod, old.name)
    assert (left.uid, left.ready, left.controller) == (old.uid, True, None)


def test_the_status_counts_no_released_pod(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=2))
    old, _ = ground.ready_pods(2)
    ground.release(old)
    ground.ready_pods(3)
    ground.eventually(lambda: rolled_out(ground, 2))
    ground.never(lambda: ground.counts(Deployment, "web").ready_replicas > 2, seconds=1)
