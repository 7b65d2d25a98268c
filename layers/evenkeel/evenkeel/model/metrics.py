"""What Evenkeel counts: the name of each metric in CloudWatch, its unit, what one of it means."""

from enum import StrEnum
from typing import Final, Self

COUNT: Final = "Count"
MILLISECONDS: Final = "Milliseconds"


class Metric(StrEnum):
    """The metrics. ``unit`` is one of CloudWatch's; ``meaning`` is one sentence for people."""

    unit: str
    meaning: str

    def __new__(cls, name: str, meaning: str, unit: str = COUNT) -> Self:
        """A metric of this name."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.unit = unit
        made.meaning = meaning
        return made

    # Notices.

    NOTICES_RECEIVED = "NoticesReceived", "Notices that arrived, each time."
    NOTICES_FOREIGN = "NoticesForeign", "Notices about instances of other clusters."
    NOTICES_MALFORMED = "NoticesMalformed", "Events that could not be read as what they claim."
    NOTICES_UNKNOWN = "NoticesUnknown", "Events of kinds that Evenkeel does not know."
    NOTICES_REFUSED = "NoticesRefused", "Notices that are not true of their instance."
    NOTICES_RETRIED = "NoticesRetried", "Notices that come again: something did not answer."
    NOTICE_DELAY = (
        "NoticeDelay",
        "From the time in an event to the mark on its node.",
        MILLISECONDS,
    )
    PROBES_ANSWERED = "ProbesAnswered", "Probes that the API server answered."
    PROBES_PAUSED = "ProbesPaused", "Probes that found Evenkeel paused."
    WAKE_UPS_MALFORMED = "WakeUpsMalformed", "Wake-ups that could not be read."

    # Nodes.

    NODES_MARKED = "NodesMarked", "Marks written to nodes."
    NODES_CORDONED = "NodesCordoned", "Nodes that were cordoned."
    NODES_EXCLUDED = "NodesExcluded", "Nodes taken out of external load balancers."
    NODES_LIFTED = "NodesLifted", "Marks taken off nodes."
    NODES_OUT_OF_SERVICE = "NodesOutOfService", "Nodes with the out-of-service taint."

    # Pods that are drained.

    PODS_RELEASED = "PodsReleased", "Pods taken out of their ReplicaSets, to be replaced first."
    PODS_HANDED_OVER = "PodsHandedOver", "Pods evicted after their replacement was available."
    PODS_UNREPLACED = "PodsUnreplaced", "Pods evicted or deleted before one was available."
    PODS_ROLLED_BACK = "PodsRolledBack", "Released pods that went back to their owners."
    PLANS_FAILED = (
        "PlansFailed",
        "Workloads that could not be planned for, each time: only deadlines are kept for them.",
    )
    EVICTIONS_REFUSED = "EvictionsRefused", "Evictions that a disruption budget refused."

    # Writes of the reconciler and of restore.

    WRITES_CONFLICTED = "WritesConflicted", "Writes to objects that had changed meanwhile."
    WRITES_THROTTLED = "WritesThrottled", "Writes that the API server put off."
    WRITES_UNANSWERED = "WritesUnanswered", "Writes without an answer."
    WRITES_FAILED = "WritesFailed", "Writes that the API server refused."
    WRITES_REFUSED = (
        "WritesRefused",
        "Objects whose writes are not taken: refused or undone each time, by a policy or webhook.",
    )
    OTHER_WRITES = "OtherWrites", "Accepted writes that have no metric of their own."

    # What is told.

    NOTIFICATIONS_SENT = "NotificationsSent", "Notifications about interruptions that were taken."
    NOTIFICATIONS_FAILED = (
        "NotificationsFailed",
        "Notifications about interruptions that nothing took, each time: they are sent again.",
    )

    # The API server.

    CLUSTER_FORBIDDEN = "ClusterForbidden", "Reads refused to the role (401, 403)."
    CLUSTER_UNREACHABLE = "ClusterUnreachable", "Reads that the API server did not answer."
    LIFECYCLE_CALLS_FAILED = (
        "LifecycleCallsFailed",
        "Calls of EC2 Auto Scaling about lifecycle hooks that came to nothing.",
    )
    LEASE_REFUSED = "LeaseRefused", "Invocations that could not use the Lease."
    WATCHES_REFUSED = "WatchesRefused", "Watches that the API server refused."
    OBJECTS_LEFT_OUT = (
        "ObjectsLeftOut",
        "Objects that could not be read and were left out, each time.",
    )
    KINDS_NOT_SERVED = (
        "KindsNotServed",
        "Lists of a kind of which the API server serves no version that Evenkeel knows.",
    )
    EVENTS_LEFT_OUT = "EventsLeftOut", "Kubernetes Events that were not recorded."
    LOG_LINES_LOST = "LogLinesLost", "Times that a process could not write its log."

    # Placement and the gate.

    PODS_PLACED_ON_DEMAND = "PodsPlacedOnDemand", "New pods told to go to on-demand nodes."
    PODS_PLACED_ON_SPOT = "PodsPlacedOnSpot", "New pods told to prefer spot nodes."
    PODS_LEFT = "PodsLeft", "New pods left as they are."
    EXTENDER_UNANSWERED = (
        "ExtenderUnanswered",
        "Questions of the scheduler that it had to go on without.",
    )
    PLACEMENTS_NOT_COUNTED = (
        "PlacementsNotCounted",
        "New pods that could not be counted in time, and so went to on-demand nodes.",
    )
    PLACEMENTS_FAILED = "PlacementsFailed", "New pods left as they are, for something failed."
    CLAIMS_SWEPT = "ClaimsSwept", "Claims of places that ran out."
    REVIEWS_REFUSED = "ReviewsRefused", "HTTP requests that were no review."
    EVICTIONS_DEFERRED = "EvictionsDeferred", "Others' evictions that the gate put off."
    EVICTIONS_PASSED = "EvictionsPassed", "Others' evictions that the gate let pass."
    GATE_FAILED = "GateFailed", "Evictions that passed, for something failed."

    # Restore.

    WORKLOADS_AS_WANTED = "WorkloadsAsWanted", "Workloads whose pods are where they should be."
    MOVES_BEGUN = "MovesBegun", "Pods that restore released to be replaced elsewhere."
    MOVES_FAILED = "MovesFailed", "Workloads that rest after a move that went back."
    MOVES_SWEPT = "MovesSwept", "Notes of moves that ended."
    TRACES_SWEPT = "TracesSwept", "Notes about templates of workloads that are gone."
    ORDINALS_MOVED = "OrdinalsMoved", "Pods of StatefulSets that were evicted to be moved."
    FLOORS_RELAXED = "FloorsRelaxed", "Floors that wait for on-demand nodes, and went to spot."
    FLOORS_HELD_AGAIN = "FloorsHeldAgain", "Floors that hold again after that."
    PODS_MADE_ANEW = "PodsMadeAnew", "Pods without a place, deleted to be placed again."
    TEMPLATES_WRITTEN = "TemplatesWritten", "Pod templates that restore wrote."
    RESTORES_OVERTAKEN = "RestoresOvertaken", "Steps that another's write came before."
