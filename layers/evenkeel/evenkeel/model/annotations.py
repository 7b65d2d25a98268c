"""The labels, annotations and taints of ``evenkeel.dev``: what each stands on, says, and means.

``OWNERS`` are set by people, and each reads its own values. ``WRITTEN`` are set by Evenkeel, and
``HONOURED`` are other projects', which Evenkeel follows. Their keys stand in ``names``.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from evenkeel.model import floor, names
from evenkeel.model.floor import Floor

WORKLOADS: Final = ("Deployment", "ReplicaSet", "StatefulSet", "Job")
"""Kinds whose annotations count for their pods, as the pods' own do."""

MOVED: Final = ("Deployment", "StatefulSet")
"""Kinds whose pods restore moves."""

JSON: Final = "JSON"
TIME: Final = "a time (RFC 3339)"
NAME: Final = "a name"
UID: Final = "a uid"


BOOLEANS: Final = ("false", names.TRUE)


class Place(StrEnum):
    """Where a key stands on an object."""

    LABEL = "label"
    ANNOTATION = "annotation"
    TAINT = "taint"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One key in one place.

    ``on`` are the kinds of objects that it counts on: ``Pod`` means a pod template, too. ``values``
    are what it may say, in words, and ``meaning`` is one or more sentences for people.
    """

    key: str
    place: Place = Place.ANNOTATION
    on: tuple[str, ...]
    values: str
    meaning: str


class OwnersEntry[T](Entry, frozen=True, kw_only=True):
    """A key that people set. ``read`` answers None for a value that means nothing."""

    read: Callable[[str], T | None]

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
NO: Final = Words(BOOLEANS)
GANGS: Final = Words((names.TRUE, "false"))
AT_DEADLINES: Final = Words(("delete", "leave"))
AT_NOTICES: Final = Words(("all", "dying"))
NEVER: Final = Words(("never",))
BY_TEMPLATE: Final = Words((names.BY_TEMPLATE,))

MANAGED: Final = OwnersEntry(
    key=names.MANAGED,
    place=Place.LABEL,
    on=("Namespace",),
    values=str(YES),
    read=YES,
    meaning="New pods of the namespace are placed by the floors of their workloads, and restore"
    " moves running pods to where these floors want them.",
)

GATED: Final = OwnersEntry(
    key=names.GATE,
    place=Place.LABEL,
    on=("Namespace",),
    values=str(YES),
    read=YES,
    meaning="The eviction of a pod of the namespace waits until its replacement is available.",
)

ON_DEMAND: Final[OwnersEntry[Floor]] = OwnersEntry(
    key=names.ON_DEMAND,
    on=(*WORKLOADS, "Namespace"),
    values=floor.FORMS,
    read=floor.read,
    meaning="How many replicas of the workload have to be on on-demand nodes: its floor. That of a"
    " namespace counts for its workloads without one. The default is a majority of a StatefulSet,"
    " and none of another workload.",
)

PLACEMENT: Final = OwnersEntry(
    key=names.PLACEMENT,
    on=MOVED,
    values=str(BY_TEMPLATE),
    read=BY_TEMPLATE,
    meaning="Restore writes affinity and a spread into the pod template, and the webhook leaves the"
    " workload's pods as they are.",
)

HANDOVER: Final = OwnersEntry(
    key=names.HANDOVER,
    on=("Deployment", "ReplicaSet", "Pod"),
    values=str(NEVER),
    read=NEVER,
    meaning="A pod and its replacement never run at the same time: the pod goes first.",
)

AT_DEADLINE: Final = OwnersEntry(
    key=names.AT_DEADLINE,
    on=(*WORKLOADS, "Pod"),
    values=str(AT_DEADLINES),
    read=AT_DEADLINES,
    meaning="What becomes of a pod whose disruption budget refuses its eviction until its node"
    " ends: it is deleted, which is the default and gives it its SIGTERM, or left to die with its"
    " node.",
)

GANG: Final = OwnersEntry(
    key=names.GANG,
    on=("Job",),
    values=str(GANGS),
    read=GANGS,
    meaning="The pods of the Job are of use together only.",
)

GANG_AT_NOTICE: Final = OwnersEntry(
    key=names.GANG_AT_NOTICE,
    on=(*WORKLOADS, "Pod", "PodGroup"),
    values=str(AT_NOTICES),
    read=AT_NOTICES,
    meaning="Where too few pods of a gang would stay on healthy nodes: whether all its pods go, or"
    " only those on dying nodes. The default is dying, and all where the group's disruptionMode is"
    " all.",
)

UNGATED: Final = OwnersEntry(
    key=names.GATE,
    on=(*WORKLOADS, "Pod"),
    values=str(NO),
    read=NO,
    meaning="With false, evictions of the workload's pods do not wait for replacements.",
)

OWNERS: Final[tuple[OwnersEntry[Floor] | OwnersEntry[str], ...]] = (
    MANAGED,
    GATED,
    ON_DEMAND,
    PLACEMENT,
    HANDOVER,
    AT_DEADLINE,
    GANG,
    GANG_AT_NOTICE,
    UNGATED,
)
"""What people may write."""

WRITTEN: Final = (
    # Nodes with an open notice.
    Entry(
        key=names.DOOMED,
        place=Place.LABEL,
        on=("Node",),
        values="the kind of notice",
        meaning="The node has an open notice.",
    ),
    Entry(
        key=names.DOOMED,
        place=Place.TAINT,
        on=("Node",),
        values="the kind of notice",
        meaning="NoSchedule, from the cordon on.",
    ),
    Entry(
        key=names.NOTICE,
        on=("Node",),
        values=JSON,
        meaning="The notice: its kind and cause, the deadline, and what was done to the node.",
    ),
    # Pods that are handed over, or wait for it.
    Entry(
        key=names.RELEASED_FROM,
        place=Place.LABEL,
        on=("Pod",),
        values="a pod template hash",
        meaning="The pod was released from the ReplicaSet of this hash, which made a replacement.",
    ),
    Entry(
        key=names.RELEASE,
        on=("Pod",),
        values=JSON,
        meaning="The release of the pod: why, since when, until when, and from which ReplicaSet.",
    ),
    Entry(
        key=names.ASKED,
        on=("Pod",),
        values=JSON,
        meaning="The pod's eviction waits for its turn: who asked for it, and since when.",
    ),
    Entry(
        key=names.ASKED_BEFORE,
        on=("Pod",),
        values=TIME,
        meaning="The pod was released for an eviction and put back, because nobody asked again.",
    ),
    # Workloads and pods in managed namespaces.
    Entry(
        key=names.COOLDOWN,
        on=WORKLOADS,
        values=JSON,
        meaning="A handover of the workload was rolled back: how often, and until when it rests.",
    ),
    Entry(
        key=names.CAPACITY,
        place=Place.LABEL,
        on=("Pod",),
        values="on-demand or spot",
        meaning="The capacity type that the webhook has chosen for the pod.",
    ),
    Entry(
        key=names.PLACED,
        on=("Pod",),
        values=JSON,
        meaning="What the webhook decided about the pod, and the place of a floor that it holds.",
    ),
    Entry(
        key=names.TEMPLATE,
        on=MOVED,
        values=JSON,
        meaning="What restore wrote into the workload's pod template.",
    ),
    Entry(
        key=names.FLOOR_RELAXED,
        on=MOVED,
        values=JSON,
        meaning="Until when the workload's floor may go to spot, for want of on-demand room.",
    ),
    Entry(
        key=names.RESTORED,
        on=MOVED,
        values=JSON,
        meaning="The workload's pod that restore moved last, and where to.",
    ),
    # Leases in Evenkeel's namespace.
    Entry(
        key=names.WAKE_UP_AT,
        on=("Lease",),
        values=TIME,
        meaning="On the reconciler's Lease: when the next wake-up is due that is in the queue.",
    ),
    Entry(
        key=names.SCHEDULED_AT,
        on=("Lease",),
        values=TIME,
        meaning="On the reconciler's Lease: when its schedule last invoked it.",
    ),
    Entry(
        key=names.CLOCK_AHEAD,
        on=("Lease",),
        values="seconds",
        meaning="On the reconciler's Lease: how far its holder's clock was ahead.",
    ),
    Entry(
        key=names.CLAIM_OF,
        place=Place.LABEL,
        on=("Lease",),
        values=UID,
        meaning="The Lease keeps a place of this controller's floor.",
    ),
    Entry(
        key=names.CLAIM_FOR,
        on=("Lease",),
        values=NAME,
        meaning="The controller or workload that the Lease is about, for people.",
    ),
    Entry(
        key=names.MOVE_OF,
        place=Place.LABEL,
        on=("Lease",),
        values=UID,
        meaning="The Lease tells the webhook that restore moves a pod of this controller.",
    ),
    Entry(
        key=names.MOVED_POD,
        on=("Lease",),
        values=NAME,
        meaning="The pod that is moved.",
    ),
    Entry(
        key=names.CAPACITY,
        on=("Lease",),
        values="on-demand or spot",
        meaning="The capacity type that the pod is moved to.",
    ),
    Entry(
        key=names.TAKEN_BY,
        on=("Lease",),
        values="an admission review's uid",
        meaning="The review of the new pod that the move counted for.",
    ),
    Entry(
        key=names.TEMPLATE_OF,
        place=Place.LABEL,
        on=("Lease",),
        values=UID,
        meaning="The Lease tells that restore has written this workload's pod template.",
    ),
)
"""What Evenkeel writes, and people may read."""

HONOURED: Final = (
    Entry(
        key=names.DO_NOT_DISRUPT,
        on=(*WORKLOADS, "Pod"),
        values="true, or a duration since the pod's start such as 4h",
        meaning="Karpenter's: the pod is not moved under a recommendation, a drain or a restore."
        " Evenkeel sets it on a pod while that is released.",
    ),
    Entry(
        key=names.SAFE_TO_EVICT,
        on=(*WORKLOADS, "Pod"),
        values="false",
        meaning="The cluster autoscaler's: the pod is not moved under a recommendation, a drain or"
        " a restore.",
    ),
    Entry(
        key=names.REQUEST_EVICT_ONLY,
        on=("Pod",),
        values="anything",
        meaning="The descheduler's: one request for the pod's eviction is enough.",
    ),
    Entry(
        key=names.EVICTION_IN_PROGRESS,
        on=("Pod",),
        values="anything",
        meaning="The descheduler's: Evenkeel sets it on such a pod while its eviction goes on.",
    ),
)
"""Other projects' annotations that Evenkeel follows or sets."""
