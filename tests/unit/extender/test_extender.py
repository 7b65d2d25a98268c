"""Which nodes the scheduler is left, and which it would rather take."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.handlers.requests import RefusedError
from evenkeel.model import names
from evenkeel.model.cluster_objects import ConfigMap, Namespace
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Metadata
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.settings import Mode
from evenkeel_extender.calls import FILTER, PRIORITIZE
from evenkeel_extender.node_scores import SHORT_FOR
from evenkeel_extender.patience import PATIENCE, REST
from tests.kit import builders
from tests.unit.extender.scene import Scheduling, waiting

SHOP: Mapping[str, Any] = {"namespace": "shop"}


def pool(kind: str, zone: str = "a") -> dict[str, str]:
    return {names.INSTANCE_TYPE: kind, names.ZONE: zone}


def workload(floor: str, size: int = 4) -> tuple[Deployment, ReplicaSet]:
    above = builders.deployment(replicas=size, annotations={names.ON_DEMAND: floor}, **SHOP)
    return above, builders.replica_set(of=above, replicas=size, **SHOP)


@pytest.fixture
def seen() -> Scheduling:
    """Two nodes of each capacity type."""
    found = Scheduling()
    found.nodes("s1", "s2")
    found.nodes("o1", "o2", spot=False)
    return found


ALL = ("s1", "s2", "o1", "o2")


def test_a_drained_node_is_out_and_says_why(seen: Scheduling) -> None:
    seen.nodes("s1", notice=builders.notice())
    found = seen.filter(waiting(), *ALL)
    assert found["NodeNames"] == ["s2", "o1", "o2"]
    assert found["FailedAndUnresolvableNodes"] == {"s1": "the node is drained"}


def test_a_node_that_only_may_be_drained_is_left_but_comes_last(seen: Scheduling) -> None:
    seen.nodes("s1", notice=builders.hint(cordoned=False), labels=pool("m5.large"))
    assert seen.left(waiting(), *ALL) == list(ALL)
    scores = seen.scores(waiting(), *ALL)
    assert scores["s1"] < min(scores[name] for name in ALL if name != "s1")


def test_the_pool_of_a_doomed_node_comes_last_until_it_has_rested(seen: Scheduling) -> None:
    seen.nodes("s1", "s2", labels=pool("m5.large"))
    seen.nodes("s3", labels=pool("m5.large", "b"))
    seen.nodes("o1", spot=False, labels=pool("m5.large"))
    every = ("s2", "s3", "o1")
    _, owner = workload("none")
    seen.show(*workload("none"))
    before = seen.scores(waiting(owner), *every)
    seen.nodes("s1", notice=builders.notice(), labels=pool("m5.large"))

    scores = seen.scores(waiting(owner), *every)
    assert before["s2"] == before["s3"] == scores["s3"] > scores["o1"] > scores["s2"]

    seen.show(builders.node("s1"), deleted=True)
    assert seen.scores(waiting(owner), *every) == scores
    seen.clock.at += SHORT_FOR
    seen.nodes("o2", spot=False)
    assert seen.scores(waiting(owner), *every) == before


def test_a_doomed_node_without_the_labels_of_a_pool_makes_no_other_short(seen: Scheduling) -> None:
    before = seen.scores(waiting(), *ALL)
    seen.nodes("s1", notice=builders.notice())
    assert seen.scores(waiting(), *ALL) == before


def test_above_its_floor_a_pod_rather_goes_to_spot(seen: Scheduling) -> None:
    above, owner = workload("none")
    seen.show(above, owner)
    assert seen.left(waiting(owner), *ALL) == list(ALL)
    scores = seen.scores(waiting(owner), *ALL)
    assert min(scores["s1"], scores["s2"]) > max(scores["o1"], scores["o2"])


def test_as_many_as_the_floor_go_to_on_demand_before_any_has_a_node(seen: Scheduling) -> None:
    """The scheduler asks for one pod after the other, faster than watches show where they went."""
    above, owner = workload("2")
    seen.show(above, owner)
    left = [seen.left(waiting(owner, f"web-{number}"), *ALL) for number in range(4)]
    assert left == [["o1", "o2"], ["o1", "o2"], list(ALL), list(ALL)]
    decided = seen.recorder.decisions
    assert [each.reason for each in decided] == ["InFloor", "InFloor"]
    assert seen.left(waiting(owner, "web-0"), *ALL) == ["o1", "o2"]
    assert len(seen.recorder.decisions) == 2, "each is told once"


def test_reserved_capacity_that_ec2_takes_back_is_no_place_for_a_floor(seen: Scheduling) -> None:
    above, owner = workload("2")
    seen.show(above, owner)
    reserved = {names.CAPACITY_LABELS[2]: "reserved"}
    seen.nodes("lent", spot=False, labels=reserved | {names.INTERRUPTIBLE: "true"})
    seen.nodes("kept", spot=False, labels=reserved | {names.INTERRUPTIBLE: "false"})
    assert seen.left(waiting(owner), "lent", *ALL, "kept") == ["o1", "o2", "kept"]


def test_a_pod_that_got_its_node_counts_where_it_is(seen: Scheduling) -> None:
    above, owner = workload("2")
    seen.show(above, owner)
    for number, node in enumerate(("o1", "o2")):
        seen.filter(waiting(owner, f"web-{number}"), *ALL)
        seen.show(builders.pod(f"web-{number}", of=owner, node=node, **SHOP))
    assert seen.left(waiting(owner, "web-2"), *ALL) == list(ALL)

    seen.show(builders.pod("web-0", of=owner, node="o1", leaving=True, **SHOP))
    assert seen.left(waiting(owner, "web-3"), *ALL) == ["o1", "o2"]


@pytest.mark.parametrize("fate", ["deleted", "finished", "not relisted"])
def test_a_promised_pod_that_goes_holds_no_place(fate: str, seen: Scheduling) -> None:
    above, owner = workload("1")
    seen.show(above, owner)
    seen.filter(waiting(owner, "web-0"), *ALL)
    pod = builders.pod("web-0", of=owner, node="", ready=False, **SHOP)
    seen.show(pod)
    assert seen.left(waiting(owner, "web-1"), *ALL) == list(ALL)
    match fate:
        case "deleted":
            seen.show(pod, deleted=True)
        case "finished":
            seen.show(builders.pod("web-0", of=owner, node="", phase="Failed", **SHOP))
        case _:
            seen.relist(Pod)
    assert seen.left(waiting(owner, "web-1"), *ALL) == ["o1", "o2"]


@pytest.mark.parametrize("made_up", ["unknown", "another workload's", "bound"])
def test_a_pod_that_the_api_server_does_not_have_fills_no_floor(
    made_up: str, seen: Scheduling
) -> None:
    """Whoever has the token can ask about a pod that is not there, or not so."""
    above, owner = workload("1")
    seen.show(above, owner)
    other = builders.replica_set("api", namespace="shop", uid="other")
    match made_up:
        case "unknown":
            pass
        case "bound":
            seen.show(builders.pod("web-0", of=owner, node="s1", **SHOP))
        case _:
            seen.show(builders.pod("web-0", of=other, node="", ready=False, **SHOP))
    seen.shows_pods = False
    assert "the pod was not shown" in seen.filter(waiting(owner, "web-0"), *ALL)["Error"]
    seen.shows_pods = True
    assert seen.left(waiting(owner, "web-1"), *ALL) == ["o1", "o2"]


def test_where_the_webhook_placed_it_the_extender_only_ranks(seen: Scheduling) -> None:
    above, owner = workload("all")
    seen.show(above, owner)
    pod = waiting(owner, labels={names.CAPACITY: "spot"})
    assert seen.left(pod, *ALL) == list(ALL)
    scores = seen.scores(pod, *ALL)
    assert scores["s1"] > scores["o1"]


@pytest.mark.parametrize("why", ["paused", "not managed", "unknown namespace"])
def test_without_a_wish_no_capacity_type_is_better(why: str, seen: Scheduling) -> None:
    above, owner = workload("all")
    seen.show(above, owner)
    pod = waiting(owner)
    match why:
        case "paused":
            metadata = Metadata(name=names.PAUSED, namespace=names.SYSTEM_NAMESPACE, uid="p")
            seen.show(ConfigMap(metadata=metadata))
        case _:
            pod = waiting(owner, namespace="elsewhere")
    assert seen.left(pod, *ALL) == list(ALL)
    assert len(set(seen.scores(pod, *ALL).values())) == 1


def test_it_goes_on_when_the_pause_is_over(seen: Scheduling) -> None:
    above, owner = workload("all")
    seen.show(above, owner)
    metadata = Metadata(name=names.PAUSED, namespace=names.SYSTEM_NAMESPACE, uid="p")
    seen.show(ConfigMap(metadata=metadata))
    seen.show(ConfigMap(metadata=metadata), deleted=True)
    assert seen.left(waiting(owner), *ALL) == ["o1", "o2"]


def test_the_fewest_pods_of_the_workload_count_before_room(seen: Scheduling) -> None:
    above, owner = workload("none")
    seen.show(above, owner, builders.pod("web-0", of=owner, node="s1", **SHOP))
    full = builders.pod("big", node="s2", requests={"cpu": "6"}, **SHOP)
    seen.show(full)
    scores = seen.scores(waiting(owner), "s1", "s2")
    assert scores["s2"] > scores["s1"]
    seen.show(builders.pod("web-1", of=owner, node="s2", **SHOP))
    scores = seen.scores(waiting(owner), "s1", "s2")
    assert scores["s1"] > scores["s2"]
    seen.show(full, deleted=True)
    scores = seen.scores(waiting(owner), "s1", "s2")
    assert scores["s1"] == scores["s2"]


def test_of_full_nodes_the_memory_counts_too(seen: Scheduling) -> None:
    seen.show(builders.pod("big", node="s2", requests={"memory": "20Gi"}, **SHOP))
    scores = seen.scores(waiting(), "s1", "s2")
    assert scores["s1"] > scores["s2"]


def at_most(pods: str) -> dict[str, str]:
    return {names.ONE_POOL_AT_MOST: pods}


def home(annotations: Mapping[str, str], *, managed: bool = True) -> Namespace:
    labels = {names.MANAGED: "true"} if managed else {}
    metadata = builders.metadata("shop", namespace="", labels=labels, annotations=annotations)
    return Namespace(metadata=metadata)


def test_a_pool_with_all_pods_that_it_is_to_have_comes_last_of_spot(seen: Scheduling) -> None:
    """Its empty node comes after one of another pool that is neither empty nor idle."""
    seen.nodes("s1", "s2", labels=pool("m5.large"))
    seen.nodes("s3", labels=pool("c5.large"))
    above, owner = workload("none", size=8)
    goal = msgspec.structs.replace(
        above, metadata=builders.metadata("web", annotations=at_most("25%"), uid=above.uid, **SHOP)
    )
    full = builders.pod("big", node="s3", requests={"cpu": "6"}, **SHOP)
    seen.show(goal, owner, full, builders.pod("web-0", of=owner, node="s1", **SHOP))
    seen.show(builders.pod("web-2", of=owner, node="s3", **SHOP))
    scores = seen.scores(waiting(owner), "s1", "s2", "s3", "o1")
    assert scores["s2"] > scores["s3"], "one pod is less than two of eight"

    seen.show(builders.pod("web-1", of=owner, node="s1", **SHOP))
    scores = seen.scores(waiting(owner), "s1", "s2", "s3", "o1")
    assert scores["s3"] > scores["s2"] > scores["s1"] > scores["o1"]


def test_among_full_pools_and_among_others_the_fewest_pods_count(seen: Scheduling) -> None:
    seen.nodes("s1", "s2", labels=pool("m5.large"))
    seen.nodes("s3", "s4", labels=pool("c5.large"))
    above, owner = workload("none", size=9)
    seen.show(home(at_most("3")), above, owner)
    for number, node in enumerate(("s1", "s1", "s1", "s3")):
        seen.show(builders.pod(f"web-{number}", of=owner, node=node, **SHOP))
    scores = seen.scores(waiting(owner), "s1", "s2", "s3", "s4")
    assert scores["s4"] > scores["s3"] > scores["s2"] > scores["s1"]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(1, 4), st.integers(0, 20))
def test_where_the_pools_are_enough_no_new_pod_breaks_the_goal(
    sizes: list[int], goal: int, pods: int
) -> None:
    """Each pod goes to one of the best nodes, of which the largest pool has most."""
    seen = Scheduling()
    of_node = {f"s{p}-{n}": f"type{p}" for p, size in enumerate(sizes) for n in range(size)}
    for name, kind in of_node.items():
        seen.nodes(name, labels=pool(kind))
    seen.nodes("o1", spot=False)
    above, owner = workload("none", size=pods)
    seen.show(home(at_most(str(goal))), above, owner)
    held = Counter[str]()
    for number in range(pods):
        pod = f"web-{number}"
        scores = seen.scores(waiting(owner, pod), *of_node, "o1")
        assert max(scores, key=lambda node: scores[node]) != "o1"
        node = max(of_node, key=lambda each: (scores[each], sizes[int(of_node[each][4:])]))
        seen.show(builders.pod(pod, of=owner, node=node, uid=f"{pod}-uid", **SHOP))
        held[of_node[node]] += 1
    assert max(held.values(), default=0) <= max(goal, pods - goal * (len(sizes) - 1))


def test_without_such_a_goal_no_pool_is_full(seen: Scheduling) -> None:
    seen.nodes("s1", "s2", labels=pool("m5.large"))
    seen.nodes("s3", labels=pool("c5.large"))
    above, owner = workload("none")
    seen.show(above, owner, *builders.pods(9, of=owner, node="s1", **SHOP))
    scores = seen.scores(waiting(owner), "s1", "s2", "s3")
    assert scores["s2"] == scores["s3"] > scores["s1"]


@pytest.mark.parametrize("place", ["template", "namespace"])
def test_a_goal_may_be_the_template_s_or_the_namespace_s(place: str, seen: Scheduling) -> None:
    seen.nodes("s1", "s2", labels=pool("m5.large"))
    seen.nodes("s3", labels=pool("c5.large"))
    _, owner = workload("none")
    of_pod = at_most("1") if place == "template" else {}
    of_space = at_most("1" if place == "namespace" else "2")
    seen.show(*workload("none"), home(of_space))
    seen.show(builders.pod("web-0", of=owner, node="s1", **SHOP))
    scores = seen.scores(waiting(owner, annotations=of_pod), "s1", "s2", "s3")
    assert scores["s3"] > scores["s2"] > scores["s1"]


def test_a_pod_that_leaves_or_whose_node_is_gone_fills_no_pool(seen: Scheduling) -> None:
    seen.show(home(at_most("1")))
    above, owner = workload("none")
    seen.show(above, owner, builders.pod("web-0", of=owner, node="s1", leaving=True, **SHOP))
    seen.show(builders.pod("web-1", of=owner, node="lost", **SHOP))
    scores = seen.scores(waiting(owner), "s1", "s2")
    assert scores["s1"] == scores["s2"]


def test_where_nothing_is_managed_a_goal_counts_and_an_unknown_owner_has_none(
    seen: Scheduling,
) -> None:
    seen.nodes("s1", "s2", labels=pool("m5.large"))
    seen.show(home(at_most("1"), managed=False))
    above, owner = workload("none")
    foreign = builders.replica_set("api", namespace="shop", uid="foreign")
    for each in (owner, foreign):
        seen.show(builders.pod(f"{each.name}-0", of=each, node="s1", **SHOP))
    seen.show(above, owner)
    scores = seen.scores(waiting(owner), "s1", "s2", "o1")
    assert scores["o1"] == scores["s2"] > scores["s1"]
    scores = seen.scores(waiting(foreign), "s1", "s2", "o1")
    assert scores["o1"] == scores["s2"] > scores["s1"]


def test_without_a_wish_a_full_pool_is_worth_as_much_as_on_demand(seen: Scheduling) -> None:
    """As without a goal; nodes of other pools come before both."""
    seen.nodes("s1", "s2", labels=pool("m5.large"))
    seen.nodes("s3", labels=pool("c5.large"))
    seen.nodes("o1", spot=False)
    above, owner = workload("none")
    seen.show(home(at_most("1"), managed=False), above, owner)
    for node in ("s1", "o1"):
        seen.show(builders.pod(f"web-{node}", of=owner, node=node, **SHOP))
    scores = seen.scores(waiting(owner), "s1", "s2", "s3", "o1")
    assert scores["s3"] > scores["s2"] > scores["s1"] == scores["o1"]


def test_a_node_that_no_watch_has_shown_is_left(seen: Scheduling) -> None:
    assert seen.left(waiting(), "s1", "new") == ["s1", "new"]
    assert set(seen.scores(waiting(), "s1", "new")) == {"s1", "new"}


def test_a_node_that_changes_its_capacity_is_the_other_one(seen: Scheduling) -> None:
    above, owner = workload("all")
    seen.show(above, owner)
    seen.nodes("s1", spot=False)
    assert seen.left(waiting(owner), *ALL) == ["s1", "o1", "o2"]


def test_a_node_that_is_not_relisted_is_gone(seen: Scheduling) -> None:
    above, owner = workload("1")
    seen.show(above, owner, builders.pod("web-0", of=owner, node="o1", **SHOP))
    assert seen.left(waiting(owner), *ALL) == list(ALL)
    seen.relist(Node, builders.node("o2", spot=False))
    assert seen.left(waiting(owner), "o2") == ["o2"]
    assert len(seen.recorder.decisions) == 1, "its pod holds no place any more"


# What is not known


@pytest.mark.parametrize("verb", [FILTER, PRIORITIZE])
def test_before_everything_was_listed_the_scheduler_goes_on_by_itself(verb: str) -> None:
    empty = Scheduling(filled=False)
    for kind in (Node, Pod):
        empty.relist(kind)
    asked = {"Pod": waiting(), "NodeNames": ["s1"]}
    answer = msgspec.json.decode(empty.answerers[verb](msgspec.json.encode(asked)))
    if verb == PRIORITIZE:
        assert answer == []
    else:
        assert "listed" in answer["Error"]
        assert "NodeNames" not in answer
    assert empty.recorder.total("ExtenderUnanswered") == 1


def test_nor_after_the_watches_have_begun_anew(seen: Scheduling) -> None:
    seen.store.reset()
    assert "listed" in seen.filter(waiting(), "s1")["Error"]


def test_whole_nodes_are_not_read(seen: Scheduling) -> None:
    asked: Mapping[str, Any] = {"Pod": waiting(), "Nodes": {"items": []}, "NodeNames": None}
    answer = msgspec.json.decode(seen.answerers[FILTER](msgspec.json.encode(asked)))
    assert "nodeCacheCapable" in answer["Error"]


def test_a_controller_that_is_not_shown_in_time_is_an_error(seen: Scheduling) -> None:
    _, owner = workload("all")
    assert "controller" in seen.filter(waiting(owner), *ALL)["Error"]
    assert seen.waited == PATIENCE


def test_one_that_is_shown_a_moment_later_is_waited_for(seen: Scheduling) -> None:
    above, owner = workload("all")
    seen.waiting.meanwhile.append(lambda: seen.show(above, owner))
    assert seen.left(waiting(owner), *ALL) == ["o1", "o2"]
    assert seen.waited < PATIENCE


def test_a_pod_and_its_controller_are_waited_for_once(seen: Scheduling) -> None:
    above, owner = workload("1")
    seen.shows_pods = False
    seen.waiting.meanwhile += [lambda: None] * 3 + [lambda: seen.show(above, owner)]
    assert "the pod was not shown" in seen.filter(waiting(owner), *ALL)["Error"]
    assert seen.waited == PATIENCE


def test_nodes_are_ranked_without_waiting(seen: Scheduling) -> None:
    _, owner = workload("all")
    assert seen.scores(waiting(owner), *ALL) == {}
    assert not seen.waited


@pytest.mark.parametrize("ago", [timedelta(seconds=11), timedelta(seconds=-11)])
def test_a_pod_that_was_made_long_ago_is_not_waited_for(ago: timedelta, seen: Scheduling) -> None:
    """Its controller was there before it, so watches have shown that; or clocks are apart."""
    _, owner = workload("all")
    assert "controller" in seen.filter(waiting(owner, made_ago=ago), *ALL)["Error"]
    assert not seen.waited


def test_a_namespace_is_waited_for_again_after_a_minute(seen: Scheduling) -> None:
    above, owner = workload("all")
    seen.filter(waiting(owner, "web-0"), *ALL)
    seen.filter(waiting(owner, "web-1"), *ALL)
    assert seen.waited == PATIENCE
    seen.clock.at += REST
    seen.waiting.meanwhile.append(lambda: seen.show(above, owner))
    assert seen.left(waiting(owner, "web-2", made_ago=-REST), *ALL) == ["o1", "o2"]


@pytest.mark.parametrize("verb", [FILTER, PRIORITIZE])
@pytest.mark.parametrize("body", [b"", b"[]", b'{"NodeNames": []}', b'{"Pod": 3}', b"\xff"])
def test_what_is_no_question_of_a_scheduler_is_refused(
    verb: str, body: bytes, seen: Scheduling
) -> None:
    with pytest.raises(RefusedError, match="ExtenderArgs"):
        seen.answerers[verb](body)


def test_a_failure_is_told_by_its_name_alone(
    seen: Scheduling, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(seen.extender, "filter", fails)
    assert seen.filter(waiting(), "s1") == {"Error": "ZeroDivisionError"}


def test_in_observe_mode_it_decides_and_changes_nothing() -> None:
    seen = Scheduling(mode=Mode.OBSERVE)
    seen.nodes("s1", notice=builders.notice())
    seen.nodes("o1", spot=False)
    above, owner = workload("1")
    seen.show(above, owner)
    assert seen.left(waiting(owner), "s1", "o1") == ["s1", "o1"]
    assert seen.scores(waiting(owner), "s1", "o1") == {}
    assert [each.reason for each in seen.recorder.decisions] == ["InFloor"]
