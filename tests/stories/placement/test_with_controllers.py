"""The real handler as the simulated API server's webhook, under the controllers' own pods."""

from datetime import timedelta

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.request import List
from evenkeel_sandbox.simulator.webhook import AtOnce, OwnTime
from tests.kit.asking import asks, failing, noting
from tests.kit.manifests import resource
from tests.stories.placement.controlled import Controlled
from tests.stories.placement.scene import NAMESPACE, workload


@pytest.mark.parametrize("controller_qps", [20.0, None])
def test_a_deployment_lands_exactly_its_floor_on_on_demand(controller_qps: float | None) -> None:
    scene = Controlled(controller_qps)
    scene.cluster.apply(workload("Deployment", "web", 20, "30%"))
    scene.settle()
    assert scene.landed() == {"on_demand": 6, "spot": 14}
    assert scene.recorder.total("PlacementsNotCounted") == 0


def test_a_deployment_keeps_exactly_its_floor_over_sizes_and_rollouts() -> None:
    scene = Controlled()
    scene.cluster.apply(workload("Deployment", "web", 10, "30%"))
    scene.settle()
    scene.cluster.scale("Deployment", "web", NAMESPACE, 40)
    scene.settle()
    assert scene.landed() == {"on_demand": 12, "spot": 28}
    scene.cluster.scale("Deployment", "web", NAMESPACE, 20)
    scene.settle()
    assert scene.landed() == {"on_demand": 12, "spot": 8}
    changed = workload("Deployment", "web", 20, "30%")
    changed["spec"]["template"]["metadata"]["annotations"] = {"version": "2"}
    scene.cluster.apply(changed)
    scene.settle(60)
    assert len(scene.pods()) == 20
    assert scene.landed() == {"on_demand": 6, "spot": 14}


def test_pods_are_made_all_the_same_while_the_webhook_is_down() -> None:
    scene = Controlled()
    scene.webhook.down = True
    scene.cluster.apply(workload("Deployment", "web", 4, "2"))
    scene.settle()
    assert scene.told() == {"nowhere": 4}
    scene.webhook.down = False
    scene.cluster.scale("Deployment", "web", NAMESPACE, 8)
    scene.settle()
    assert scene.told() == {"nowhere": 4, "on-demand": 2, "spot": 2}


def test_an_answer_that_comes_too_late_is_lost_but_its_claim_stays() -> None:
    scene = Controlled()
    scene.webhook.slow = timedelta(seconds=4)
    scene.cluster.apply(workload("Deployment", "web", 1, "1"))
    scene.settle(1)
    assert scene.told() == {"nowhere": 1}
    assert len(scene.cluster.objects("Lease", names.SYSTEM_NAMESPACE)) == 1


def test_what_a_quota_refuses_costs_no_place_of_the_floor() -> None:
    scene = Controlled()
    quota = resource("ResourceQuota", "small", NAMESPACE, spec={"hard": {"pods": "4"}})
    scene.cluster.apply(quota)
    scene.settle(1)
    scene.cluster.apply(workload("Deployment", "web", 10, "7"))
    scene.settle()
    assert scene.told() == {"on-demand": 4}
    scene.cluster.delete("ResourceQuota", "small", NAMESPACE)
    scene.settle(120)
    assert scene.landed() == {"on_demand": 7, "spot": 3}


def test_a_webhook_that_starts_again_in_between_counts_on() -> None:
    scene = Controlled()
    scene.cluster.apply(workload("Deployment", "web", 40, "30%"))
    while len(scene.pods()) < 35:
        scene.webhook.restart()
        scene.settle(0.2)
    scene.settle()
    assert scene.landed() == {"on_demand": 12, "spot": 28}


def test_while_the_handler_waits_the_clock_stands_still() -> None:
    scene = Controlled()
    began = scene.clock.now()
    failing(scene.cluster, UnavailableError("silence"))
    time = OwnTime(scene.clock)
    cluster = AtOnce(scene.cluster, time)
    time.sleep(timedelta(seconds=1))
    assert time.now() - began == timedelta(seconds=1)
    assert cluster.perform([]) == []
    assert time.now() - began == timedelta(seconds=1) + scene.cluster.options.latency
    assert scene.clock.now() == began
    with pytest.raises(RuntimeError, match="perform"):
        cluster.session()


def test_a_webhook_whose_own_requests_fail_places_on_on_demand_in_time() -> None:
    scene = Controlled()
    failing(scene.cluster, UnavailableError("silence"), asks(List))
    scene.cluster.apply(workload("Deployment", "web", 3, "1"))
    scene.settle(5)
    assert scene.told() == {"on-demand": 3}
    assert scene.recorder.total("PlacementsNotCounted") == 3


def grown(scene: Controlled) -> None:
    """Ten pods, three of them the floor."""
    scene.cluster.apply(workload("Deployment", "web", 10, "3"))
    scene.settle()


def delete(scene: Controlled, capacity: str, grace: int = 30) -> None:
    """Delete a pod that was told to go there."""
    chosen = (p for p in scene.pods() if p["metadata"]["labels"][names.CAPACITY] == capacity)
    scene.cluster.delete("Pod", next(chosen)["metadata"]["name"], NAMESPACE, grace=grace)


def test_while_a_replica_set_grows_its_pods_may_be_a_moment_old() -> None:
    scene = Controlled()
    looks = noting(scene.cluster, asks(List, of=Pod))
    grown(scene)
    assert not looks[0].fresh
    looks.clear()
    delete(scene, "spot")
    scene.settle()
    assert [each.fresh for each in looks] == [True]


@pytest.mark.parametrize("grace", [0, 30])
def test_the_replacement_of_a_floor_pod_that_is_just_gone_takes_its_place(grace: int) -> None:
    """The API server's cache still shows the one that is gone: for 0.1 s here."""
    scene = Controlled()
    grown(scene)
    delete(scene, "on-demand", grace)
    scene.settle()
    assert scene.landed() == {"on_demand": 3, "spot": 7}


@pytest.mark.parametrize("gap", [0.001, 0.002, 0.004, 0.006, 0.008, 0.012])
def test_a_floor_that_goes_among_others_one_after_the_other_comes_back(gap: float) -> None:
    """The ReplicaSet's status lags behind by one of them, and looks as if it grew."""
    scene = Controlled()
    grown(scene)
    for capacity, wait in (("on-demand", 0.15), ("spot", gap), ("on-demand", 0)):
        delete(scene, capacity)
        scene.settle(wait)
    scene.settle()
    assert scene.landed() == {"on_demand": 3, "spot": 7}
