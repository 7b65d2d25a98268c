"""The interruption that goes on: which nodes and pods it concerns, and what it did so far."""

from collections.abc import Mapping

from msgspec.structs import replace

from evenkeel.decisions.interruption.account import GOES, MOVES, Departure, Level, follow
from evenkeel.flows.drain.cache.share import is_to_go
from evenkeel.flows.drain.cache.view import View
from evenkeel.model.decision import Decision
from evenkeel.model.interruption import NOTHING, Account, Key, Tally, Untold, account_in, key_of
from evenkeel.model.metrics import Metric
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.pod_count import PodCount
from evenkeel.ports import Clock


class Interruptions:
    """Outlives invocations, as the Lease does that its account is loaded from and noted on.

    It is a Recorder beside others: what it adds to the account is what they record. The account has
    numbers, and each pod and workload is in the process's memory alone. In a divided storm each
    reconciler counts its own pods, and number 0 adds the others' tallies.
    """

    def __init__(self, clock: Clock) -> None:
        """There is none."""
        self.account = NOTHING
        self._clock = clock
        self.view: View | None = None
        """What the invocation that works has read."""
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Drop what is known of an earlier one."""
        self._nodes = set[str]()
        self._pods = dict[str, Departure]()
        """By uid."""
        self._workloads = dict[Key, Level]()

    def load(self, account: Account) -> None:
        """Set the account to what the Lease has. A dip that another process counted goes on."""
        self._set(account)
        for dip in account.tally_of(self._number).worst:
            level = self._workloads.get(dip.is_of, Level())
            if level.dip != dip:
                is_low = dip.available < dip.wanted
                self._workloads[dip.is_of] = replace(level, is_low=is_low, dip=dip)

    def add_tallies(self, notes: Mapping[int, str | None]) -> None:
        """Set what the others in a divided storm have on their Leases, by their numbers."""
        for number, note in notes.items() if self._number == 0 else ():
            own, other = self.account.open, account_in(note)
            if own is not None and other.open is not None and other.open.active_at >= own.began_at:
                self.account = self.account.with_tally(number, other.tally_of(number))

    def drop(self, untold: Untold) -> None:
        """This was told."""
        rest = tuple(each for each in self.account.untold if each != untold)
        self.account = replace(self.account, untold=rest)

    @property
    def are_due(self) -> bool:
        """Whether something is to be told by now."""
        now, going_on = self._clock.now(), self.account.open
        is_over = going_on is not None and now >= going_on.over_at
        return is_over or bool(self.account.untold)

    def look(self) -> None:
        """See which nodes have pods that have to move. For a hint none has to."""
        if (view := self.view) is None:
            return
        pods = {name: sum(map(is_to_go, view.pods.on(name))) for name in view.nodes.dooms}
        here = {
            name: notice
            for name, notice in view.nodes.dooms.items()
            if not notice.is_hint and (pods[name] or name in view.share.others_on)
        }
        self._follow(here, sum(pods[name] for name in here))

    def _follow(self, nodes: Mapping[str, NodeNotice], pods: int) -> None:
        account = follow(self.account, self._clock.now(), nodes, pods, self._nodes)
        self._set(replace(account, untold=()) if self._number else account)
        self._nodes.update(nodes)

    def _set(self, account: Account) -> None:
        before, after, self.account = self.account.open, account.open, account
        if before is None or after is None or before.began_at != after.began_at:
            self._begin_anew()
        if after is not None:
            self._nodes.update(after.named)

    @property
    def _number(self) -> int:
        return 0 if self.view is None else self.view.share.number

    def _count(self, new: Tally, before: Tally) -> None:
        number = self._number
        own = self.account.tally_of(number)
        self.account = self.account.with_tally(number, own.add(new, before))

    def _set_level(self, key: Key, before: Level, after: Level) -> None:
        self._workloads[key] = after
        if after.dip != before.dip:
            self._count(after.tally, before.tally)

    # As a Recorder.

    def decided(self, decision: Decision) -> None:
        """Add a decision about a pod that has to go for a notice, unless its node is drained."""
        if self.view is None or decision.subject.kind != "Pod":
            return
        node, uid, now = decision.node, decision.subject.uid, self._clock.now()
        notice = self.view.nodes.notices.get(node)
        if notice is not None and notice.kind is not NoticeKind.DRAIN:
            if decision.verb in MOVES and (notice.is_hint or node not in self._nodes):
                self._follow({node: notice}, 1)
        elif node not in self._nodes:  # else it is gone by now
            return
        before = self._pods.get(uid, Departure())
        verb, forced, warning = decision.verb, decision.forced, decision.warning
        after = before.add(now, verb, decision.reason, forced=forced, warning=warning)
        self._pods[uid] = after
        if verb not in GOES:
            return
        self._count(after.tally, before.tally)
        if decision.workload is not None:
            key = key_of(decision.workload)
            level = self._workloads.get(key, Level())
            self._set_level(key, level, level.leave(now))

    def counted_pods(self, count: PodCount) -> None:
        """Add a count of a workload."""
        key = key_of(count.workload)
        level = self._workloads.get(key, Level())
        self._set_level(key, level, level.add(count))

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Nothing."""

    def noted(self, message: str, **details: object) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing is held back."""
