"""Pods that ask when their node ends."""

from collections.abc import Sequence
from datetime import timedelta

import msgspec
import pytest

from evenkeel.decisions.drain import node_ends_at
from evenkeel.decisions.drain.census import Census
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Condition
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, patched

NOTICE = builders.notice()
ENDS_AT = in_words(NOTICE.deadline)


def asking(said: str = "", *conditions: Condition) -> Pod:
    notes = {names.NODE_ENDS_AT: said}
    return builders.pod("sums", annotations=notes, conditions=conditions)


def told(pod: Pod, notice: NodeNotice = NOTICE) -> Sequence[Decision]:
    moving = [builders.moving(pod, Way.AT_LAST_MOMENT, notice)]
    return steps(builders.census(None, owned=[pod], moving=moving))


def steps(census: Census) -> Sequence[Decision]:
    found = [plan.step for plan in node_ends_at.decide(census)]
    return [step for step in found if isinstance(step, Decision)]


def target(status: str) -> Condition:
    return Condition(type=names.DISRUPTION_TARGET, status=status)


def test_a_pod_that_asks_is_told_when_its_node_ends() -> None:
    (decision,) = told(pod := asking())
    assert (decision.verb, decision.reason) == (Verb.TELL, Reason.NODE_END_TOLD)
    after = patched(pod, decision.write)
    assert after.metadata.annotations[names.NODE_ENDS_AT] == ENDS_AT


def test_then_it_gets_the_condition_of_a_disruption() -> None:
    (decision,) = told(pod := asking(ENDS_AT))
    assert decision.verb is Verb.SET_CONDITION
    condition = patched(pod, decision.write).status.condition(names.DISRUPTION_TARGET)
    assert condition is not None
    assert condition.status == "True"


@pytest.mark.parametrize("status", ["True", "False"])
def test_a_condition_that_was_set_before_is_left_as_it_is(status: str) -> None:
    assert not told(asking(ENDS_AT, target(status)))


def test_it_is_told_anew_when_its_node_ends_sooner() -> None:
    sooner = msgspec.structs.replace(NOTICE, deadline=NOTICE.deadline - timedelta(seconds=30))
    (decision,) = told(pod := asking(ENDS_AT, target("True")), sooner)
    after = patched(pod, decision.write)
    assert after.metadata.annotations[names.NODE_ENDS_AT] == in_words(sooner.deadline)


def test_a_hint_says_nothing_of_an_end() -> None:
    assert not told(asking(), builders.hint())


def test_a_pod_that_does_not_ask_is_told_nothing() -> None:
    assert not told(builders.pod("sums"))


def test_one_that_does_not_ask_or_knows_already_keeps_it_from_no_other() -> None:
    pods = [builders.pod("silent"), asking(ENDS_AT, target("True")), asking()]
    moving = [builders.moving(pod, Way.AT_LAST_MOMENT, NOTICE) for pod in pods]
    assert len(steps(builders.census(None, owned=pods, moving=moving))) == 1


def test_a_released_pod_that_asks_is_told_too() -> None:
    replica_set = builders.replica_set()
    release = builders.release(replica_set, deadline=NOTICE.deadline)
    notes = {names.NODE_ENDS_AT: ""}
    pod = builders.pod(of=replica_set, node="s1", released=release, annotations=notes)
    census = builders.census(replica_set, released=[pod], dooms={"s1": NOTICE}, now=NOW)
    assert [step.verb for step in steps(census)] == [Verb.TELL]
