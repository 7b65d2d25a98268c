"""Pods that have to leave their nodes, and by when."""

from datetime import datetime
from functools import cached_property
from typing import ClassVar

import msgspec

from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.refusal import tried_until
from evenkeel.decisions.drain.route import Route
from evenkeel.model.capacity import Capacity
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.release import Release
from evenkeel.model.times import next_due
from evenkeel.model.way import Way


class MovingPod(msgspec.Struct, frozen=True, dict=True):
    """A pod on a cordoned, doomed node, the way it goes and its node's notice.

    Or a pod of a gang that goes as a whole (see ``gangs``). Then ``notice`` is that of the node
    that dies, and ``lives`` says that the pod's own node does not. ``together``: when the gang
    goes.
    """

    pod: Pod
    route: Route
    notice: NodeNotice
    together: datetime | None = None
    lives: bool = False

    @cached_property
    def deadline(self) -> Deadline:
        """By when it has to go."""
        return node_deadline(self.notice)

    @cached_property
    def evict_by(self) -> datetime:
        """When its eviction has to be sent at the latest, for the grace period to fit."""
        own = self.deadline.evict_by(self.pod, is_replaced=self.is_replaced)
        return own if self.together is None else min(own, self.together)

    @property
    def is_handed_over(self) -> bool:
        """Whether its replacement is to run before it goes."""
        return self.route.way is Way.HANDOVER

    @property
    def is_replaced(self) -> bool:
        """Whether another pod is to take its place once it goes."""
        return self.route.way is not Way.AT_LAST_MOMENT

    def due(self, now: datetime, *others: datetime | None) -> datetime | None:
        """When something else becomes of it by time alone: its way, its end, or one of these."""
        return next_due(now, self.route.until, tried_until(self.deadline), *others)


class ReleasedPod(msgspec.Struct, frozen=True, dict=True):
    """A released pod, what its annotation says, and by when it has to go, or to be back."""

    pod: Pod
    release: Release
    deadline: Deadline
    is_handed_over: ClassVar = True
    is_replaced: ClassVar = True
    together: ClassVar = None
    lives: ClassVar = False

    @cached_property
    def evict_by(self) -> datetime:
        """When its eviction has to be sent at the latest, for the grace period to fit."""
        return self.deadline.evict_by(self.pod)

    @property
    def target(self) -> Capacity | None:
        """The capacity type that its replacement has to be on, if any.

        None also once its node dies: then a replacement on either type will do.
        """
        return None if self.deadline.forced else self.release.target
