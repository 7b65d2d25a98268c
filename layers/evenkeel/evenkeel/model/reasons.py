"""Why something is decided: the words of decisions, each with what it means.

A word is what the log, Kubernetes Events, ``evenkeel explain``, ``status`` and ``restore`` call a
reason, in CamelCase as Kubernetes does.
"""

from enum import StrEnum
from typing import Final, Self

NOTICES: Final = "Notices"
NODES: Final = "Nodes"
WAYS: Final = "Which way a pod goes"
HANDOVERS: Final = "Pods that go, wait or go back"
EVICTIONS: Final = "Evictions at the gate"
PLACEMENT: Final = "New pods"
RESTORE: Final = "Workloads, for restore and status"
TEMPLATES: Final = "Workloads whose template places their pods"


class Reason(StrEnum):
    """The reasons. ``about`` is what they are given of, and ``meaning`` is for people."""

    about: str
    meaning: str

    def __new__(cls, word: str, about: str, meaning: str) -> Self:
        """A reason of this word."""
        made = str.__new__(cls, word)
        made._value_ = word
        made.about = about
        made.meaning = meaning
        return made

    SPOT_INTERRUPTION = (
        "SpotInterruption",
        NOTICES,
        "EC2 takes the spot instance back: its node is marked and cordoned.",
    )
    REBALANCE_RECOMMENDATION = (
        "RebalanceRecommendation",
        NOTICES,
        "EC2 says that the spot instance is at risk: its node is marked.",
    )
    INSTANCE_STATE_CHANGE = (
        "InstanceStateChange",
        NOTICES,
        "EC2 says that the instance ends: its node is marked and cordoned.",
    )
    CAPACITY_RECLAIMED = (
        "CapacityReclaimed",
        NOTICES,
        "EC2 takes reserved capacity back: the instance's node is marked and cordoned.",
    )
    SCHEDULED_CHANGE = (
        "ScheduledChange",
        NOTICES,
        "AWS Health announces a change of the instance, such as its retirement.",
    )
    LIFECYCLE_ACTION = (
        "LifecycleAction",
        NOTICES,
        "An Auto Scaling group terminates the instance, and waits for the lifecycle hook.",
    )
    DRAIN_ASKED = ("DrainAsked", NOTICES, "Somebody drains the node on purpose.")
    ALREADY_MARKED = ("AlreadyMarked", NOTICES, "The node's mark says as much already.")
    EXPIRED_RECOMMENDATION = (
        "ExpiredRecommendation",
        NOTICES,
        "The recommendation ran out before it was read.",
    )
    OUTLIVED = (
        "Outlived",
        NOTICES,
        "The notice's deadline is well past, and EC2 says that the instance runs.",
    )
    WITHDRAWN = ("Withdrawn", NOTICES, "AWS takes the notice back.")
    CANCELLED = ("Cancelled", NOTICES, "evenkeel cancel took the notice back.")
    UNKNOWN_INSTANCE = ("UnknownInstance", NOTICES, "EC2 knows no such instance here.")
    OTHER_CLUSTER = ("OtherCluster", NOTICES, "The instance is another cluster's.")
    NO_NODE = ("NoNode", NOTICES, "The instance is no node of this cluster.")
    NODE_BOOTING = (
        "NodeBooting",
        NOTICES,
        "The instance runs and is no node yet: the notice comes again.",
    )
    NODE_KEEPS_CHANGING = (
        "NodeKeepsChanging",
        NOTICES,
        "The node changed again and again while it was marked: the notice comes again.",
    )
    NO_ANSWER_FROM_API_SERVER = (
        "NoAnswerFromApiServer",
        NOTICES,
        "The API server refuses, or does not answer: the notice comes again.",
    )
    NO_ANSWER_FROM_EC2 = (
        "NoAnswerFromEc2",
        NOTICES,
        "EC2 refuses, or does not answer: the notice comes again.",
    )
    NO_ANSWER_FROM_AUTO_SCALING = (
        "NoAnswerFromAutoScaling",
        NOTICES,
        "EC2 Auto Scaling refuses, or does not answer: the notice comes again.",
    )
    NO_WAKE_UP = (
        "NoWakeUp",
        NOTICES,
        "The reconciler could not be woken up: the notice comes again.",
    )
    NO_LIFECYCLE_HOOK = (
        "NoLifecycleHook",
        NOTICES,
        "The group has no such lifecycle hook any more: nothing waits for it.",
    )
    NOT_SPOT = (
        "NotSpot",
        NOTICES,
        "The notice is not believed: EC2 interrupts only spot, and this instance is not.",
    )
    NOT_RESERVED = (
        "NotReserved",
        NOTICES,
        "The notice is not believed: the instance runs in no reserved capacity.",
    )
    INSTANCE_RUNNING = (
        "InstanceRunning",
        NOTICES,
        (
            "EC2 says that the instance runs. A state change is then not believed, and a minute"
            " after a warning's deadline the mark is lifted."
        ),
    )
    MALFORMED_NOTICE = (
        "MalformedNotice",
        NOTICES,
        "The event is not what it claims to be: it becomes a dead letter.",
    )
    UNKNOWN_KIND = ("UnknownKind", NOTICES, "Evenkeel does not know this kind of event.")
    HARMLESS = ("Harmless", NOTICES, "The event ends no instance.")
    PROBE_ANSWERED = (
        "ProbeAnswered",
        NOTICES,
        "The probe of every five minutes came, and the API server answered.",
    )
    PROBE_UNANSWERED = (
        "ProbeUnanswered",
        NOTICES,
        "The probe of every five minutes came, and the API server did not answer.",
    )
    PAUSED = ("Paused", NOTICES, "Evenkeel is paused.")

    UNREADABLE_NOTICE = (
        "UnreadableNotice",
        NODES,
        "The node's mark cannot be read: evenkeel cancel takes it off.",
    )
    NODE_DYING = ("NodeDying", NODES, "External load balancers stop sending to the node.")
    NO_OTHER_NODE = (
        "NoOtherNode",
        NODES,
        "No other node would remain behind external load balancers, so this one stays.",
    )
    DEADLINE_PASSED = (
        "DeadlinePassed",
        NODES,
        (
            "The deadline has passed. A node then waits for what EC2 says of its instance. A pod"
            " whose node lives goes back to its owner."
        ),
    )
    INSTANCE_ENDING = (
        "InstanceEnding",
        NODES,
        "EC2 says that the instance is stopping or shutting down.",
    )
    INSTANCE_OFF = (
        "InstanceOff",
        NODES,
        "The instance is off: its volumes are freed where pods need them, and the node is done.",
    )
    INSTANCE_UNLISTED = (
        "InstanceUnlisted",
        NODES,
        "EC2 does not list the instance. That counts when it says so again 30 s later.",
    )
    HINT_EXPIRED = (
        "HintExpired",
        NODES,
        "Nothing came of the recommendation: the mark is lifted.",
    )
    DRAIN_OVER = (
        "DrainOver",
        NODES,
        "The drain's time is up: the mark is lifted, and the cordon stays.",
    )
    DRAINED = (
        "Drained",
        NODES,
        "Nothing is left to hand over: the drain's mark is lifted, and the cordon stays.",
    )
    LIFECYCLE_ACTION_COMPLETED = (
        "LifecycleActionCompleted",
        NODES,
        "The Auto Scaling group was told that it may go on.",
    )
    LIFECYCLE_ACTION_GONE = (
        "LifecycleActionGone",
        NODES,
        "The Auto Scaling group does not wait for the lifecycle hook any more.",
    )

    MAKE_BEFORE_BREAK = (
        "MakeBeforeBreak",
        WAYS,
        "A handover: its replacement runs before it goes.",
    )
    STATEFUL_SET = (
        "StatefulSet",
        WAYS,
        "Its ordinal exists once: one ordinal at a time, the next when it is available again.",
    )
    RECREATE = (
        "Recreate",
        WAYS,
        "Its Deployment's strategy is Recreate, so two at once are ruled out: it goes at once.",
    )
    SINGLE_NODE_VOLUME = (
        "SingleNodeVolume",
        WAYS,
        "One node at a time can mount its volume, so two at once are ruled out: it goes at once.",
    )
    HANDOVER_NEVER = (
        "HandoverNever",
        WAYS,
        "The annotation evenkeel.dev/handover forbids two at once: maxUnavailable at a time.",
    )
    NO_SURGE = (
        "NoSurge",
        WAYS,
        "Its Deployment's maxSurge 0 forbids two at once: maxUnavailable at a time.",
    )
    NO_TEMPLATE_HASH = (
        "NoTemplateHash",
        WAYS,
        (
            "Its ReplicaSet does not select by the template hash, so it cannot be released:"
            " maxUnavailable at a time."
        ),
    )
    SELECTED_BY_HASH = (
        "SelectedByHash",
        WAYS,
        (
            "A Service or NetworkPolicy selects by the template hash and would lose a released pod:"
            " maxUnavailable at a time."
        ),
    )
    FOREIGN_CONTROLLER = (
        "ForeignController",
        WAYS,
        "Evenkeel does not know its controller: it goes at once, within its budget.",
    )
    JOB_MAY_FINISH = (
        "JobMayFinish",
        WAYS,
        "A Job's pod may still finish: it goes at its last moment.",
    )
    BARE_POD = (
        "BarePod",
        WAYS,
        "No controller makes it again: it goes at its last moment, and is placed by its owner.",
    )
    GANG = (
        "Gang",
        WAYS,
        "It is one of a gang: its pods go together, or stay together while their nodes live.",
    )
    PROTECTED = (
        "Protected",
        WAYS,
        "An annotation of Karpenter's or the cluster autoscaler's keeps it while its node lives.",
    )
    NAMESPACE_UNREAD = (
        "NamespaceUnread",
        WAYS,
        (
            "The budgets, Services or policies of its namespace could not be read: it stays while"
            " its node lives."
        ),
    )
    DAEMON_SET = ("DaemonSet", WAYS, "It belongs to its node: it is left.")
    STATIC_POD = ("StaticPod", WAYS, "Its kubelet owns it: it is left.")
    FINISHED = ("Finished", WAYS, "It has ended already.")
    ALREADY_LEAVING = ("AlreadyLeaving", WAYS, "It has ended, or is being deleted already.")

    NODE_DOOMED = (
        "NodeDoomed",
        HANDOVERS,
        "Its node is doomed: Evenkeel hands it over, and its workload is not moved otherwise.",
    )
    EVICTION_ASKED = (
        "EvictionAsked",
        HANDOVERS,
        "Somebody asks to evict it: it is released, so that its replacement is made first.",
    )
    REPLACEMENT_PENDING = (
        "ReplacementPending",
        HANDOVERS,
        "It is released, and its replacement is not available yet.",
    )
    REPLACEMENT_AVAILABLE = (
        "ReplacementAvailable",
        HANDOVERS,
        "Its replacement is available: it is evicted.",
    )
    CANNOT_BE_REPLACED = (
        "CannotBeReplaced",
        HANDOVERS,
        "No replacement can be made, as under a quota: it waits for its last moment, or goes back.",
    )
    WRONG_CAPACITY_TYPE = (
        "WrongCapacityType",
        HANDOVERS,
        "Its replacement is not on the capacity type that restore moves it to: it goes back.",
    )
    ROLLOUT_PENDING = (
        "RolloutPending",
        HANDOVERS,
        "It is of an old ReplicaSet, whose rollout still needs it.",
    )
    WORKLOAD_DELETED = (
        "WorkloadDeleted",
        HANDOVERS,
        "Its ReplicaSet is gone: a released pod is deleted, another goes by itself.",
    )
    SCALED_TO_ZERO = (
        "ScaledToZero",
        HANDOVERS,
        "Its workload is scaled to zero: a released pod is deleted, another goes by itself.",
    )
    LANDED_AFTER_CORDON = (
        "LandedAfterCordon",
        HANDOVERS,
        (
            "It came to its node in spite of the cordon, as its replacement might: it is released"
            " later."
        ),
    )
    LEFT_TO_DRAINER = (
        "LeftToDrainer",
        HANDOVERS,
        (
            "Its replacement is available: the drainer that asked for its eviction has 30 s to ask"
            " again."
        ),
    )
    NOT_ASKED_AGAIN = (
        "NotAskedAgain",
        HANDOVERS,
        "The drainer that asked for its eviction did not ask again: it goes back to its owner.",
    )
    BUDGET_HOLDS = (
        "BudgetHolds",
        HANDOVERS,
        "A disruption budget leaves no room for a voluntary move; at the gate the budget decides.",
    )
    COOLING_DOWN = (
        "CoolingDown",
        HANDOVERS,
        "Handovers of its workload were rolled back: no voluntary move before the cooldown ends.",
    )
    TOO_LATE_FOR_HANDOVER = (
        "TooLateForHandover",
        HANDOVERS,
        "Too little time is left for a voluntary move.",
    )
    LAST_MOMENT = (
        "LastMoment",
        HANDOVERS,
        "Its node dies and its grace period has to fit: it goes, replacement or not.",
    )
    GANG_BROKEN = (
        "GangBroken",
        HANDOVERS,
        "Too few of its gang would stay: it goes together with the others.",
    )
    BUDGET_REFUSED_AT_LAST_MOMENT = (
        "BudgetRefusedAtLastMoment",
        HANDOVERS,
        "Its budget refuses and its node dies: it is deleted, so that it gets its SIGTERM.",
    )
    AT_DEADLINE_LEAVE = (
        "AtDeadlineLeave",
        HANDOVERS,
        "Its budget refuses, and the annotation evenkeel.dev/at-deadline keeps it to the end.",
    )
    JOB_COUNTS_FAILURES = (
        "JobCountsFailures",
        HANDOVERS,
        "Its Job has a podFailurePolicy: it gets the condition DisruptionTarget before it goes.",
    )
    HANDOVER_ROLLED_BACK = (
        "HandoverRolledBack",
        HANDOVERS,
        "A voluntary handover was rolled back: its workload rests.",
    )
    UNREADABLE_RELEASE = (
        "UnreadableRelease",
        HANDOVERS,
        "The annotation of its release cannot be read: it goes back to its owner.",
    )
    NODE_GONE = (
        "NodeGone",
        HANDOVERS,
        "The node is gone: a notice about it is done, and a released pod on it is deleted.",
    )

    OWN = ("Own", EVICTIONS, "Evenkeel itself asks: it passes.")
    OBSERVED = ("Observed", EVICTIONS, "Evenkeel only observes: it passes.")
    SYSTEM_NAMESPACE = (
        "SystemNamespace",
        EVICTIONS,
        "The cluster itself needs the namespace: nothing in it is gated, placed or restored.",
    )
    NOT_GATED = (
        "NotGated",
        EVICTIONS,
        (
            "The namespace has not the label evenkeel.dev/gate, or the workload is left out: it"
            " passes."
        ),
    )
    NOT_FOUND = ("NotFound", EVICTIONS, "There is no such pod: it passes.")
    NOT_READY = ("NotReady", EVICTIONS, "The pod is not Ready and serves nobody: it passes.")
    NOT_WANTED = ("NotWanted", EVICTIONS, "Its ReplicaSet wants no pods: it passes.")
    RELEASED = (
        "Released",
        EVICTIONS,
        "The pod is released now: the eviction waits for its replacement.",
    )
    CHANGED = ("Changed", EVICTIONS, "The pod has changed meanwhile: it waits a moment.")
    CROWDED = (
        "Crowded",
        EVICTIONS,
        "Many evictions are asked for at once: it waits until it can be decided about.",
    )
    WINDOW_FULL = (
        "WindowFull",
        EVICTIONS,
        "As many pods as the window holds wait for their replacements: it waits for its turn.",
    )
    UNREADABLE = (
        "Unreadable",
        EVICTIONS,
        (
            "What it depends on could not be read. An eviction waits, or passes where a right is"
            " missing; a new pod is left as it is."
        ),
    )
    PATIENCE_OVER = (
        "PatienceOver",
        EVICTIONS,
        "No replacement was available in time: it passes, with a warning.",
    )

    IN_FLOOR = ("InFloor", PLACEMENT, "To on-demand: it is one of the floor.")
    FLOOR_HELD = ("FloorHeld", PLACEMENT, "To spot: the floor is held by others.")
    ALL_IN_FLOOR = ("AllInFloor", PLACEMENT, "To on-demand: the floor is all.")
    NO_FLOOR = ("NoFloor", PLACEMENT, "To spot: the floor is none.")
    ORDINAL_IN_FLOOR = ("OrdinalInFloor", PLACEMENT, "To on-demand: its ordinal is in the floor.")
    ORDINAL_ABOVE_FLOOR = (
        "OrdinalAboveFloor",
        PLACEMENT,
        "To spot: its ordinal is not in the floor.",
    )
    UNKNOWN_ORDINAL = ("UnknownOrdinal", PLACEMENT, "To on-demand: its ordinal is not known.")
    NOT_COUNTED = (
        "NotCounted",
        PLACEMENT,
        "To on-demand: the floor could not be counted in time.",
    )
    FLOOR_RELAXED = (
        "FloorRelaxed",
        PLACEMENT,
        "To spot: no on-demand node had room for the floor, so it may be on spot for a while.",
    )
    MOVED = ("Moved", PLACEMENT, "It replaces a pod that restore moves, and goes where that goes.")
    BY_TEMPLATE = ("ByTemplate", PLACEMENT, "Its workload's template says where it goes.")
    NOT_MANAGED = (
        "NotManaged",
        PLACEMENT,
        "The namespace has not the label evenkeel.dev/managed: nothing in it is placed or moved.",
    )
    HAS_NODE = ("HasNode", PLACEMENT, "It is for a node already.")
    UNKNOWN_CONTROLLER = (
        "UnknownController",
        PLACEMENT,
        "The size of its controller is not known: it is left as it is.",
    )
    OWNER_GONE = ("OwnerGone", PLACEMENT, "Its controller is not there: it is left as it is.")
    OWN_RULES = (
        "OwnRules",
        PLACEMENT,
        "Its own node selector or affinity excludes a capacity type: it is left as it is.",
    )
    BAD_FLOOR = (
        "BadFloor",
        PLACEMENT,
        "The annotation evenkeel.dev/on-demand makes no sense: the default counts.",
    )

    AS_WANTED = ("AsWanted", RESTORE, "Its floor is held, and all above it is on spot.")
    FLOOR_MISSING = ("FloorMissing", RESTORE, "A pod moves to on-demand: its floor misses it.")
    ABOVE_FLOOR = (
        "AboveFloor",
        RESTORE,
        "More than its floor are on on-demand nodes: a pod moves to spot.",
    )
    BELOW_FLOOR = ("BelowFloor", RESTORE, "Fewer than its floor are on on-demand nodes.")
    NO_ROOM = ("NoRoom", RESTORE, "Pods of its floor wait for a node: add on-demand capacity.")
    FLOOR_NOT_READY = (
        "FloorNotReady",
        RESTORE,
        "Pods of its floor are not Ready: none leaves on-demand nodes.",
    )
    FLOOR_UNREADABLE = ("FloorUnreadable", RESTORE, "Its floor makes no sense: the default counts.")
    EVICTIONS_WAIT = ("EvictionsWait", RESTORE, "Evictions of its pods wait at the gate.")
    MOVING = ("Moving", RESTORE, "A pod of it is being handed over: one at a time.")
    NOBODY_TO_MOVE = ("NobodyToMove", RESTORE, "None of its pods is where a move would begin.")
    NO_ROOM_ON_SPOT = ("NoRoomOnSpot", RESTORE, "No spot node has room for one of its pods.")
    NO_ROOM_ON_DEMAND = (
        "NoRoomOnDemand",
        RESTORE,
        "No on-demand node has room for one of its pods.",
    )
    NO_ROOM_FOR_GANG = ("NoRoomForGang", RESTORE, "Not all pods of the gang find room.")
    GANG_TOO_LARGE = ("GangTooLarge", RESTORE, "The gang has more pods than one run moves.")
    NOT_ALL_AVAILABLE = (
        "NotAllAvailable",
        RESTORE,
        "Not all pods of the StatefulSet are available: none is moved.",
    )
    SINGLE_BY_DEFAULT = (
        "SingleByDefault",
        RESTORE,
        "The StatefulSet's only pod is restarted only where its owner asks for a floor.",
    )
    UPDATE_ON_DELETE = (
        "UpdateOnDelete",
        RESTORE,
        "The pod would come back with a newer template, and its owner says when.",
    )
    PODS_WAIT = ("PodsWait", RESTORE, "Pods of it wait for a node.")
    ROLLOUT_PAUSED = ("RolloutPaused", RESTORE, "Its rollouts are paused.")
    IN_ROLLOUT = ("InRollout", RESTORE, "It is in a rollout, or being scaled.")
    MOVE_DID_NOT_LAST = (
        "MoveDidNotLast",
        RESTORE,
        "Fewer of its pods are on spot than the last move made: it rests.",
    )
    BUDGET_OF_RUN = (
        "BudgetOfRun",
        RESTORE,
        "This run moves as many pods as it may: its turn comes in a later one.",
    )
    FLOOR_HELD_AGAIN = (
        "FloorHeldAgain",
        RESTORE,
        "An on-demand node has room, or no pod is missing there: its floor holds again.",
    )
    MOVE_IS_OVER = (
        "MoveIsOver",
        RESTORE,
        "The pod was made for a move that is over, and finds no place: another is made.",
    )

    TEMPLATE_WRITTEN = ("TemplateWritten", TEMPLATES, "Its template is written for the first time.")
    TEMPLATE_FOLLOWS_FLOOR = (
        "TemplateFollowsFloor",
        TEMPLATES,
        "Its floor was changed, so its template is written.",
    )
    TEMPLATE_FOLLOWS_SIZE = (
        "TemplateFollowsSize",
        TEMPLATES,
        "Its size was changed, so its template is written.",
    )
    TEMPLATE_FOLLOWS_LABELS = (
        "TemplateFollowsLabels",
        TEMPLATES,
        "Other capacity labels count now, so its template is written.",
    )
    TEMPLATE_FOLLOWS_LABEL = (
        "TemplateFollowsLabel",
        TEMPLATES,
        "Another label is on all nodes now, so its spread goes by that.",
    )
    SPREAD_DROPPED = (
        "SpreadDropped",
        TEMPLATES,
        "No spot node takes its pods: the spread is dropped, so that they do not wait for one.",
    )
    SPREAD_PUT_BACK = (
        "SpreadPutBack",
        TEMPLATES,
        "Spot nodes take its pods again: the spread is put back.",
    )
    TEMPLATE_RESTS = (
        "TemplateRests",
        TEMPLATES,
        "Spot is back: the spread is put back ten minutes after the last write at the earliest.",
    )
    NO_SPOT = (
        "NoSpot",
        TEMPLATES,
        "No spot node takes its pods: the spread is put back when one does.",
    )
    ROLLING_OUT = ("RollingOut", TEMPLATES, "Its rollout is under way.")
    MADE_BY_OLD_TEMPLATE = (
        "MadeByOldTemplate",
        TEMPLATES,
        "The pod waits for a node by an older template: another is made by the present one.",
    )
    TEMPLATE_FELL_SHORT = (
        "TemplateFellShort",
        TEMPLATES,
        (
            "Pods of its floor are not on on-demand, although its template asks for it: restart its"
            " rollout."
        ),
    )
    TEMPLATE_UNDONE = (
        "TemplateUndone",
        TEMPLATES,
        "Another tool takes out of its template what restore adds: it is not written again.",
    )
    TEMPLATE_TAKEN_OFF = (
        "TemplateTakenOff",
        TEMPLATES,
        "Its owner does not want this any more: what restore added is taken off.",
    )
    TEMPLATE_FORGOTTEN = (
        "TemplateForgotten",
        TEMPLATES,
        "Its owner does not want this any more: the note about it is taken off.",
    )
    ON_DELETE = (
        "OnDelete",
        TEMPLATES,
        "Its update strategy is OnDelete, so nothing would roll its template out.",
    )
    PARTITION = (
        "Partition",
        TEMPLATES,
        "Its update has a partition, so its rollout would stop half-way.",
    )
    NO_COMMON_LABEL = (
        "NoCommonLabel",
        TEMPLATES,
        "No capacity label is on all nodes that its pods may go to: label them.",
    )
    OWN_SPREAD = (
        "OwnSpread",
        TEMPLATES,
        "Its template spreads its pods over the capacity label already.",
    )
