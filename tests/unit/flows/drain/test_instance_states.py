"""What is kept of EC2's answers, and for how long."""

from datetime import datetime, timedelta

import pytest

from evenkeel.errors import InstancesError
from evenkeel.flows.drain.memory import InstanceStates
from evenkeel.model.instance import Instance
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from tests.kit.clocks import NOW
from tests.unit.flows.drain.later import Later, questions

ONE = "i-00000000000000001"


@pytest.fixture
def instances() -> SimulatedInstances:
    """EC2 with one running instance."""
    return SimulatedInstances(Instance(instance_id=ONE, state="running"))


@pytest.fixture
def states(instances: SimulatedInstances) -> InstanceStates:
    """Nothing was asked yet."""
    return InstanceStates(instances, InMemoryRecorder())


def after(seconds: float) -> datetime:
    """That many seconds later."""
    return NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("state", "later"),
    [
        ("running", None),
        ("pending", None),
        ("stopping", "stopping"),
        ("shutting-down", "shutting-down"),
        ("terminated", "terminated"),
    ],
)
def test_an_end_is_believed_for_longer_than_a_life(
    instances: SimulatedInstances, states: InstanceStates, state: str, later: str | None
) -> None:
    instances.set_state(ONE, state)
    states.refresh([ONE], NOW, questions(NOW))

    assert states.of(ONE, after(9)) == state
    assert states.of(ONE, after(11)) == later


def test_it_is_asked_again_after_a_rest(
    instances: SimulatedInstances, states: InstanceStates
) -> None:
    for seconds in (0, 1, 9, 10, 11):
        states.refresh([ONE], after(seconds), questions(after(seconds)))

    assert instances.calls == [(ONE,), (ONE,)]
    assert states.ask_again_at == after(20)


def test_no_answer_is_an_answer_too(instances: SimulatedInstances, states: InstanceStates) -> None:
    states.refresh([ONE], NOW, questions(NOW))
    instances.fail(InstancesError("throttled"))
    states.refresh([ONE], after(10), questions(after(10)))

    assert states.of(ONE, after(10)) is None


def test_an_instance_that_is_not_asked_about_any_more_is_forgotten(
    instances: SimulatedInstances, states: InstanceStates
) -> None:
    states.refresh([ONE], NOW, questions(NOW))
    states.refresh([], after(1), questions(after(1)))
    states.refresh([ONE], after(2), questions(after(2)))

    assert len(instances.calls) == 2
    assert states.ask_again_at == after(12)


def test_while_it_is_asked_no_time_is_set_to_ask_again(
    instances: SimulatedInstances, states: InstanceStates
) -> None:
    later = Later()
    asking = questions(after(15), later)
    states.refresh([ONE], NOW, asking)
    states.refresh([ONE, "i-2"], after(14), asking)
    assert asking
    assert states.ask_again_at is None
    assert states.is_awaited(ONE, after(14))
    assert not states.is_awaited("i-2", after(14))

    later.finish()
    assert not asking
    assert instances.calls == [(ONE,)]
    assert states.of(ONE, after(15)) == "running"
    assert states.ask_again_at == after(25)


def test_the_next_invocation_asks_again_what_the_one_before_got_no_answer_to(
    instances: SimulatedInstances, states: InstanceStates
) -> None:
    states.refresh([ONE], NOW, questions(NOW, Later()))
    states.refresh([ONE], after(1), questions(after(1)))
    assert states.of(ONE, after(1)) == "running"
    assert instances.calls == [(ONE,)]
