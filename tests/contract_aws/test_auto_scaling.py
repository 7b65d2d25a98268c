"""Terminations that wait for a lifecycle hook."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

import msgspec
import pytest

from evenkeel.adapters.aws.auto_scaling import AutoScaling
from evenkeel.errors import LifecycleError, NoLifecycleActionError
from evenkeel.model.hook import Hook, HookTimes, Termination
from evenkeel.ports import LifecycleActions
from evenkeel_sandbox.simulator.auto_scaling import SimulatedAutoScaling
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.auto_scaling import REGION, StubAutoScaling

INSTANCE = "i-0123456789abcdef0"
HOOK = Hook(group="workers", name="evenkeel", token="87654321-4321-4321-4321-210987654321")
WAITING = Termination(HOOK, INSTANCE)
TIMES = HookTimes(timedelta(seconds=300), timedelta(seconds=30_000))
STRANGERS = {
    "another group": Termination(msgspec.structs.replace(HOOK, group="others"), INSTANCE),
    "another hook": Termination(msgspec.structs.replace(HOOK, name="other"), INSTANCE),
    "another token": Termination(msgspec.structs.replace(HOOK, token=36 * "0"), INSTANCE),
    "no token": Termination(msgspec.structs.replace(HOOK, token="x"), INSTANCE),
    "another instance": Termination(HOOK, "i-0123456789abcdef1"),
}


class Aws(Protocol):
    """An Auto Scaling in which a termination waits."""

    @property
    def actions(self) -> LifecycleActions:
        """What is called."""
        ...

    def fail(self) -> None:
        """Answer nothing any more."""
        ...


class Simulated:
    def __init__(self) -> None:
        self.ended: list[str] = []
        clock = SimulatedClock(datetime(2026, 11, 21, 6, tzinfo=UTC))
        self.actions = SimulatedAutoScaling(clock, self.ended.append)
        self.actions.put_hook(HOOK.group, HOOK.name, TIMES)
        self.actions.begin(WAITING)

    def fail(self) -> None:
        self.actions.fail(LifecycleError("away"))


class Stubbed:
    def __init__(self) -> None:
        self.stub = StubAutoScaling()
        self.stub.put_hook(HOOK.group, HOOK.name, 300, 30_000)
        self.stub.begin(HOOK.group, HOOK.name, HOOK.token, INSTANCE)
        self.actions = AutoScaling(REGION, self.stub.client())

    def fail(self) -> None:
        self.stub.outage = True


@pytest.fixture(params=[Simulated, Stubbed])
def aws(request: pytest.FixtureRequest) -> Aws:
    made: Aws = request.param()
    return made


def test_a_hook_says_how_long_it_is_waited_for(aws: Aws) -> None:
    assert aws.actions.times("workers", "evenkeel") == TIMES


@pytest.mark.parametrize(("group", "name"), [("workers", "other"), ("others", "evenkeel")])
def test_a_hook_that_is_not_there_has_no_times(aws: Aws, group: str, name: str) -> None:
    assert aws.actions.times(group, name) is None


def test_a_termination_waits_until_it_is_completed(aws: Aws) -> None:
    aws.actions.record_heartbeat(WAITING)
    aws.actions.record_heartbeat(WAITING)
    aws.actions.complete(WAITING)
    with pytest.raises(NoLifecycleActionError, match="No active Lifecycle Action"):
        aws.actions.record_heartbeat(WAITING)
    with pytest.raises(NoLifecycleActionError, match="No active Lifecycle Action"):
        aws.actions.complete(WAITING)


@pytest.mark.parametrize("stranger", STRANGERS)
def test_nothing_is_said_for_another_termination(aws: Aws, stranger: str) -> None:
    with pytest.raises(NoLifecycleActionError):
        aws.actions.record_heartbeat(STRANGERS[stranger])
    with pytest.raises(NoLifecycleActionError):
        aws.actions.complete(STRANGERS[stranger])
    aws.actions.complete(WAITING)


def test_no_answer_is_told_from_a_refusal(aws: Aws) -> None:
    aws.fail()
    calls: list[Callable[[], object]] = [
        lambda: aws.actions.times("workers", "evenkeel"),
        lambda: aws.actions.record_heartbeat(WAITING),
        lambda: aws.actions.complete(WAITING),
    ]
    for call in calls:
        with pytest.raises(LifecycleError) as caught:
            call()
        assert not isinstance(caught.value, NoLifecycleActionError)


def test_a_hook_for_launches_is_none() -> None:
    aws = Stubbed()
    aws.stub.put_hook("workers", "launching", 300, 30_000, "LAUNCHING")
    assert aws.actions.times("workers", "launching") is None


@pytest.mark.parametrize(("beats", "ends"), [([], 300), ([250], 550), ([290, 500], 800)])
def test_the_simulated_group_goes_on_without_a_heartbeat(beats: list[int], ends: int) -> None:
    clock = SimulatedClock(datetime(2026, 11, 21, 6, tzinfo=UTC))
    ended = list[str]()
    actions = SimulatedAutoScaling(clock, ended.append)
    actions.put_hook(HOOK.group, HOOK.name, TIMES)
    actions.begin(WAITING)
    begun = clock.now()
    for beat in beats:
        clock.advance(begun + timedelta(seconds=beat) - clock.now())
        actions.record_heartbeat(WAITING)
    clock.advance(begun + timedelta(seconds=ends - 1) - clock.now())
    assert ended == []
    clock.advance(timedelta(seconds=1))
    assert ended == [INSTANCE]
