"""Sees the cluster from outside: how many pods serve, and what becomes of each pod.

It knows nothing of Evenkeel's decisions. A pod serves while it is available as its workload
means it (Ready for minReadySeconds, not being deleted, on a living node) and the workload's
own selector selects it, with a controller or without.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from evenkeel_sandbox.observer.following import is_released
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    at,
    controller_of,
    is_active,
    is_available,
    is_finished,
    is_leaving,
    is_ready,
    key_of,
    labels_of,
    node_of,
    uid_of,
)
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.property.hands import Cause, Hands
from tests.property.scenes import Kind, WorkloadPlan

LONGEST_GRACE = 45
"""docs/notices.md: the eviction deadline is the node's less the grace period. Of a pod that another
one replaces it is taken for no longer than this, in seconds."""

REPLACED = ("ReplicaSet", "StatefulSet", "Database")
"""The kinds of controllers that make another pod for one that goes."""

LEAST = 5
"""Seconds that a pod which stands last is told to go before its node ends, at least."""

AHEAD = timedelta(seconds=5)
"""By so much the first pod goes ahead of the others, to show how long they take to stop."""

MARGIN = timedelta(seconds=1.5)
"""By so much before its eviction deadline a pod may go: what so few evictions can take at most."""

UNKNOWN_FOR = timedelta(seconds=2)
"""So long after a pod failed Evenkeel may still count it: it does not know at once."""

COUNTED = (Kind.DEPLOYMENT, Kind.STATEFUL_SET, Kind.DATABASE)


@dataclass(slots=True)
class Life:
    """What became of one pod. ``told_at`` is when it was told to go, ``cause`` on whose part.

    ``failed_at`` is when something else than Evenkeel let it be Ready no more, and ``was`` its
    state before that.
    """

    uid: str
    name: str
    workload: str
    kind: str
    grace: timedelta
    node: str = ""
    bound_at: datetime | None = None
    released: bool = False
    was_released: bool = False
    told_at: datetime | None = None
    cause: Cause | None = None
    failed_at: datetime | None = None
    was: Obj | None = None
    ended_at: datetime | None = None
    gone_at: datetime | None = None

    @property
    def over_at(self) -> datetime | None:
        """When nothing was left to do about it: told to go, ended by itself, or gone."""
        return min(filter(None, (self.told_at, self.ended_at, self.gone_at)), default=None)


@dataclass(slots=True)
class Ledger:
    """How many pods of a workload have to serve.

    ``start`` is how many served when it began. Until the workload is whole again, ``fewest``
    is the lowest number of replicas wanted since, and ``debts`` how far below what was demanded
    others took it, or Evenkeel at a last moment: by the uid of the pod that was lost. What it
    could spare is no debt. ``lowest`` is how many served at the least, whatever took them.
    """

    plan: WorkloadPlan
    start: int
    fewest: int
    lowest: int
    debts: dict[str, int] = field(default_factory=dict)

    def floor(self, unknown: Collection[str] = ()) -> int:
        """How many pods have to serve, as far as is known without these failures."""
        debt = sum(owed for uid, owed in self.debts.items() if uid not in unknown)
        wanted = self.fewest
        return max(0, min(self.start, wanted - self.may_miss(wanted)) - debt)

    def owe(self, missing: int, uid: str) -> None:
        """Demand so much less from now on, because of this pod."""
        if missing > 0:
            self.debts[uid] = self.debts.get(uid, 0) + missing

    def may_miss(self, wanted: int) -> int:
        """How many the design lets go before their replacements are there.

        None in a handover. Where two at once are forbidden or impossible, max(1,
        maxUnavailable) at a time, or all: Recreate, a single replica, a ReadWriteOnce volume.
        """
        plan = self.plan
        if plan.kind in (Kind.STATEFUL_SET, Kind.DATABASE):
            return 1
        if plan.recreate or plan.disk:
            return wanted
        ruled_out = plan.never or plan.by_hash or plan.keeps_releases_out
        if ruled_out or plan.max_surge in (0, "0%"):
            return wanted if wanted <= 1 else max(1, _of(plan.max_unavailable, wanted))
        return 0


def _runs(pod: Obj | None) -> bool:
    """Whether a pod is there, Ready, and not told to go."""
    return pod is not None and is_active(pod) and is_ready(pod)


def _of(bound: int | str, wanted: int) -> int:
    """A number, or a percentage rounded down, as Deployments take maxUnavailable."""
    return int(bound.rstrip("%")) * wanted // 100 if isinstance(bound, str) else bound


@dataclass(slots=True)
class Spectator:
    """Watches the simulated cluster's pods and nodes."""

    cluster: SimulatedCluster
    hands: Hands
    plans: Mapping[str, WorkloadPlan]
    deadline: Callable[[str], datetime | None]
    lives: dict[str, Life] = field(default_factory=dict)
    dips: list[str] = field(default_factory=list)
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    touched_nodes: list[tuple[datetime, str]] = field(default_factory=list)
    _dead: set[str] = field(default_factory=set)
    _began_at: datetime | None = None
    may_roll_out: bool = False

    def __post_init__(self) -> None:
        self.cluster.server.store.observe("Pod", self._pod_changed)
        self.cluster.server.store.observe("Node", self._node_changed)

    def begin(self) -> None:
        """From now on nothing may dip."""
        self._began_at = self._now
        for name, plan in self.plans.items():
            if plan.kind in COUNTED:
                serving = self._serving(name)
                self.ledgers[name] = Ledger(plan, serving, self._wanted(name), serving)

    def node_dies(self, node: str) -> None:
        """The machine goes: pods that served there are lost, and not by Evenkeel."""
        there = list(self.cluster.server.store.pods_on(node))
        lost = list(filter(self._serves, there))
        self._dead.add(node)
        with self.hands.on_account_of(Cause.OTHERS):
            for pod in there:
                self._note_failure(self.lives[uid_of(pod)], pod, None)
            for pod in lost:
                self._lost(self.lives[uid_of(pod)])

    @property
    def _now(self) -> datetime:
        return self.cluster.clock.now()

    def _wanted(self, name: str) -> int:
        kind = self.plans[name].kind
        if kind is Kind.DATABASE:
            return self.plans[name].replicas
        return int(at(self.cluster.server.get(kind, (name, name)), "spec", "replicas"))

    def _serving(self, name: str) -> int:
        return sum(map(self._serves, self.cluster.server.store.all("Pod", name)))

    def _serves(self, pod: Obj) -> bool:
        name = key_of(pod)[0]
        plan = self.plans.get(name)
        if plan is None or labels_of(pod).get("app") != name or node_of(pod) in self._dead:
            return False
        return is_active(pod) and is_available(pod, plan.min_ready, self._now)

    def _pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        pod = new or old or {}
        life = self.lives.get(uid_of(pod)) or self._first_seen(pod)
        self._note(life, new)
        self._note_failure(life, old, new)
        if old is not None and self._serves(old) and (new is None or not self._serves(new)):
            self._lost(life)
            return
        ledger = self.ledgers.get(life.workload)
        if ledger is not None and self._is_whole(life.workload):
            ledger.debts, ledger.fewest = {}, self._wanted(life.workload)

    def _first_seen(self, pod: Obj) -> Life:
        namespace, name = key_of(pod)
        grace = at(pod, "spec", "terminationGracePeriodSeconds", default=30)
        owner: Any = controller_of(pod) or {"kind": ""}
        life = Life(uid_of(pod), name, namespace, owner["kind"], timedelta(seconds=grace))
        self.lives[life.uid] = life
        return life

    def _note(self, life: Life, new: Obj | None) -> None:
        if new is None:
            life.gone_at, life.released = self._now, False
            return
        if node_of(new) and life.bound_at is None:
            life.node, life.bound_at = node_of(new), self._now
        life.released = is_released(new) and is_active(new)
        life.was_released = life.was_released or life.released
        if is_leaving(new) and life.told_at is None:
            life.told_at, life.cause = self._now, self.hands.cause
        if is_finished(new) and life.ended_at is None:
            life.ended_at = self._now

    def _note_failure(self, life: Life, old: Obj | None, new: Obj | None) -> None:
        if _runs(new):
            life.failed_at = None
        elif _runs(old) and self.hands.cause is not Cause.EVENKEEL:
            life.failed_at, life.was = self._now, old

    def _lost(self, life: Life) -> None:
        """One pod less serves: judge whether that may be. What is missing is missed once."""
        ledger = self.ledgers.get(life.workload)
        if ledger is None:
            return
        ledger.fewest = min(ledger.fewest, self._wanted(life.workload))
        may_roll = _of(ledger.plan.max_unavailable, ledger.fewest) if self.may_roll_out else 0
        serving = self._serving(life.workload)
        ledger.lowest = min(ledger.lowest, serving)
        spared = may_roll + self._in_turn(ledger, life)
        missing = ledger.floor() - spared - serving
        if self._is_excused(life):
            ledger.owe(missing, life.uid)
            return
        takes = self.hands.cause is Cause.EVENKEEL
        unknown = self._failed_unknown(life.workload) if takes else ()
        demanded = ledger.floor(unknown) - spared
        if serving + len(unknown) < demanded:
            self.dips.append(
                f"{self._seconds:.2f} s: {life.workload} falls to {serving} serving pods, "
                f"{demanded} are demanded (at the start {ledger.start}, wanted {ledger.fewest}, "
                f"debts {sum(ledger.debts.values())}, failed a moment ago {len(unknown)}): "
                f"{life.name} on {life.node} went, by {self.hands.cause}"
            )
        ledger.owe(missing, unknown[-1] if unknown else life.uid)

    def _in_turn(self, ledger: Ledger, life: Life) -> int:
        """How many more may be missing when this one goes, because its node dies in so long.

        Pods that take turns: as many as the minimum can spare, a majority without a budget, which
        the API server sees to. Pods that a quota allows no second one beside take turns as well.
        """
        plan, wanted = ledger.plan, ledger.fewest
        if wanted <= 1 or self.deadline(life.node) is None:
            return 0
        takes_turns = ledger.may_miss(wanted) > 0
        if not takes_turns and (plan.spare is None or plan.kind is not Kind.DEPLOYMENT):
            return 0
        minority = (wanted - 1) // 2 if plan.budget is None else wanted - 1
        most = min(wanted - 1, max(1, _of(plan.max_unavailable, wanted), minority))
        return max(0, most - ledger.may_miss(wanted))

    def _failed_unknown(self, name: str) -> Sequence[str]:
        """The uids of the pods that would serve now, had they not failed without a sign of it.

        They did a moment ago, or with their node, and the API server still calls them Ready.
        """
        ready = {uid_of(pod) for pod in self.cluster.server.store.all("Pod", name) if is_ready(pod)}
        return [
            life.uid
            for life in self.lives.values()
            if life.workload == name
            and life.failed_at is not None
            and (
                self._now - life.failed_at <= UNKNOWN_FOR
                or (life.node in self._dead and life.uid in ready)
            )
            and life.cause is not Cause.EVENKEEL
            and is_available(life.was or {}, self.plans[name].min_ready, self._now)
        ]

    def _is_excused(self, life: Life) -> bool:
        """Others took it, or a rollout did; or Evenkeel, at its last moment."""
        if self.hands.cause is Cause.OTHERS:
            return True
        if self.may_roll_out and self.hands.cause is Cause.CLUSTER:
            return True
        deadline = self.deadline(life.node)
        return deadline is not None and self._now >= last_moment(life, deadline) - AHEAD - MARGIN

    def _is_whole(self, name: str) -> bool:
        """As many pods serve as are wanted, without any that is released."""
        owned = [
            pod
            for pod in self.cluster.server.store.all("Pod", name)
            if controller_of(pod) is not None and self._serves(pod)
        ]
        others = any(life.released for life in self.lives.values() if life.workload == name)
        return not others and len(owned) >= self._wanted(name)

    def _node_changed(self, old: Obj | None, new: Obj | None) -> None:
        if self.hands.cause is Cause.EVENKEEL:
            self.touched_nodes.append((self._now, (new or old or {})["metadata"]["name"]))

    @property
    def _seconds(self) -> float:
        return (self._now - (self._began_at or self._now)).total_seconds()


def last_moment(life: Life, deadline: datetime) -> datetime:
    """When a pod that can be spared has to be told to go, but for the margin."""
    longest = timedelta(seconds=LONGEST_GRACE) if life.kind in REPLACED else life.grace
    return deadline - min(life.grace, longest)


def latest(life: Life, deadline: datetime) -> datetime:
    """When any pod has to be told to go: one that stands last later than one that can be spared."""
    least = timedelta(seconds=LEAST) if life.kind in REPLACED else life.grace
    return deadline - min(life.grace, least)
