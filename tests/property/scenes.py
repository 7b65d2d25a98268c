"""Random clusters and what befalls them, as plain values that hypothesis can shrink.

Times are seconds after the first moment at which a notice may come. A value prints only what
differs from its defaults, so that a falsifying example can be read.
"""

import math
from dataclasses import dataclass, fields
from enum import StrEnum

from evenkeel.settings.handover import PODS_EACH
from evenkeel_sandbox.simulator.staleness import Staleness

STRANGER = -1
"""Instead of a node's number: an instance that EC2 does not know here."""

IMPOSTOR = -2
"""Instead of a node's number: another cluster's instance that bears the name of our node 0."""


class Brief:
    """Prints the fields that differ from their defaults."""

    def __repr__(self) -> str:
        told = [
            f"{each.name}={_brief(value)}"
            for each in fields(self)  # type: ignore[arg-type] # only dataclasses inherit this
            if (value := getattr(self, each.name)) != each.default
        ]
        return f"{type(self).__name__}({', '.join(told)})"


def _brief(value: object) -> str:
    """As it would be written; an enum's own repr could not be read back."""
    return f"{type(value).__name__}.{value.name}" if isinstance(value, StrEnum) else repr(value)


class Kind(StrEnum):
    DEPLOYMENT = "Deployment"
    STATEFUL_SET = "StatefulSet"
    JOB = "Job"
    POD = "Pod"
    DAEMON_SET = "DaemonSet"
    DATABASE = "Database"
    """A kind that Evenkeel does not know, whose operator makes each pod again under its name."""


@dataclass(frozen=True, kw_only=True, repr=False)
class NodePlan(Brief):
    """A node with room for so many slots of 100m CPU."""

    spot: bool = True
    slots: int = 40


THREE = (NodePlan(), NodePlan(), NodePlan())
"""Spot nodes, each with room for all."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Budget(Brief):
    """A PodDisruptionBudget; ``twice``: two of them select the pods."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    twice: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class WorkloadPlan(Brief):
    """A workload in a namespace of its own.

    ``start``, ``ready`` and ``stop`` are seconds until Running, Ready and ended; ``ready``
    None: never. ``spare``: pods that the namespace's quota leaves beyond the replicas; None
    without a quota. ``apart``: no two of its pods on one node. ``disk``: all its pods mount
    one ReadWriteOnce volume. ``gang``: its pods are a gang of at least so many, and ``all_go``
    where too few stay. ``tolerant``: its pods tolerate every taint, and come back to where they
    were. A policy answers its releases with the status ``refused``, or puts the parts of the
    metadata back that ``undone`` names. ``adopter``: what else selects its pods, and wants none:
    a ReplicaSet, a DaemonSet, or a Deployment, which is a twin of as many replicas.
    """

    kind: Kind = Kind.DEPLOYMENT
    replicas: int = 1
    recreate: bool = False
    max_surge: int | str = "25%"
    max_unavailable: int | str = "25%"
    min_ready: int = 0
    grace: int = 30
    start: int = 1
    ready: int | None = 0
    stop: int = 1
    slots: int = 1
    budget: Budget | None = None
    never: bool = False
    leave: bool = False
    spare: int | None = None
    apart: bool = False
    disk: bool = False
    by_hash: bool = False
    parallel: bool = False
    gang: int | None = None
    all_go: bool = False
    tolerant: bool = False
    refused: int = 0
    undone: tuple[str, ...] = ()
    adopter: str = ""

    @property
    def keeps_releases_out(self) -> bool:
        """Whether a policy lets no release of its pods happen."""
        return bool(self.refused or self.undone)


class News(StrEnum):
    TERMINATE = "terminate"
    STOP = "stop"
    HIBERNATE = "hibernate"
    REBALANCE = "rebalance"
    STATE = "state-change"


@dataclass(frozen=True, kw_only=True, repr=False)
class NoticePlan(Brief):
    """What AWS says of a node, ``at`` a time, about a moment ``late`` seconds before.

    ``copies``: how much later the same event comes again. ``obeyed``: EC2 does what it says,
    ``early`` seconds before the time; the node's object goes ``remove_after`` that.
    """

    news: News = News.TERMINATE
    node: int = 0
    at: int = 0
    late: int = 0
    copies: tuple[int, ...] = ()
    obeyed: bool = True
    early: int = 0
    remove_after: int = 30

    @property
    def said(self) -> int:
        """When AWS said it."""
        return self.at - self.late

    @property
    def deadline(self) -> int | None:
        """When the node is lost for certain; None for a hint."""
        match self.news:
            case News.TERMINATE | News.STOP:
                return self.said + 120
            case News.HIBERNATE | News.STATE:
                return self.said
            case News.REBALANCE:
                return None


class Trouble(StrEnum):
    SCALE = "scale"
    ROLL_OUT = "roll-out"
    UNREADY = "unready"
    EVICT = "evict"
    DELETE = "delete"
    LOSE_LEASE = "lose-lease"
    BREAK_LEASE = "break-lease"
    DRAIN = "drain"
    KILL_DRAINERS = "kill-drainers"
    BREAK_GATE = "break-gate"
    CROWD = "crowd"
    CORDON = "cordon"
    UNCORDON = "uncordon"
    DENY = "deny"
    END_POLICIES = "end-policies"


@dataclass(frozen=True, kw_only=True, repr=False)
class Disturbance(Brief):
    """What others do meanwhile.

    SCALE sets the replicas to ``number``; ROLL_OUT changes the template; UNREADY lets one
    pod fail its probe for a while; EVICT and DELETE take a pod of a doomed node away beside
    Evenkeel. ``number`` chooses the pod. LOSE_LEASE takes the Lease from its holder and wakes
    another invocation up; BREAK_LEASE lets writes to it fail for ``number`` seconds. DRAIN drains
    a node through the eviction gate, KILL_DRAINERS ends all who do, BREAK_GATE keeps it from
    answering for ``number`` seconds. CROWD lets a neighbour wait for the next ``number`` places
    that the quota of the workload's namespace has. CORDON and UNCORDON are what an operator does
    to a node, whose ``number`` it is. DENY lets a webhook deny evictions with the status
    ``number`` from then on; END_POLICIES takes all policies and webhooks of others away.
    """

    trouble: Trouble
    workload: int = 0
    at: float = 0
    number: int = 0


class Recovery(StrEnum):
    REDELIVERY = "redelivery"
    SCHEDULE = "schedule"


@dataclass(frozen=True, kw_only=True, repr=False)
class Crash(Brief):
    """The invocation that makes this write (counted from 0) dies.

    ``carried_out``: after the write was done, before its reply; else nothing that it had
    under way is done. SCHEDULE: its messages are lost too. ``stopped_for``: it does not die, but
    goes on after so many seconds (SIGSTOP, SIGCONT), and what it had under way is done.
    """

    write: int = 0
    carried_out: bool = False
    recovery: Recovery = Recovery.REDELIVERY
    stopped_for: int = 0


@dataclass(frozen=True, kw_only=True, repr=False)
class Scene(Brief):
    """A cluster, notices, and what else happens.

    ``staleness``: how late it is known. ``age``: how long the workloads have been there.
    ``phase``: when the schedule comes first.
    ``paused``: from when to when. ``window`` and ``pods_each`` are the settings of these names.
    """

    nodes: tuple[NodePlan, ...]
    workloads: tuple[WorkloadPlan, ...]
    notices: tuple[NoticePlan, ...]
    disturbances: tuple[Disturbance, ...] = ()
    crash: Crash | None = None
    staleness: Staleness | None = None
    age: int = 30
    phase: int = 30
    controller_qps: float | None = 20.0
    paused: tuple[int, int] | None = None
    observe: bool = False
    window: int = 100
    pods_each: int = PODS_EACH
    seed: int = 0

    @property
    def is_gated(self) -> bool:
        """Whether somebody drains nodes through the gate."""
        return any(each.trouble is Trouble.DRAIN for each in self.disturbances)

    @property
    def end(self) -> int:
        """When everything has to be quiet."""
        last = 0
        for notice in self.notices:
            over = notice.said + 900 if notice.deadline is None else notice.deadline
            last = max(last, over, notice.at + max(notice.copies, default=0))
        for disturbance in self.disturbances:
            drains = 900 if disturbance.trouble is Trouble.DRAIN else 0
            last = max(last, math.ceil(disturbance.at) + drains)
        if self.paused is not None:
            last = max(last, self.paused[1])
        return last + 200
