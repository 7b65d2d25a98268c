"""The interruption that goes on: which nodes and pods it concerns, and what it did so far."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from evenkeel.decisions.interruption import late, whose
from evenkeel.decisions.interruption.follow import Seen, follow
from evenkeel.flows.drain.cache.share import is_to_go
from evenkeel.flows.drain.cache.view import View
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.interruption import (
    NOTHING,
    Account,
    Dip,
    Key,
    Tally,
    Untold,
    account_in,
    dip_of,
    key_of,
)
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.pod_count import PodCount
from evenkeel.ports import Clock

_GOES = frozenset({Verb.EVICT, Verb.DELETE})

_MOVES = _GOES | {Verb.RELEASE}


class Interruptions:
    """Outlives invocations, as the Lease does that its account is read from and noted on.

    It is a Recorder beside others: what it counts is what they record. In a divided storm each
    reconciler counts its own pods, and number 0 hears of the others.
    """

    def __init__(self, clock: Clock) -> None:
        """There is none."""
        self.account = NOTHING
        self._clock = clock
        self._view: View | None = None
        self._forget()

    def _forget(self) -> None:
        """Another one begins. More is known here than the account names."""
        self._nodes = set[str]()
        self._pods = dict[str, bool]()  # those that went, by uid: whether they were late
        self._behind = dict[str, str]()  # the last reason of a pod, by uid: see ``is_late``
        self._last = dict[Reference, PodCount]()
        self._went = dict[Reference, datetime]()  # when the last pod of a workload did
        self._dips = dict[Key, Dip]()
        self._low = set[Reference]()  # the workloads that it leaves fewer pods than wanted now

    def take(self, account: Account) -> None:
        """From now on this is what is known."""
        before, self.account = self.account.open, account
        if before is None or account.open is None or before.began_at != account.open.began_at:
            self._forget()
        if account.open is not None:
            self._nodes.update(account.open.named)
            self._dips |= {dip.is_of: dip for dip in self._own.worst}

    def hear(self, notes: Mapping[int, str | None]) -> None:
        """Take what the others in a divided storm have on their Leases, by their numbers."""
        for number, note in notes.items() if self._number == 0 else ():
            own, other = self.account.open, account_in(note).open
            if own is not None and other is not None and other.active_at >= own.began_at:
                self._count(number, other.tallies.get(number, Tally()))

    def told(self, untold: Untold) -> None:
        """This was told."""
        rest = tuple(each for each in self.account.untold if each != untold)
        self.account = msgspec.structs.replace(self.account, untold=rest)

    @property
    def are_due(self) -> bool:
        """Whether something is to be told by now."""
        now, going_on = self._clock.now(), self.account.open
        is_over = going_on is not None and now >= going_on.over_at
        return is_over or bool(self.account.untold)

    def begin(self, view: View) -> None:
        """An invocation has read the pods of the doomed nodes."""
        self._view = view
        self.look()

    def look(self) -> None:
        """See which nodes have pods that have to move. For a hint none has to."""
        if (view := self._view) is None:
            return
        pods = {name: sum(map(is_to_go, view.pods.on(name))) for name in view.nodes.dooms}
        here = {
            name: notice
            for name, notice in view.nodes.dooms.items()
            if not notice.is_hint and (pods[name] or name in view.share.others_on)
        }
        self._follow(here, sum(pods[name] for name in here))

    def _follow(self, nodes: Mapping[str, NodeNotice], pods: int) -> None:
        deadlines = {
            name: None if notice.is_hint else notice.deadline for name, notice in nodes.items()
        }
        seen = Seen(at=self._clock.now(), nodes=deadlines, pods=pods)
        account = follow(self.account, seen, self._nodes)
        if self._number:
            account = msgspec.structs.replace(account, untold=())
        self.take(account)
        self._nodes.update(nodes)

    @property
    def _number(self) -> int:
        return 0 if self._view is None else self._view.share.number

    @property
    def _own(self) -> Tally:
        going_on = self.account.open
        return Tally() if going_on is None else going_on.tallies.get(self._number, Tally())

    def _count(self, number: int, tally: Tally) -> None:
        if (going_on := self.account.open) is not None:
            counted = msgspec.structs.replace(going_on, tallies={**going_on.tallies, number: tally})
            self.account = msgspec.structs.replace(self.account, open=counted)

    # As a Recorder.

    def decided(self, decision: Decision) -> None:
        """Count a pod that has to go for a notice, other than one of somebody who drains a node."""
        if self._view is None or decision.subject.kind != "Pod":
            return
        node, uid = decision.node, decision.subject.uid
        notice = self._view.nodes.notices.get(node)
        if notice is not None and notice.kind is not NoticeKind.DRAIN:
            if decision.verb in _MOVES and (notice.is_hint or node not in self._nodes):
                self._follow({node: notice}, 1)
        elif node not in self._nodes:  # else it is gone by now
            return
        if decision.reason not in late.AT_THE_END:
            self._behind[uid] = decision.reason
        if decision.verb in _GOES:
            self._goes(uid, is_late=late.is_late(decision, self._behind.get(uid, "")))
            if decision.workload is not None:
                self._went[decision.workload] = self._clock.now()

    def counted_pods(self, count: PodCount) -> None:
        """Take a count of a workload that is low because pods went, and what follows on that."""
        workload, last = count.workload, self._last.get(count.workload)
        self._last[workload] = count
        before = self._dips.get(key_of(workload))
        if count.is_whole or count.available is None:
            self._low.discard(workload)
            if before is None:
                return
        elif workload not in self._low:
            if not whose.begins_dip(last, count, self._went.get(workload)):
                return
            self._low.add(workload)
        dip = dip_of(count) if before is None else before.counted(count)
        self._dips[dip.is_of] = dip
        self._count(self._number, self._own.dipped(dip, before))

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Nothing."""

    def noted(self, message: str, **details: object) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing is held back."""

    def _goes(self, uid: str, *, is_late: bool) -> None:
        was_late, own = self._pods.get(uid), self._own
        self._pods[uid] = is_late or bool(was_late)
        counted = msgspec.structs.replace(
            own,
            pods=own.pods + (was_late is None),
            late=own.late + (is_late and not was_late),
        )
        self._count(self._number, counted)
