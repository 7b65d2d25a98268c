"""What EC2 does to simulated instances after it gave notice: it takes them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from evenkeel.model.notice import InstanceAction, Notice, NoticeKind
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.instances import SimulatedInstances

WITHOUT_WARNING: Final = timedelta(seconds=5)
"""How long an instance still runs that is being stopped, terminated or hibernated already."""

REPORTED_AFTER: Final = timedelta(seconds=5)
"""How long after its end EC2 calls an instance stopped or terminated."""

ENOUGH: Final = timedelta(seconds=60)
"""A warning that leaves less time than this cannot be expected to save a workload."""

DEREGISTERED_AFTER: Final = timedelta(seconds=10)
"""How long after its end a terminated instance's node is deleted, by the cloud's controller."""


@dataclass(eq=False)
class SimulatedEc2:
    """Carries out what notices announce. A rebalance recommendation announces nothing.

    ``on_loss`` is called with a node's name at the moment when its machine is gone. ``lost_nodes``
    names those whose machine is gone, ``unwarned`` those that go with less than a minute's warning.
    """

    _clock: SimulatedClock
    _cluster: SimulatedCluster
    _instances: SimulatedInstances
    _on_loss: Callable[[str], None]
    _ends: dict[str, datetime] = field(default_factory=dict)
    lost_nodes: set[str] = field(default_factory=set)
    unwarned: set[str] = field(default_factory=set)

    @property
    def last_end(self) -> datetime | None:
        """When all that was announced so far is over; None if nothing was."""
        latest = max(self._ends.values(), default=None)
        return None if latest is None else latest + DEREGISTERED_AFTER

    def announce(self, notice: Notice, node_name: str) -> None:
        """Schedule the end of an instance; of several announcements the earliest counts."""
        if notice.is_hint:
            return
        end = self._end_of(notice)
        known = self._ends.get(notice.instance_id)
        if known is not None and known <= end:
            return
        self._ends[notice.instance_id] = end
        if end - self._clock.now() < ENOUGH:
            self.unwarned.add(node_name)
        if not _leaves_time(notice):
            self._instances.set_state(notice.instance_id, _states(notice)[0])
        self._clock.call_at(end, lambda: self._take(notice, node_name))

    def _end_of(self, notice: Notice) -> datetime:
        """A warning leaves time until its deadline; without one the machine goes right away."""
        now = self._clock.now()
        return max(notice.deadline, now) if _leaves_time(notice) else now + WITHOUT_WARNING

    def _take(self, notice: Notice, node_name: str) -> None:
        if node_name in self.lost_nodes:
            return
        self.lost_nodes.add(node_name)
        during, after = _states(notice)
        stays = notice.action is not InstanceAction.TERMINATE
        self._cluster.kill_node(node_name, None if stays else DEREGISTERED_AFTER)
        self._on_loss(node_name)
        self._instances.set_state(notice.instance_id, during)
        self._clock.call_in(
            REPORTED_AFTER, lambda: self._instances.set_state(notice.instance_id, after)
        )


def _leaves_time(notice: Notice) -> bool:
    """Whether the machine runs on until the notice's deadline."""
    return notice.kind is NoticeKind.INTERRUPTION and notice.action is not InstanceAction.HIBERNATE


def _states(notice: Notice) -> tuple[str, str]:
    """EC2's words for an instance on its way out, and at its end."""
    if notice.action is InstanceAction.TERMINATE:
        return "shutting-down", "terminated"
    return "stopping", "stopped"
