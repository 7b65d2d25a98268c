import pytest

from evenkeel.model.instance import Instance
from evenkeel.model.notice import Concern, InstanceAction, Notice, NoticeKind
from evenkeel_sandbox.ec2 import SimulatedEc2
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from tests.kit.builders import NOW, seconds
from tests.kit.manifests import resource

INSTANCE = "i-1"


class Account:
    """One instance, its node, and what was heard of their end."""

    def __init__(self) -> None:
        self.clock = SimulatedClock(NOW)
        self.cluster = SimulatedCluster(self.clock)
        self.cluster.apply(resource("Node", "n1"))
        self.instances = SimulatedInstances(Instance(instance_id=INSTANCE, state="running"))
        self.lost: list[float] = []
        self.ec2 = SimulatedEc2(self.clock, self.cluster, self.instances, self._lose)

    def _lose(self, _node: str) -> None:
        self.lost.append((self.clock.now() - NOW).total_seconds())

    def announce(
        self,
        kind: NoticeKind = NoticeKind.INTERRUPTION,
        action: InstanceAction = InstanceAction.TERMINATE,
        lead: float = 120,
    ) -> None:
        notice = Notice(
            kind=kind,
            concerns=Concern.SPOT,
            event_id="e",
            instance_id=INSTANCE,
            time=NOW,
            deadline=NOW + seconds(lead),
            action=action,
        )
        self.ec2.announce(notice, "n1")

    @property
    def state(self) -> str:
        return self.instances.describe([INSTANCE])[INSTANCE].state

    @property
    def has_node(self) -> bool:
        return bool(self.cluster.objects("Node"))


@pytest.fixture
def account() -> Account:
    return Account()


def test_an_instance_runs_until_its_deadline_when_it_was_warned(account: Account) -> None:
    account.announce()

    account.clock.advance(seconds(119))
    assert (account.state, account.lost, account.ec2.unwarned) == ("running", [], set())
    account.clock.advance(seconds(2))
    assert (account.state, account.lost) == ("shutting-down", [120])
    account.clock.advance(seconds(10))
    assert (account.state, account.has_node) == ("terminated", False)


def test_a_stopped_instance_keeps_its_node(account: Account) -> None:
    account.announce(action=InstanceAction.STOP)

    account.clock.advance(seconds(121))
    assert account.state == "stopping"
    account.clock.advance(seconds(20))
    assert (account.state, account.has_node) == ("stopped", True)


@pytest.mark.parametrize(
    ("kind", "action", "state"),
    [
        (NoticeKind.INTERRUPTION, InstanceAction.HIBERNATE, "stopping"),
        (NoticeKind.STATE_CHANGE, InstanceAction.STOP, "stopping"),
        (NoticeKind.STATE_CHANGE, InstanceAction.TERMINATE, "shutting-down"),
    ],
)
def test_an_instance_goes_within_seconds_when_nothing_warned_of_it(
    account: Account, kind: NoticeKind, action: InstanceAction, state: str
) -> None:
    account.announce(kind, action, lead=0)
    assert (account.state, account.ec2.unwarned) == (state, {"n1"})

    account.clock.advance(seconds(6))

    assert account.lost == [5]


def test_nothing_happens_to_an_instance_when_a_rebalance_is_recommended(account: Account) -> None:
    account.announce(NoticeKind.REBALANCE, lead=900)

    account.clock.advance(seconds(1000))

    assert (account.state, account.lost, account.ec2.last_end) == ("running", [], None)


def test_an_instance_ends_once_when_it_is_announced_twice(account: Account) -> None:
    account.announce()
    account.announce(NoticeKind.STATE_CHANGE, lead=0)
    account.announce()

    account.clock.advance(seconds(200))

    assert account.lost == [5]


def test_the_last_end_is_when_nothing_more_will_happen(account: Account) -> None:
    account.announce()

    assert account.ec2.last_end == NOW + seconds(130)
