"""A webhook or a policy denies evictions: at its last moment a pod is deleted."""

import pytest

from evenkeel.model import names
from evenkeel.model.request import Delete, Evict
from tests.kit.manifests import bare_pod, deployment, stateful_set
from tests.kit.others import deny_evictions
from tests.kit.scene import Scene

MOST = 12
CODES_AND_RESTS = [(400, 0.0), (403, 0.0), (422, 0.0), (429, 1.0), (500, 0.0)]
"""What denies, and how many seconds the API server may be given until the pod is deleted."""


@pytest.mark.parametrize(("code", "rest"), CODES_AND_RESTS)
def test_a_pod_is_deleted_at_its_last_moment_when_its_eviction_is_denied(
    scene: Scene, code: int, rest: float
) -> None:
    scene.given(bare_pod("alone"))
    deny_evictions(scene.cluster, code)

    scene.interrupt("s1").run(until=118)

    assert 88.5 <= scene.gone_at("alone") <= 89.2 + rest
    assert not scene.pods("alone")
    assert scene.story("alone").order()[-1] == "delete EvictionRefusedAtLastMoment"


@pytest.mark.parametrize(("code", "rest"), CODES_AND_RESTS)
def test_all_pods_of_a_workload_are_told_to_go_in_time(
    scene: Scene, code: int, rest: float
) -> None:
    """No node has room for the replacements: all wait for their last moment."""
    old = scene.given(deployment("web", 5), stateful_set("db", 3))
    deny_evictions(scene.cluster, code)

    scene.interrupt("s1").run(until=118)

    assert max(scene.gone_at(pod) for pod in old) <= 114.3 + rest
    assert not any(scene.pods(app, "s1") for app in ("web", "db"))


@pytest.mark.parametrize("code", [code for code, _ in CODES_AND_RESTS])
def test_nothing_is_deleted_before_it_has_to_be(scene: Scene, code: int) -> None:
    """Replaced pods wait for their last moment. Of ordinals the first leaves time for the other."""
    *web, first, second = scene.given(deployment("web", 2), stateful_set("db", 2), spare="o1")
    deny_evictions(scene.cluster, code)

    scene.interrupt("s1").run(until=118)

    assert min(scene.gone_at(pod) for pod in (*web, first)) >= 88
    assert 50 < scene.gone_at(second) < 60
    assert (scene.lowest("web"), scene.lowest("db")) == (2, 1)


@pytest.mark.parametrize("code", [code for code, _ in CODES_AND_RESTS])
def test_ordinals_go_one_at_a_time_in_good_time(scene: Scene, code: int) -> None:
    """Who waits for the last moment takes them all at once."""
    old = scene.given(stateful_set("db", 3), spare="o1")
    deny_evictions(scene.cluster, code)

    scene.interrupt("s1").run(until=118)

    assert min(scene.gone_at(pod) for pod in old) > 10
    assert scene.lowest("db") == 2


@pytest.mark.parametrize("code", [code for code, _ in CODES_AND_RESTS])
def test_no_eviction_is_tried_more_than_twelve_times_a_minute(scene: Scene, code: int) -> None:
    scene.given(deployment("web", 2), stateful_set("db", 2), spare="o1")
    deny_evictions(scene.cluster, code)

    scene.interrupt("s1").run(until=118)

    vain = scene.in_vain(Evict)
    assert vain
    assert max(vain.values()) <= MOST


@pytest.mark.parametrize("code", [code for code, _ in CODES_AND_RESTS])
def test_a_pod_whose_owner_keeps_it_to_the_end_stays(scene: Scene, code: int) -> None:
    scene.given(bare_pod("alone", annotations={names.AT_DEADLINE: "leave"}))
    deny_evictions(scene.cluster, code)

    scene.interrupt("s1", carried_out=False).run(until=119)

    assert scene.pods("alone")
    assert not [sent for sent in scene.writes if isinstance(sent.write, Delete)]
    assert max(scene.in_vain(Evict).values()) <= MOST


@pytest.mark.parametrize("code", [code for code, _ in CODES_AND_RESTS])
def test_a_hint_deletes_nothing_when_evictions_are_denied(scene: Scene, code: int) -> None:
    scene.given(deployment("web", 2), stateful_set("db", 2), spare="o1")
    deny_evictions(scene.cluster, code)

    scene.recommend("s1").run(until=1000)

    assert (scene.lowest("web"), scene.lowest("db")) == (2, 2)
    assert not [sent for sent in scene.writes if isinstance(sent.write, Delete)]
    assert max(scene.in_vain(Evict).values()) <= MOST
