"""Notices: what AWS says about an instance, and what is kept of it on the node."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar, Self, override

import msgspec

from evenkeel.model import names
from evenkeel.model.hook import Hook
from evenkeel.model.names import is_label_value
from evenkeel.model.notes import VERSION, Note

LEAD = timedelta(seconds=120)
"""How long before EC2 stops or terminates a spot instance it warns."""


class NoticeKind(StrEnum):
    """What a notice says of an instance; the values are label values on the node.

    What follows from a notice follows from its kind. The kind of event that it came of is another
    matter (``decisions/notice/kinds.py``): several say the same of an instance.
    """

    INTERRUPTION = "interruption"
    """It ends at the deadline."""

    REBALANCE = "rebalance"
    """It may end, or live on."""

    STATE_CHANGE = "state-change"
    """It ends now."""

    DRAIN = "drain"
    """No event: somebody drains the node on purpose."""

    @property
    def is_hint(self) -> bool:
        """Whether the instance may well live on: nothing is forced."""
        return self in (NoticeKind.REBALANCE, NoticeKind.DRAIN)

    @property
    def is_warning(self) -> bool:
        """Whether the instance runs until the deadline, and may come to outlive it."""
        return self is NoticeKind.INTERRUPTION


class InstanceAction(StrEnum):
    """What EC2 does to an instance that it takes back."""

    TERMINATE = "terminate"
    STOP = "stop"
    HIBERNATE = "hibernate"


class Concern(StrEnum):
    """Which instances a notice may concern: of others it is not believed."""

    SPOT = "spot"
    """Spot instances."""

    ENDING = "ending"
    """Instances that do not run any more, spot or not."""

    RESERVED = "reserved"
    """Instances that run in reserved capacity."""

    ANY = "any"
    """Any instance."""


class Announcement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is announced of an instance: by a notice, and kept on its node.

    ``deadline`` is when the instance is lost (for a rebalance recommendation: when the
    recommendation expires). All times are aware, in UTC. ``cause`` is what the kind of event is
    called that it came of, where that is not what ``kind`` is called: a version that does not know
    it goes by ``kind``.

    ``ends_at``, of a hint: the instance ends then, and from ``deadline`` on that counts as certain.
    ``last_deadline`` is until when the instance may still be lost, where that is later: the end of
    a change that begins at the deadline, or the latest deadline of several warnings.
    ``hook``: the instance's Auto Scaling group waits for this before it terminates it.
    """

    kind: NoticeKind
    event_id: str
    deadline: datetime
    action: InstanceAction = InstanceAction.TERMINATE
    cause: str = ""
    ends_at: datetime | None = None
    last_deadline: datetime | None = None
    hook: Hook | None = None

    @property
    def is_hint(self) -> bool:
        """Whether the instance may well live on."""
        return self.kind.is_hint

    @property
    def is_recommendation(self) -> bool:
        """Whether nothing may come of it: it names no end, and nobody wants the node empty."""
        return self.kind is NoticeKind.REBALANCE and self.ends_at is None

    @property
    def name(self) -> str:
        """What the kind of event that it came of is called: the value of the node's label."""
        return self.cause or self.kind.value

    @property
    def lasts_until(self) -> datetime:
        """Until when the instance may be lost: ``deadline`` itself where nothing else is known."""
        return self.last_deadline or self.deadline

    def lost_at(self, now: datetime) -> datetime:
        """By when a hint's instance's pods have to be gone, if it counts as certain by ``now``.

        That is when it ends. If that has passed and it may end until later, it may do so any
        moment: the pods get as long as a spot instance's.
        """
        ends_at = self.ends_at or self.deadline
        return max(ends_at, min(now + LEAD, self.last_deadline or ends_at))

    @property
    def announced(self) -> dict[str, Any]:
        """The fields of an announcement, by name."""
        return {name: getattr(self, name) for name in Announcement.__struct_fields__}


class Notice(Announcement, frozen=True, kw_only=True):
    """One notice about one instance.

    ``time`` is when AWS said it. ``concerns`` is what has to be true of the instance.
    ``withdrawn``: AWS takes back what it said under the same ``event_id``.
    """

    concerns: Concern
    instance_id: str
    time: datetime
    withdrawn: bool = False

    def heard_at(self, now: datetime) -> Self:
        """The same notice, as it counts when it arrives ``now``.

        - A notice from the future comes from a wrong clock, or from a sender that lies. Its node
          would stay marked for longer, and a true notice would count as older, so it counts as
          given now.
        - A hint whose deadline has passed is certain if it says when the instance ends.
        """
        ahead = max(timedelta(), self.time - now)
        heard = msgspec.structs.replace(
            self, time=self.time - ahead, deadline=self.deadline - ahead
        )
        if self.ends_at is None or now < heard.deadline:
            return heard
        return msgspec.structs.replace(
            heard, kind=NoticeKind.INTERRUPTION, deadline=self.lost_at(now), ends_at=None
        )


class NodeNotice(Announcement, Note, frozen=True, kw_only=True):
    """The annotation ``evenkeel.dev/notice`` of a doomed node: the notice that counts, and more.

    ``cordoned_before`` says that another had cordoned the node before Evenkeel drained it;
    such a cordon is never lifted. ``since`` is when the notice was given, or the latest of
    several warnings. ``cordoned_at`` is since when Evenkeel drains it, by the first of several
    warnings; None while a hint waits for its share.
    ``excluded`` says that Evenkeel put the load balancers' exclusion label on the node, so that it
    takes off only its own, and ``out_of_service`` that it put the out-of-service taint there, so
    that it does so once. ``unlisted_since`` is when EC2 first did not list the instance while the
    node was not Ready. ``keep_cordon``: the cordon stays when the mark is lifted, for somebody
    drained the node on purpose. ``instance_id``, of a node without ``spec.providerID``: the
    instance of which the last notice spoke. ``boot_id``, of a scheduled change: the start of the
    machine that was its last when the change became certain.
    """

    key: ClassVar = names.NOTICE

    v: int = VERSION
    since: datetime
    cordoned_before: bool = False
    cordoned_at: datetime | None = None
    excluded: bool = False
    out_of_service: bool = False
    unlisted_since: datetime | None = None
    keep_cordon: bool = False
    instance_id: str = ""
    boot_id: str = ""

    @property
    @override
    def makes_sense(self) -> bool:
        """Whether Evenkeel can have written it: anybody who may annotate nodes may write one.

        Its times are in range, and its name can be a label's value.
        """
        return super().makes_sense and is_label_value(self.name)

    @property
    def cordons(self) -> bool:
        """Whether a node that is drained for it is cordoned, too.

        For a hint the taint keeps new pods off as well, and any cordon is somebody else's.
        """
        return self.kind is not NoticeKind.REBALANCE or self.keep_cordon


class WakeUp(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A message of the wake-up queue: look at the cluster now.

    It is no truth: the nodes' marks are. Only in observe mode, where no node is marked, it
    carries the notices with the names of their nodes.
    """

    v: int = VERSION
    reason: str
    notices: dict[str, NodeNotice] = {}
