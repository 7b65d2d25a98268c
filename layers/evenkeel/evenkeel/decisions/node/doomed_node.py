"""What to do about a doomed node: exclude it, take it out of service, lift its mark."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.node.share import SOONEST
from evenkeel.decisions.notice import kinds, mark
from evenkeel.decisions.notice.which_notice import OUTLIVED_AFTER
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.instance import UNLISTED
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.reasons import Reason
from evenkeel.model.times import next_due

ENDING = frozenset({"stopping", "shutting-down", "stopped", "terminated"})
"""The states of an instance that ends or has ended."""

OFF = frozenset({"stopped", "terminated"})
"""The states in which an instance's volumes can be detached without harm."""

UNLISTED_FOR: Final = timedelta(seconds=30)
"""So far apart two answers have to be that do not list an instance, for it to count as ended."""


LOAD_BALANCER_LEAD: Final = timedelta(seconds=60)
"""How long before its deadline a node leaves the external load balancers at the latest: they take
some ten seconds to notice, and let requests that are under way end."""


class DoomedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A doomed node and what is known of it.

    ``state`` is EC2's word for its instance or ``UNLISTED``, None if EC2 was not asked or did not
    answer; ``heard_at`` is when EC2 was heard. ``pods_left`` tells whether pods that do not belong
    to it are on it, or may be, and were not told to go; ``volumes_left`` whether pods are on it,
    told or not, that keep a volume or an ordinal from those that are made for them.
    ``others_remain`` tells whether load balancers would keep another node; None: not asked.
    """

    now: datetime
    node: Node
    notice: NodeNotice
    heard_at: datetime
    state: str | None = None
    pods_left: bool = False
    volumes_left: bool = False
    others_remain: bool | None = None
    do_out_of_service: bool = True

    @property
    def over(self) -> bool:
        """Whether the deadline, or the hint's expiry, has passed."""
        return self.now >= self.notice.deadline and self.notice.ends_at is None

    @property
    def is_missing(self) -> bool:
        """Whether EC2 does not list an instance whose end it announced, and its kubelet is silent.

        After a hint or a drain on purpose that says nothing: nobody announced an end, and EC2 may
        list no instance that is another account's.
        """
        return self.state == UNLISTED and not self.node.ready and not self.notice.is_hint

    @property
    def is_off(self) -> bool:
        """Whether the instance has certainly ended, so that its volumes can be detached.

        - EC2 says so;
        - or it announced the end, two answers, far enough apart, do not list it, and its node is
          not Ready.
        """
        if self.state in OFF:
            return True
        since = self.notice.unlisted_since
        return self.is_missing and since is not None and self.heard_at - since >= UNLISTED_FOR

    @property
    def settled_at(self) -> datetime:
        """A minute after the deadline, or after the latest time that the notice names."""
        return self.notice.lasts_until + OUTLIVED_AFTER

    @property
    def is_started_anew(self) -> bool:
        """Whether its scheduled change is over, for the machine was started again since.

        Its node says so, and no right in AWS is needed for that, as for DescribeInstanceStatus.
        """
        known = self.notice.boot_id
        return known != "" and self.node.status.node_info.boot_id not in ("", known)

    @property
    def outlived(self) -> bool:
        """Whether it is settled, and EC2 says that the instance does not end."""
        settled = self.now >= self.settled_at or self.is_started_anew
        return settled and self.state not in {None, UNLISTED, *ENDING}

    @property
    def wants_exclusion(self) -> bool:
        """Whether load balancers should stop sending to the node now.

        - it dies (a hint is no reason), and it is not excluded already;
        - its instance is not off, when nothing can be sent to it any more, nor living on;
        - its last pod has left, whichever way it went, or the deadline is near or past: a
          hibernation, a state change and a late warning leave no time before it. No other node has
          the pods behind a Service whose externalTrafficPolicy is Local.
        """
        if self.notice.is_hint or self.is_off or self.outlived:
            return False
        if names.EXCLUDE_FROM_LOAD_BALANCERS in self.node.metadata.labels:
            return False
        near = self.now >= self.notice.deadline - LOAD_BALANCER_LEAD
        return near or not self.pods_left


def plan(doomed: DoomedNode) -> tuple[Sequence[Decision], datetime | None]:
    """Decide about a doomed node; also when this changes though nothing else does."""
    if doomed.over:
        return _after_the_deadline(doomed)
    notice = doomed.notice
    if doomed.now >= notice.deadline:  # it is a hint that says when the instance ends
        certain = Decision.about(
            doomed.node,
            Verb.CORDON,
            kinds.wording_of(notice).reason,
            "it is certain by now that the instance ends: what is left on it has to go",
            until=notice.ends_at,
            warning=True,
            write=mark.make_certain(doomed.node, doomed.now),
        )
        return (certain,), None
    lead = SOONEST if notice.is_hint else LOAD_BALANCER_LEAD
    due = next_due(doomed.now, notice.deadline - lead, notice.deadline)
    return _exclusion(doomed), due


def unreadable(node: Node) -> Decision:
    """A marked node whose notice makes no sense: whether and when it goes is not known.

    It is left as it is: perhaps only its mark was spoilt.
    """
    return Decision.about(
        node,
        Verb.LEAVE,
        Reason.UNREADABLE_NOTICE,
        f"the annotation {names.NOTICE} cannot be read: evenkeel cancel {node.name} "
        "takes the mark off",
        warning=True,
    )


def _exclusion(doomed: DoomedNode) -> Sequence[Decision]:
    """The exclusion from load balancers, if it is wanted and it is known what they would keep."""
    if not doomed.wants_exclusion or doomed.others_remain is None:
        return ()
    if not doomed.others_remain:
        message = "no other node would remain behind external load balancers: it stays"
        return (Decision.about(doomed.node, Verb.LEAVE, Reason.NO_OTHER_NODE, message),)
    exclude = Decision.about(
        doomed.node,
        Verb.EXCLUDE,
        Reason.NODE_DYING,
        "external load balancers stop sending to it",
        write=mark.exclude(doomed.node),
    )
    return (exclude,)


def _after_the_deadline(doomed: DoomedNode) -> tuple[Sequence[Decision], datetime | None]:
    """The deadline has passed: what EC2 says of the instance decides.

    - certainly off: over; volumes and ordinals that hang on it are freed by the out-of-service
      taint, unless it is there already;
    - stopping or shutting down: not yet;
    - not listed, and the node not Ready: not before the second answer; the first one is noted on
      the node, so that another invocation can hear the second;
    - running, after a hint: the mark is lifted;
    - running, after a drain on purpose: the mark is lifted, and the cordon stays;
    - running, after a warning: EC2 has until a minute after the latest time that it named to end
      the instance, then the mark is lifted; at once if the machine was started anew, because
      nothing more comes of a scheduled change then;
    - unknown, or not listed while the node is Ready: a hint expires all the same; after a warning
      EC2 is asked again.
    """
    notice, state = doomed.notice, doomed.state
    if doomed.is_off:
        return (_end(doomed),), None
    if state in ENDING:
        wait = Decision.about(doomed.node, Verb.WAIT, Reason.INSTANCE_ENDING, f"EC2 says {state}")
        return (*_exclusion(doomed), wait), None
    if doomed.is_missing:
        return _missing(doomed), None
    if notice.kind is NoticeKind.DRAIN:
        return (_lift(doomed, Reason.DRAIN_OVER, "its time is up; the cordon stays"),), None
    if notice.is_hint:
        return (_lift(doomed, Reason.HINT_EXPIRED, "nothing came of the recommendation"),), None
    if doomed.outlived:
        why = "the machine was started anew" if doomed.is_started_anew else f"EC2 says {state}"
        return (_lift(doomed, Reason.INSTANCE_RUNNING, f"{why} after the deadline"),), None
    settled = doomed.settled_at
    known = "does not answer" if state is None else f"still says {state}"
    if state == UNLISTED:
        known = "does not list it, but the node is Ready"
    wait = Decision.about(
        doomed.node, Verb.WAIT, Reason.DEADLINE_PASSED, f"EC2 {known}", until=settled
    )
    return (*_exclusion(doomed), wait), next_due(doomed.now, settled)


def _end(doomed: DoomedNode) -> Decision:
    """The instance is off: free what hangs on it, or nothing is left to do."""
    state = doomed.state
    known = "lists it no more, and the node is not Ready" if state == UNLISTED else f"says {state}"
    wanted = doomed.volumes_left and doomed.do_out_of_service
    if (
        wanted
        and not doomed.notice.out_of_service
        and (taint := mark.take_out_of_service(doomed.node))
    ):
        message = f"EC2 {known}: volumes detach from it, and ordinals can return"
        return Decision.about(doomed.node, Verb.TAINT, Reason.INSTANCE_OFF, message, write=taint)
    return Decision.about(
        doomed.node, Verb.COMPLETE, Reason.INSTANCE_OFF, f"EC2 {known}: nothing is left to do"
    )


def _missing(doomed: DoomedNode) -> Sequence[Decision]:
    """EC2 does not list the instance of a node that is not Ready: wait for a second answer."""
    since, heard_at = doomed.notice.unlisted_since, doomed.heard_at
    message = "EC2 does not list the instance; that counts once it says so again 30 s later"
    if since is None or since > heard_at:
        note = mark.note(doomed.node, unlisted_since=heard_at)
        return (
            Decision.about(doomed.node, Verb.MARK, Reason.INSTANCE_UNLISTED, message, write=note),
        )
    wait = Decision.about(
        doomed.node, Verb.WAIT, Reason.INSTANCE_UNLISTED, message, until=since + UNLISTED_FOR
    )
    return (*_exclusion(doomed), wait)


def _lift(doomed: DoomedNode, reason: Reason, message: str) -> Decision:
    return Decision.about(doomed.node, Verb.LIFT, reason, message, write=mark.unmark(doomed.node))
