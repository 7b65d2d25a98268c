"""The labels and annotations that people set: what each stands on, says, and means.

All keys stand in ``names``. docs/reference/annotations.md lists these, those that Evenkeel itself
writes, and those of other projects that it follows.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec

from evenkeel.model import floor, lifecycle, names, pool
from evenkeel.model.floor import Floor
from evenkeel.model.pool import AtMost
from evenkeel.model.times import go_duration

WORKLOADS: Final = ("Deployment", "Rollout", "ReplicaSet", "StatefulSet", "Job", "CloneSet")
"""Kinds whose annotations count for their pods, as the pods' own do."""

BOOLEANS: Final = ("false", names.TRUE)


class Place(StrEnum):
    """Where a key stands on an object."""

    LABEL = "label"
    ANNOTATION = "annotation"


class OwnersEntry[T](msgspec.Struct, frozen=True, kw_only=True):
    """A key that people set, in one place.

    ``on`` are the kinds of objects that it counts on: ``Pod`` means a pod template, too. ``read``
    answers None for a value that means nothing. ``forms`` are what it may say, in words, where
    these are not the ``Words`` that are read. ``meaning`` is one or more sentences for people.
    """

    key: str
    place: Place = Place.ANNOTATION
    on: tuple[str, ...]
    read: Callable[[str], T | None]
    forms: str = ""
    meaning: str

    @property
    def values(self) -> str:
        """What it may say, in words."""
        return self.forms or str(self.read)

    def of(self, found: Mapping[str, str] | None) -> T | None:
        """What an object's labels, or annotations, say; None for nothing that is understood."""
        text = (found or {}).get(self.key)
        return None if text is None else self.read(text)


class Words(msgspec.Struct, frozen=True):
    """Reads the words that a key may say. An annotation's may be in letters of any case.

    A label's may not, for label selectors ask for it, too.
    """

    known: tuple[str, ...]
    exact: bool = False

    def __call__(self, text: str) -> str | None:
        """The word; None if it is none of them."""
        word = text if self.exact else text.lower()
        return word if word in self.known else None

    def __str__(self) -> str:
        """As an alternative for people: ``all or dying``.

        In quotes those that YAML takes for no text without them.
        """
        return " or ".join(f'"{word}"' if word in BOOLEANS else word for word in self.known)


YES: Final = Words((names.TRUE, "false"), exact=True)

MANAGED: Final = OwnersEntry(
    key=names.MANAGED,
    place=Place.LABEL,
    on=("Namespace",),
    read=YES,
    meaning="New pods of the namespace are placed by the floors of their workloads, and restore"
    " moves running pods to where these floors want them.",
)

GATED: Final = OwnersEntry(
    key=names.GATE,
    place=Place.LABEL,
    on=("Namespace",),
    read=YES,
    meaning="The eviction of a pod of the namespace waits until its replacement is available.",
)

ON_DEMAND: Final[OwnersEntry[Floor]] = OwnersEntry(
    key=names.ON_DEMAND,
    on=(*WORKLOADS, "Pod", "Namespace"),
    forms=floor.FORMS,
    read=floor.read,
    meaning="How many replicas of the workload have to be on on-demand nodes: its floor. That of a"
    " pod template counts for a workload without one, and that of a namespace for workloads without"
    " either. By default a majority of a StatefulSet"
    " prefers them, and none of another workload.",
)

DEFAULT_FLOORS: Final = OwnersEntry(
    key=names.DEFAULT_FLOORS,
    on=("Namespace",),
    read=Words((names.REQUIRED, "preferred")),
    meaning="Whether the default floors of the namespace's StatefulSets, a majority, are required"
    " as if they were written, or preferred. Without it the parameter DefaultFloors says so.",
)

ONE_POOL_AT_MOST: Final[OwnersEntry[AtMost]] = OwnersEntry(
    key=names.ONE_POOL_AT_MOST,
    on=(*WORKLOADS, "Pod", "Namespace"),
    forms=pool.FORMS,
    read=pool.read,
    meaning="How many of the wanted replicas one pool is to have at most: the spot nodes of one"
    " type in one zone. Percentages round down, but not to none. That of a namespace counts for its"
    " workloads without one. By default there is no such goal.",
)

PLACEMENT: Final = OwnersEntry(
    key=names.PLACEMENT,
    on=("Deployment", "StatefulSet"),
    read=Words((names.BY_TEMPLATE,)),
    meaning="Restore writes affinity and a spread into the pod template, and the webhook leaves the"
    " workload's pods as they are.",
)

HANDOVER: Final = OwnersEntry(
    key=names.HANDOVER,
    on=("Deployment", "Rollout", "ReplicaSet", "Pod"),
    read=Words(("never",)),
    meaning="A pod and its replacement never run at the same time: the pod goes first.",
)

AT_DEADLINE: Final = OwnersEntry(
    key=names.AT_DEADLINE,
    on=(*WORKLOADS, "Pod"),
    read=Words(("delete", "leave")),
    meaning="What becomes of a pod whose disruption budget refuses its eviction until its node"
    " ends: it is deleted, which is the default and gives it its SIGTERM, or left to die with its"
    " node.",
)

GRACE_PERIOD: Final = OwnersEntry(
    key=names.GRACE_PERIOD,
    on=(*WORKLOADS, "Pod"),
    read=Words(("full",)),
    meaning="The pod is told to go so early that all of its grace period fits before its node ends,"
    " up to 45 s, also where its workload has too few others. By default such a pod stands as long"
    " as pods of its workload were seen to take to stop.",
)

SETTLE: Final[OwnersEntry[timedelta]] = OwnersEntry(
    key=names.SETTLE,
    on=(*WORKLOADS, "Pod"),
    forms="20s or another duration",
    read=go_duration,
    meaning="How long a pod's replacement has to have been Ready before the pod goes, as far as its"
    " node lasts: what sends it requests has to know it by then. The default is 20 s where a load"
    " balancer leads to the workload and its pods have no readiness gate, else 2 s where a Service"
    " does, and none without a Service.",
)

PRE_STOP_SLEEP: Final[OwnersEntry[timedelta]] = OwnersEntry(
    key=names.PRE_STOP_SLEEP,
    on=("Pod", "Namespace"),
    forms="5s or another number of seconds",
    read=lifecycle.read,
    meaning="How long each container sleeps between the pod's eviction, or deletion, and its"
    " SIGTERM: what sends the pod requests stops meanwhile. Placement adds it to new pods as a"
    " preStop hook, to containers without one, and at most half of the grace period. That of a"
    " namespace counts for pods without one. By default none is added.",
)

NODE_ENDS_AT: Final = OwnersEntry(
    key=names.NODE_ENDS_AT,
    on=("Pod",),
    forms='""',
    read=Words(("",)),
    meaning="The pod asks when its node ends. As soon as a notice says it, Evenkeel writes the time"
    " into it, in RFC 3339, and sets the condition DisruptionTarget.",
)

GANG: Final = OwnersEntry(
    key=names.GANG,
    on=("Job",),
    read=Words((names.TRUE, "false")),
    meaning="The pods of the Job are of use together only.",
)

GANG_AT_NOTICE: Final = OwnersEntry(
    key=names.GANG_AT_NOTICE,
    on=(*WORKLOADS, "Pod", "PodGroup", "LeaderWorkerSet"),
    read=Words(("all", "dying")),
    meaning="Where too few pods of a gang would stay on healthy nodes: whether all its pods go, or"
    " only those on dying nodes. The default is dying, and all where the group's disruptionMode is"
    " all.",
)

UNGATED: Final = OwnersEntry(
    key=names.GATE,
    on=(*WORKLOADS, "Pod"),
    read=Words(BOOLEANS),
    meaning="With false, evictions of the workload's pods do not wait for replacements.",
)

GATE_PATIENCE: Final[OwnersEntry[timedelta]] = OwnersEntry(
    key=names.GATE_PATIENCE,
    on=("Deployment", "Rollout", "ReplicaSet", "Pod"),
    forms="15m or another duration, 1h at most",
    read=go_duration,
    meaning="How long an eviction of the workload's pods waits for a replacement that has a node"
    " and does not fail. The default is the workload's progressDeadlineSeconds, and what the gate's"
    " setting says is the least.",
)

HEADROOM: Final = OwnersEntry(
    key=names.HEADROOM,
    place=Place.LABEL,
    on=("Node",),
    read=Words((names.SINGLES,), exact=True),
    meaning="The node's room is kept for workloads of one replica. The node also has a taint of"
    " this key and value, which their new pods tolerate.",
)

type AnyEntry = OwnersEntry[Floor] | OwnersEntry[AtMost] | OwnersEntry[timedelta] | OwnersEntry[str]

OWNERS: Final[tuple[AnyEntry, ...]] = (
    MANAGED,
    GATED,
    ON_DEMAND,
    DEFAULT_FLOORS,
    ONE_POOL_AT_MOST,
    PLACEMENT,
    HANDOVER,
    AT_DEADLINE,
    GRACE_PERIOD,
    SETTLE,
    PRE_STOP_SLEEP,
    NODE_ENDS_AT,
    GANG,
    GANG_AT_NOTICE,
    UNGATED,
    GATE_PATIENCE,
    HEADROOM,
)
"""What people may write."""
