"""What is kept of EC2's answers, and for how long."""

from datetime import UTC, datetime, timedelta

import pytest

from evenkeel.adapters.telemetry.memory import InMemoryRecorder
from evenkeel.errors import InstancesError
from evenkeel.flows.handover.knowledge import InstanceStates
from evenkeel.ports import Instance
from simulator.instances import SimulatedInstances

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
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
    states.refresh([ONE], NOW, is_busy=True)

    assert states.of(ONE, after(9)) == state
    assert states.of(ONE, after(11)) == later


@pytest.mark.parametrize(("is_busy", "rest"), [(False, 10), (True, 60)])
def test_it_is_asked_again_after_a_rest(
    instances: SimulatedInstances, states: InstanceStates, rest: int, *, is_busy: bool
) -> None:
    for seconds in (0, 1, rest - 1, rest, rest + 1):
        states.refresh([ONE], after(seconds), is_busy=is_busy)

    assert instances.calls == [(ONE,), (ONE,)]
    assert states.ask_again_at == after(2 * rest)


def test_no_answer_is_an_answer_too(instances: SimulatedInstances, states: InstanceStates) -> None:
    states.refresh([ONE], NOW, is_busy=False)
    instances.fail(InstancesError("throttled"))
    states.refresh([ONE], after(10), is_busy=False)

    assert states.of(ONE, after(10)) is None


def test_what_nobody_asks_about_any_more_is_forgotten(
    instances: SimulatedInstances, states: InstanceStates
) -> None:
    states.refresh([ONE], NOW, is_busy=False)
    states.refresh([], after(1), is_busy=False)
    states.refresh([ONE], after(2), is_busy=False)

    assert len(instances.calls) == 2
    assert states.ask_again_at == after(12)
