"""Pods that come back to their node: what that makes of their way."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.returning import (
    EVICTION,
    MOVE,
    ON_PURPOSE,
    RECOMMENDATION,
    Drain,
    came_late,
    is_let_in,
    why_back,
)
from evenkeel.decisions.drain.returning import WARNING as WOULD_BE_WARNED
from evenkeel.decisions.drain.route import Route, route_of
from evenkeel.model import names
from evenkeel.model.affinity import NewAffinity, Toleration
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, seconds
from tests.unit.decisions.restore.candidates import with_rules

TOLERANT = {"tolerations": [{"operator": "Exists"}]}
OF_OURS = {"tolerations": [{"key": names.DOOMED, "operator": "Exists"}]}
PINNED = {"nodeSelector": {names.HOSTNAME: "n1"}}
NAMED = {"nodeName": "n1"}
WARNING, HINT = builders.notice(), builders.hint()
FOREIGN = builders.foreign_owner("SomeSet")


def terms(*clauses: dict[str, Any], field: str = "matchFields") -> dict[str, Any]:
    selector = {"nodeSelectorTerms": [{field: [each]} for each in clauses]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


def to_node(*values: str, key: str = "metadata.name", operator: str = "In") -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def drain(notice: NodeNotice = WARNING) -> Drain:
    return Drain.of(notice, builders.node(notice=notice))


def of[T: (ReplicaSet, StatefulSet)](
    controller: T, rules: dict[str, Any], **options: Any
) -> tuple[Pod, Owner]:
    """A pod of a controller with these rules in its template."""
    owner = with_rules(controller, **rules)
    return builders.pod(of=owner, **options), builders.owner(owner)


def foreign(
    affinity: NewAffinity | None = None,
    tolerations: tuple[Toleration, ...] | None = None,
    **options: Any,
) -> tuple[Pod, Owner]:
    """A pod with these rules, of a controller that Evenkeel does not know."""
    pod = builders.pod(of=FOREIGN, **options)
    spec = msgspec.structs.replace(pod.spec, affinity=affinity, tolerations=tolerations)
    return msgspec.structs.replace(pod, spec=spec), Owner(kind=FOREIGN.kind)


def after(number: float) -> dict[str, Any]:
    """Of a pod that got its node so long after the notice."""
    return {"creation_timestamp": NOW + seconds(number)}


def way(pod: Pod, owner: Owner, drain: Drain) -> Route:
    return route_of(pod, owner, NamespaceObjects(), drain, NOW)


DEPLOYMENT = builders.deployment()
STATEFUL_SET, REPLICA_SET = builders.stateful_set(), builders.replica_set(of=DEPLOYMENT)


@pytest.mark.parametrize(
    ("notice", "rules", "is_let_in"),
    [
        (WARNING, TOLERANT, True),
        (WARNING, OF_OURS, False),
        (HINT, OF_OURS, True),
        (HINT, {}, False),
        (WARNING, NAMED, True),
    ],
    ids=["every taint", "not the cordon", "a hint cordons none", "none", "its template names it"],
)
def test_what_tolerates_all_that_keeps_pods_off_comes_back(
    notice: NodeNotice, rules: dict[str, Any], *, is_let_in: bool
) -> None:
    pod, owner = of(STATEFUL_SET, rules)
    assert bool(why_back(pod, owner, drain(notice))) is is_let_in
    unmarked = Drain.of(notice)
    assert bool(why_back(pod, owner, unmarked)) is is_let_in


@pytest.mark.parametrize("rules", [TOLERANT, OF_OURS, {}])
def test_of_a_controller_without_a_template_the_pod_tells_it(rules: dict[str, Any]) -> None:
    tolerations = msgspec.convert(rules.get("tolerations"), tuple[Toleration, ...] | None)
    assert bool(why_back(*foreign(tolerations=tolerations), drain())) is (rules is TOLERANT)


def test_a_node_that_somebody_cordoned_lets_in_what_tolerates_both_alone() -> None:
    cordoned = Drain.of(HINT, builders.node(notice=HINT, unschedulable=True))
    assert not why_back(*of(STATEFUL_SET, OF_OURS), cordoned)
    assert why_back(*of(STATEFUL_SET, TOLERANT), cordoned)


@pytest.mark.parametrize(
    ("affinity", "bound_to"),
    [
        (terms(to_node("n1")), "n1"),
        (terms(to_node("n1"), to_node("n1")), "n1"),
        (terms(to_node("n1"), to_node("n2")), ""),
        (terms(to_node("n1", "n2")), ""),
        (terms(to_node("n1", operator="NotIn")), ""),
        (terms(to_node("n1", key=names.HOSTNAME), field="matchExpressions"), "n1"),
        (terms(to_node("a", key=names.ZONE), field="matchExpressions"), ""),
    ],
)
def test_a_pod_is_bound_to_the_only_node_that_its_rules_allow(
    affinity: dict[str, Any], bound_to: str
) -> None:
    message = f"it is bound to the node {bound_to}" if bound_to else ""
    known = msgspec.convert(affinity, NewAffinity)
    assert why_back(*foreign(known), drain()) == message
    assert why_back(*of(STATEFUL_SET, {"affinity": affinity}), drain()) == message


def test_a_pod_of_nobody_comes_back_nowhere() -> None:
    assert not why_back(builders.pod(**after(60)), Owner(), drain())


def test_what_came_to_a_drained_node_comes_back_whoever_owns_it() -> None:
    came = "it came to its node although that was drained"
    assert why_back(*foreign(**after(5)), drain()) == came
    assert not why_back(*foreign(), drain())
    assert not why_back(*foreign(node="", **after(5)), drain())
    only_noted = builders.hint(cordoned=False)
    assert not why_back(*foreign(**after(5)), drain(only_noted))


@pytest.mark.parametrize(
    ("there_after", "late"), [(-5, False), (43, False), (43.5, True), (44, True), (200, True)]
)
def test_what_came_later_than_half_the_time_is_not_told_to_go_again(
    there_after: float, *, late: bool
) -> None:
    """Of 120 s, 31 are for its grace period and the eviction."""
    pod, owner = foreign(**after(there_after + 1))
    assert came_late(pod, drain()) is late
    if there_after > 0:
        assert way(pod, owner, drain()).way is (Way.STAY if late else Way.AT_LAST_MOMENT)


def test_without_a_notice_or_a_node_none_came_late() -> None:
    assert not came_late(builders.pod(**after(200)), WOULD_BE_WARNED)
    assert not came_late(builders.pod(node="", **after(200)), drain())


def test_what_would_be_is_a_drain_as_one_would_be_marked() -> None:
    """A recommendation cordons nothing."""
    cordoned = {
        each: len(each.taints) == 2 for each in (WOULD_BE_WARNED, RECOMMENDATION, ON_PURPOSE)
    }
    assert list(cordoned.values()) == [True, False, True]


def test_a_pod_whose_template_names_its_node_is_let_in_whatever_keeps_others_off() -> None:
    pod, owner = of(STATEFUL_SET, NAMED)
    assert is_let_in(pod, owner, drain())


def test_other_pods_keep_their_way() -> None:
    pod, owner = of(STATEFUL_SET, {})
    assert way(pod, owner, drain()).way is Way.BY_ORDINAL
    pod, owner = of(STATEFUL_SET, TOLERANT, phase="Succeeded")
    assert way(pod, owner, drain()).reason is Reason.FINISHED


def test_where_no_node_is_drained_nothing_is_let_in_to_one() -> None:
    pod, owner = of(STATEFUL_SET, TOLERANT)
    for each in (MOVE, EVICTION):
        assert way(pod, owner, each).way is Way.BY_ORDINAL
    named, its_owner = of(STATEFUL_SET, NAMED)
    assert way(named, its_owner, MOVE).reason is Reason.RETURNS_TO_NODE


@pytest.mark.parametrize("rules", [TOLERANT, PINNED, NAMED])
@pytest.mark.parametrize(
    ("notice", "expected", "words"),
    [
        (HINT, Way.STAY, "no gap is made while its node lives"),
        (WARNING, Way.AT_LAST_MOMENT, "it goes at the last moment"),
    ],
)
def test_a_hint_moves_no_such_pod_and_a_warning_at_the_last_moment(
    notice: NodeNotice, expected: Way, words: str, rules: dict[str, Any]
) -> None:
    found = way(*of(STATEFUL_SET, rules), drain(notice))
    assert (found.way, found.reason) == (expected, Reason.RETURNS_TO_NODE)
    assert found.message.endswith(words)
    assert found.remedy == f"tolerate no taint {names.DOOMED}, and name no node"


@pytest.mark.parametrize(
    ("rules", "options", "expected"),
    [
        ({}, after(5), Way.HANDOVER),
        (TOLERANT, {}, Way.HANDOVER),
        (TOLERANT, after(5), Way.AT_LAST_MOMENT),
        (TOLERANT, after(60), Way.STAY),
        (PINNED, {}, Way.HANDOVER),
        (TOLERANT | PINNED, {}, Way.AT_LAST_MOMENT),
    ],
    ids=["came back", "let in", "let in and back", "back late", "bound", "let in and bound"],
)
def test_a_handover_goes_on_where_the_replacement_may_go_elsewhere(
    rules: dict[str, Any], options: dict[str, Any], expected: Way
) -> None:
    pod, owner = of(REPLICA_SET, rules, **options)
    of_deployment = msgspec.structs.replace(owner, deployment=DEPLOYMENT)
    assert way(pod, of_deployment, drain()).way is expected
