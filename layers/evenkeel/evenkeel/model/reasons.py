"""Why something is decided: the words of decisions.

A word is what the log, Kubernetes Events, ``evenkeel explain``, ``status`` and ``restore`` call a
reason, in CamelCase as Kubernetes does. docs/reference/reasons.md shows what stands below each one.
"""

from enum import StrEnum


class Reason(StrEnum):
    """The reasons, in the order of docs/reference/reasons.md."""

    # Notices.

    SPOT_INTERRUPTION = "SpotInterruption"
    """EC2 takes the spot instance back: its node is marked and cordoned."""

    REBALANCE_RECOMMENDATION = "RebalanceRecommendation"
    """EC2 says that the spot instance is at risk: its node is marked."""

    INSTANCE_STATE_CHANGE = "InstanceStateChange"
    """EC2 says that the instance ends: its node is marked and cordoned."""

    CAPACITY_RECLAIMED = "CapacityReclaimed"
    """EC2 takes reserved capacity back: the instance's node is marked and cordoned."""

    SCHEDULED_CHANGE = "ScheduledChange"
    """AWS Health announces a change of the instance, such as its retirement."""

    LIFECYCLE_ACTION = "LifecycleAction"
    """An Auto Scaling group terminates the instance, and waits for the lifecycle hook."""

    DRAIN_ASKED = "DrainAsked"
    """Somebody drains the node on purpose."""

    ALREADY_MARKED = "AlreadyMarked"
    """The node's mark says as much already."""

    EXPIRED_RECOMMENDATION = "ExpiredRecommendation"
    """The recommendation ran out before it was read."""

    OUTLIVED = "Outlived"
    """The notice's deadline is well past, and EC2 says that the instance runs."""

    WITHDRAWN = "Withdrawn"
    """AWS takes the notice back."""

    CANCELLED = "Cancelled"
    """evenkeel cancel took the notice back."""

    UNKNOWN_INSTANCE = "UnknownInstance"
    """EC2 lists no such instance here, and it is no node."""

    OTHER_CLUSTER = "OtherCluster"
    """The instance is another cluster's."""

    NO_NODE = "NoNode"
    """The instance is no node of this cluster."""

    NODE_BOOTING = "NodeBooting"
    """The instance runs and is no node yet: the notice comes again."""

    NODE_KEEPS_CHANGING = "NodeKeepsChanging"
    """The node changed again and again while it was marked: the notice comes again."""

    NO_ANSWER_FROM_API_SERVER = "NoAnswerFromApiServer"
    """The API server refuses, or does not answer: the notice comes again."""

    NO_ANSWER_FROM_EC2 = "NoAnswerFromEc2"
    """EC2 refuses, or does not answer: the notice comes again."""

    NO_ANSWER_FROM_AUTO_SCALING = "NoAnswerFromAutoScaling"
    """EC2 Auto Scaling refuses, or does not answer: the notice comes again."""

    NO_WAKE_UP = "NoWakeUp"
    """The reconciler could not be woken up: the notice comes again."""

    NO_LIFECYCLE_HOOK = "NoLifecycleHook"
    """The group has no such lifecycle hook any more: nothing waits for it."""

    NOT_SPOT = "NotSpot"
    """The notice is not believed: EC2 interrupts only spot, and this instance is not."""

    NOT_RESERVED = "NotReserved"
    """The notice is not believed: the instance runs in no reserved capacity."""

    INSTANCE_RUNNING = "InstanceRunning"
    """EC2 says that the instance runs. A state change is then not believed, and a minute after a
    warning's deadline the mark is lifted.
    """

    MALFORMED_NOTICE = "MalformedNotice"
    """The event is not what it claims to be: it becomes a dead letter."""

    UNKNOWN_KIND = "UnknownKind"
    """Evenkeel does not know this kind of event."""

    HARMLESS = "Harmless"
    """The event ends no instance."""

    PROBE_ANSWERED = "ProbeAnswered"
    """The probe of every five minutes came, and the API server answered."""

    PROBE_UNANSWERED = "ProbeUnanswered"
    """The probe of every five minutes came, and the API server did not answer."""

    PAUSED = "Paused"
    """Evenkeel is paused."""

    # Nodes.

    UNREADABLE_NOTICE = "UnreadableNotice"
    """The node's mark cannot be read: evenkeel cancel takes it off."""

    NODE_DYING = "NodeDying"
    """External load balancers stop sending to the node."""

    NO_OTHER_NODE = "NoOtherNode"
    """No other node would remain behind external load balancers, so this one stays."""

    DEADLINE_PASSED = "DeadlinePassed"
    """The deadline has passed. A node then waits for what EC2 says of its instance. A pod whose
    node lives goes back to its owner.
    """

    INSTANCE_ENDING = "InstanceEnding"
    """EC2 says that the instance is stopping or shutting down."""

    INSTANCE_OFF = "InstanceOff"
    """The instance is off: its volumes are freed where pods need them, and the node is done."""

    INSTANCE_UNLISTED = "InstanceUnlisted"
    """EC2 does not list the instance. After a warning that counts as its end when EC2 says so again
    30 s later. A notice that EC2 would have to confirm is not believed.
    """

    HINT_EXPIRED = "HintExpired"
    """Nothing came of the recommendation: the mark is lifted."""

    DRAIN_OVER = "DrainOver"
    """The drain's time is up: the mark is lifted, and the cordon stays."""

    DRAINED = "Drained"
    """Nothing is left to hand over: the drain's mark is lifted, and the cordon stays."""

    LIFECYCLE_ACTION_COMPLETED = "LifecycleActionCompleted"
    """The Auto Scaling group was told that it may go on."""

    LIFECYCLE_ACTION_GONE = "LifecycleActionGone"
    """The Auto Scaling group does not wait for the lifecycle hook any more."""

    # Which way a pod goes.

    MAKE_BEFORE_BREAK = "MakeBeforeBreak"
    """A handover: its replacement runs before it goes."""

    STATEFUL_SET = "StatefulSet"
    """Its ordinal exists once: one ordinal at a time, the next when it is available again."""

    RECREATE = "Recreate"
    """Its Deployment's strategy is Recreate, so two at once are ruled out: it goes at once."""

    SINGLE_NODE_VOLUME = "SingleNodeVolume"
    """One node at a time can mount its volume, so two at once are ruled out: it goes at once."""

    HANDOVER_NEVER = "HandoverNever"
    """The annotation evenkeel.dev/handover forbids two at once: maxUnavailable at a time."""

    NO_SURGE = "NoSurge"
    """Its Deployment's maxSurge 0 forbids two at once: maxUnavailable at a time."""

    NO_TEMPLATE_HASH = "NoTemplateHash"
    """Its ReplicaSet does not select by the template hash, so it cannot be released: maxUnavailable
    at a time.
    """

    LIVE_MIGRATION = "LiveMigration"
    """The label `paguro.dev/migratable` has it moved alive once its eviction is asked for, so it is
    not released: maxUnavailable at a time.
    """

    NO_DEPLOYMENT = "NoDeployment"
    """No Deployment made its ReplicaSet, so another controller could adopt a released pod:
    maxUnavailable at a time.
    """

    RELEASE_REFUSED = "ReleaseRefused"
    """A policy or webhook refuses or undoes releases of its workload: maxUnavailable at a time, and
    none on a hint. At the gate the eviction passes.
    """

    SELECTED_BY_HASH = "SelectedByHash"
    """A Service or NetworkPolicy selects by the template hash and would lose a released pod:
    maxUnavailable at a time.
    """

    FOREIGN_CONTROLLER = "ForeignController"
    """Its controller makes no pod before one has gone, as far as Evenkeel knows: it goes at once
    within a budget, and one at a time without one.
    """

    JOB_MAY_FINISH = "JobMayFinish"
    """A Job's pod may still finish: it goes at its last moment."""

    BARE_POD = "BarePod"
    """No controller makes it again: it goes at its last moment. The webhook leaves it, where
    neither its floor nor its namespace's is all or none.
    """

    GANG = "Gang"
    """It is one of a gang: its pods go together, or stay together while their nodes live."""

    PROTECTED = "Protected"
    """An annotation of Karpenter's or the cluster autoscaler's keeps it while its node lives."""

    NAMESPACE_UNREAD = "NamespaceUnread"
    """The budgets, Services or policies of its namespace could not be read: it stays while its node
    lives.
    """

    RETURNS_TO_NODE = "ReturnsToNode"
    """What replaces it would come to the same node: it tolerates what keeps others off, or is bound
    to the node. It stays on a hint, and goes at its last moment on a warning.
    """

    NO_PLACE = "NoPlace"
    """No node is known that would take its next pod: it stays on a hint. Of a released pod: the
    scheduler finds no node for its replacement. Where none comes beside it, it goes in its turn,
    and passes the gate in it.
    """

    SEAT_WANTED = "SeatWanted"
    """A seat is made for the pod's next one: a pod of Evenkeel's own that keeps room for it."""

    SEAT_PENDING = "SeatPending"
    """The pod serves until the seat for its next one is ready, or its turn comes in any case."""

    SEAT_TAKEN = "SeatTaken"
    """The room of a seat is kept for the next pod in its place until that has it."""

    SEAT_NOT_NEEDED = "SeatNotNeeded"
    """The seat goes: the next pod is there to take its room, or none will come."""

    DAEMON_SET = "DaemonSet"
    """It belongs to its node: it is left."""

    STATIC_POD = "StaticPod"
    """Its kubelet owns it: it is left."""

    FINISHED = "Finished"
    """It has ended already."""

    ALREADY_LEAVING = "AlreadyLeaving"
    """It has ended, or is being deleted already."""

    # Pods that go, wait or go back.

    NODE_DOOMED = "NodeDoomed"
    """Its node is doomed: Evenkeel hands it over, and its workload is not moved otherwise."""

    EVICTION_ASKED = "EvictionAsked"
    """Somebody asks to evict it: it is released, so that its replacement is made first."""

    REPLACEMENT_PENDING = "ReplacementPending"
    """It is released, and its replacement is not available yet."""

    REPLACEMENT_SETTLES = "ReplacementSettles"
    """It is released, and its replacement is Ready: what sends it requests is about to know it."""

    REPLACEMENT_FAILS = "ReplacementFails"
    """It is released, and its replacement does not start: the message has the kubelet's word, such
    as CrashLoopBackOff or ImagePullBackOff.
    """

    REPLACEMENT_AVAILABLE = "ReplacementAvailable"
    """Its replacement is available: it is evicted."""

    CRASHED_BESIDE = "CrashedBeside"
    """It crashes again and again beside a pod of its ReplicaSet that may hold a lock. That one goes
    now, so it is deleted, and another one starts without a back-off.
    """

    CANNOT_BE_REPLACED = "CannotBeReplaced"
    """No replacement can be made, as under a quota: it waits for its last moment, or goes back."""

    QUOTA_REFUSES = "QuotaRefuses"
    """A quota allows no second pod beside it: the pods of its ReplicaSet go in turns, each new one
    in the place of an old one.
    """

    WRONG_CAPACITY_TYPE = "WrongCapacityType"
    """Its replacement is not on the capacity type, or outside the pools, that restore moves it to:
    it goes back.
    """

    ROLLOUT_PENDING = "RolloutPending"
    """It is of an old ReplicaSet, whose rollout still needs it."""

    WORKLOAD_DELETED = "WorkloadDeleted"
    """Its ReplicaSet is gone: a released pod is deleted, another goes by itself."""

    SCALED_TO_ZERO = "ScaledToZero"
    """Its workload is scaled to zero: a released pod is deleted, another goes by itself."""

    LANDED_AFTER_CORDON = "LandedAfterCordon"
    """It came to its node in spite of the cordon, as its replacement might: it is released later.
    """

    LEFT_TO_DRAINER = "LeftToDrainer"
    """Its replacement is available: the drainer that asked for its eviction has 30 s to ask again.
    """

    NOT_ASKED_AGAIN = "NotAskedAgain"
    """The drainer that asked for its eviction did not ask again: it goes back to its owner."""

    BUDGET_HOLDS = "BudgetHolds"
    """A disruption budget leaves no room for a voluntary move; at the gate the budget decides."""

    COOLING_DOWN = "CoolingDown"
    """Handovers of its workload were rolled back: no voluntary move before the cooldown ends. Or
    only a recommendation would move a StatefulSet's pod, which is younger than six hours.
    """

    TOO_LATE_FOR_HANDOVER = "TooLateForHandover"
    """Too little time is left for a voluntary move."""

    NODE_END_TOLD = "NodeEndTold"
    """It asks when its node ends, and is told by the annotation evenkeel.dev/node-ends-at and the
    condition DisruptionTarget.
    """

    LAST_MOMENT = "LastMoment"
    """Its node dies and its grace period has to fit: it goes, replacement or not."""

    GANG_BROKEN = "GangBroken"
    """Too few of its gang would stay: it goes together with the others."""

    BUDGET_REFUSED_AT_LAST_MOMENT = "BudgetRefusedAtLastMoment"
    """Its budget refuses and its node dies: it is deleted, so that it gets its SIGTERM."""

    EVICTION_REFUSED_AT_LAST_MOMENT = "EvictionRefusedAtLastMoment"
    """A policy or webhook denies its eviction and its node dies: it is deleted, so that it gets its
    SIGTERM.
    """

    WRITE_REFUSED = "WriteRefused"
    """A policy or webhook refuses a write each time, or undoes it: told once, with its words."""

    AT_DEADLINE_LEAVE = "AtDeadlineLeave"
    """Its eviction is refused, and the annotation evenkeel.dev/at-deadline keeps it to the end."""

    JOB_COUNTS_FAILURES = "JobCountsFailures"
    """Its Job has a podFailurePolicy: it gets the condition DisruptionTarget before it goes."""

    HANDOVER_ROLLED_BACK = "HandoverRolledBack"
    """A voluntary handover was rolled back: its workload rests."""

    UNREADABLE_RELEASE = "UnreadableRelease"
    """The annotation of its release cannot be read: it goes back to its owner."""

    NODE_GONE = "NodeGone"
    """The node is gone: a notice about it is done, and a released pod on it is deleted."""

    # Evictions at the gate.

    OWN = "Own"
    """Evenkeel itself asks: it passes."""

    OBSERVED = "Observed"
    """Evenkeel only observes: it passes."""

    SYSTEM_NAMESPACE = "SystemNamespace"
    """The cluster itself needs the namespace: nothing in it is gated, placed or restored."""

    NOT_GATED = "NotGated"
    """The namespace has not the label evenkeel.dev/gate, or the workload is left out: it passes."""

    NOT_FOUND = "NotFound"
    """There is no such pod: it passes."""

    NOT_READY = "NotReady"
    """The pod is not Ready and serves nobody: it passes."""

    NOT_WANTED = "NotWanted"
    """Its ReplicaSet wants no pods: it passes."""

    RELEASED = "Released"
    """The pod is released now: the eviction waits for its replacement."""

    CHANGED = "Changed"
    """The pod has changed meanwhile: it waits a moment."""

    CROWDED = "Crowded"
    """Many evictions are asked for at once: it waits until it can be decided about."""

    WINDOW_FULL = "WindowFull"
    """As many pods as the window holds wait for their replacements: it waits for its turn."""

    UNREADABLE = "Unreadable"
    """What it depends on could not be read. An eviction waits, or passes where a right is missing;
    a new pod is left as it is.
    """

    PATIENCE_OVER = "PatienceOver"
    """No replacement was available in time: it passes, with a warning."""

    # New pods.

    IN_FLOOR = "InFloor"
    """To on-demand: it is one of the floor."""

    FLOOR_HELD = "FloorHeld"
    """To spot: the floor is held by others."""

    ALL_IN_FLOOR = "AllInFloor"
    """To on-demand: the floor is all."""

    NO_FLOOR = "NoFloor"
    """To spot: the floor is none."""

    ORDINAL_IN_FLOOR = "OrdinalInFloor"
    """To on-demand: its ordinal is in the floor."""

    ORDINAL_ABOVE_FLOOR = "OrdinalAboveFloor"
    """To spot: its ordinal is not in the floor."""

    UNKNOWN_ORDINAL = "UnknownOrdinal"
    """To on-demand: its ordinal is not known."""

    NOT_COUNTED = "NotCounted"
    """To on-demand: the floor could not be counted in time."""

    FLOOR_RELAXED = "FloorRelaxed"
    """To spot: no on-demand node had room for the floor, so it may be on spot for a while."""

    MOVED = "Moved"
    """It replaces a pod that restore moves, and goes where that goes."""

    BY_TEMPLATE = "ByTemplate"
    """Its workload's template says where it goes."""

    NOT_MANAGED = "NotManaged"
    """The namespace has not the label evenkeel.dev/managed: nothing in it is placed or moved."""

    HAS_NODE = "HasNode"
    """It is for a node already."""

    UNKNOWN_CONTROLLER = "UnknownController"
    """The size of its controller is not known: it is left as it is, where neither its floor nor its
    namespace's is all or none.
    """

    OWNER_GONE = "OwnerGone"
    """Its controller is not there: it is left as it is."""

    OWN_RULES = "OwnRules"
    """Its own node selector or affinity excludes a capacity type: it is left as it is."""

    BAD_FLOOR = "BadFloor"
    """The annotation evenkeel.dev/on-demand makes no sense: that of the pod template or the
    namespace counts, and without one no pod is moved, and new ones prefer on-demand.
    """

    # Workloads, for restore and status.

    AS_WANTED = "AsWanted"
    """Its floor is held, and all above it is on spot."""

    FLOOR_MISSING = "FloorMissing"
    """A pod moves to on-demand: its floor misses it."""

    ABOVE_FLOOR = "AboveFloor"
    """More than its floor are on on-demand nodes: a pod moves to spot."""

    BELOW_FLOOR = "BelowFloor"
    """Fewer than its floor are on on-demand nodes."""

    NO_ROOM = "NoRoom"
    """Pods of its floor wait for a node, and the scheduler has looked at the nodes: add on-demand
    capacity.
    """

    FLOOR_NOT_READY = "FloorNotReady"
    """Pods of its floor are not Ready: none leaves on-demand nodes."""

    FLOOR_UNREADABLE = "FloorUnreadable"
    """Its floor makes no sense: the default counts."""

    POOL_TOO_FULL = "PoolTooFull"
    """One pool of spot nodes has more of its pods than the annotation evenkeel.dev/one-pool-at-most
    says: a pod moves to another pool, or the message says why none does.
    """

    POOLS_TOO_FEW = "PoolsTooFew"
    """The same, and the cluster has too few pools for its pods on spot: add instance types or
    zones.
    """

    POOLS_FULL = "PoolsFull"
    """Which pools have as many of its pods as one is to have is noted on it: new pods prefer
    others.
    """

    SPREAD_COUNTS_RELEASED = "SpreadCountsReleased"
    """A hard spread of its pods counts those that are handed over, so that a drain leaves it
    uneven: the message says what to add to it.
    """

    FLOOR_IN_FEW_DOMAINS = "FloorInFewDomains"
    """On-demand nodes are in fewer domains than a hard spread of its pods is over. New pods of its
    floor are spread over these alone, or wait: the message says which, and what helps.
    """

    EVICTIONS_WAIT = "EvictionsWait"
    """Evictions of its pods wait at the gate."""

    MOVING = "Moving"
    """A pod of it is being handed over: one at a time."""

    NOBODY_TO_MOVE = "NobodyToMove"
    """None of its pods is where a move would begin."""

    NO_ROOM_ON_SPOT = "NoRoomOnSpot"
    """No spot node has room for one of its pods, or none can be seen, and no new node is asked for:
    the cluster rests after a warning or a failure, or the run looks at one namespace only, or
    workloads of this kind move only where there is room.
    """

    SPOT_RESTS = "SpotRests"
    """After a warning, or a pod that went back, no pod goes to spot without room for so long."""

    SPOT_REST_OVER = "SpotRestOver"
    """The cluster does not rest: pods begin to go to spot without room, or one that did so has
    arrived.
    """

    NO_NODE_TAKES_IT = "NoNodeTakesIt"
    """Nodes of the capacity type are there, and none takes one of its pods, however much room it
    had: the message names the taints, the node selector or affinity, or the volume. No pod moves.
    """

    NO_ROOM_ON_DEMAND = "NoRoomOnDemand"
    """No on-demand node has room for one of its pods."""

    NOT_ON_EC2 = "NotOnEc2"
    """Its pod is on a node that no EC2 instance runs, such as one of Fargate, a hybrid one, or one
    of another cloud. No notice can be about it, and Evenkeel moves no pod from there or to there.
    """

    OTHER_SCHEDULER = "OtherScheduler"
    """Its pods name a scheduler of which it is not known whether it goes by node affinity, and
    nobody asked for a floor; or that of Fargate, which does not. They are neither placed nor moved.
    """

    NO_ROOM_FOR_GANG = "NoRoomForGang"
    """Not all pods of the gang find room."""

    GANG_TOO_LARGE = "GangTooLarge"
    """The gang has more pods than one run moves."""

    NOT_ALL_AVAILABLE = "NotAllAvailable"
    """Not all pods of the StatefulSet are available: none is moved."""

    DEFAULT_FLOOR = "DefaultFloor"
    """Nobody asked for the StatefulSet's floor: its new pods prefer on-demand by default, and none
    is restarted for it.
    """

    NOTHING_PLACES = "NothingPlaces"
    """Nothing would place the pod that is made for a moved one: no webhook is asked about the
    namespace's pods and no policy places them, or that cannot be read.
    """

    POLICY_CANNOT_TELL = "PolicyCannotTell"
    """The [admission policy](../placement.md#by-an-admission-policy) places the workload's pods,
    and does not see what its owner asks for: the message says what to write.
    """

    UPDATE_ON_DELETE = "UpdateOnDelete"
    """The pod would come back with a newer template, and its owner says when."""

    PODS_WAIT = "PodsWait"
    """Pods of it wait for a node: the message has the words of the scheduler, or of what keeps it
    from looking.
    """

    ROLLOUT_PAUSED = "RolloutPaused"
    """Its rollouts are paused."""

    IN_ROLLOUT = "InRollout"
    """It is in a rollout, or being scaled."""

    MOVE_DID_NOT_LAST = "MoveDidNotLast"
    """Fewer of its pods are on spot than the last move made: it rests."""

    BUDGET_OF_RUN = "BudgetOfRun"
    """This run moves as many pods as it may: its turn comes in a later one."""

    FLOOR_HELD_AGAIN = "FloorHeldAgain"
    """An on-demand node has room, or no pod is missing there: its floor holds again."""

    MOVE_IS_OVER = "MoveIsOver"
    """The pod was made for a move that is over, and finds no place: another is made."""

    # Workloads whose template places their pods.

    TEMPLATE_WRITTEN = "TemplateWritten"
    """Its template is written for the first time."""

    TEMPLATE_FOLLOWS_FLOOR = "TemplateFollowsFloor"
    """Its floor was changed, so its template is written."""

    TEMPLATE_FOLLOWS_SIZE = "TemplateFollowsSize"
    """Its size was changed, so its template is written."""

    TEMPLATE_FOLLOWS_LABELS = "TemplateFollowsLabels"
    """Other capacity labels count now, so its template is written."""

    TEMPLATE_FOLLOWS_LABEL = "TemplateFollowsLabel"
    """Another label is on all nodes now, so its spread goes by that."""

    SPREAD_DROPPED = "SpreadDropped"
    """No spot node takes its pods: the spread is dropped, so that they do not wait for one."""

    SPREAD_PUT_BACK = "SpreadPutBack"
    """Spot nodes take its pods again: the spread is put back."""

    TEMPLATE_RESTS = "TemplateRests"
    """Spot is back: the spread is put back ten minutes after the last write at the earliest."""

    NO_SPOT = "NoSpot"
    """No spot node takes its pods: the spread is put back when one does."""

    ROLLING_OUT = "RollingOut"
    """Its rollout is under way."""

    MADE_BY_OLD_TEMPLATE = "MadeByOldTemplate"
    """The pod waits for a node by an older template: another is made by the present one."""

    TEMPLATE_FELL_SHORT = "TemplateFellShort"
    """Pods of its floor are not on on-demand, although its template asks for it: restart its
    rollout.
    """

    TEMPLATE_UNDONE = "TemplateUndone"
    """Another tool takes out of its template what restore adds: it is not written again."""

    TEMPLATE_TAKEN_OFF = "TemplateTakenOff"
    """Its owner does not want this any more: what restore added is taken off."""

    TEMPLATE_FORGOTTEN = "TemplateForgotten"
    """Its owner does not want this any more: the note about it is taken off."""

    ON_DELETE = "OnDelete"
    """Its update strategy is OnDelete, so nothing would roll its template out."""

    PARTITION = "Partition"
    """Its update has a partition, so its rollout would stop half-way."""

    NO_COMMON_LABEL = "NoCommonLabel"
    """No capacity label is on all nodes that its pods may go to: label them."""

    OWN_SPREAD = "OwnSpread"
    """Its template spreads its pods over a capacity label: that is its owner's ratio, and a move
    would break it.
    """

    OWN_PREFERENCE = "OwnPreference"
    """Its template prefers on-demand: no pod is moved to spot."""

    LESS_EVEN = "LessEven"
    """There is room, but only in zones or on nodes that have as many of its pods already, or that
    its template likes less: no pod is moved there. Nodes elsewhere, or a rollout, help.
    """
