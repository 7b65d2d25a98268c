"""Others refuse, undo, deny, take and hold: all invariants hold, and a hint takes nothing."""

from hypothesis import example, given

from tests.property import strategies
from tests.property.invariants import sunk, uncordoned, written_in_vain
from tests.property.judging import ALL, hold, tries
from tests.property.scenes import (
    THREE,
    Budget,
    Disturbance,
    Kind,
    News,
    NodePlan,
    NoticePlan,
    Scene,
    Trouble,
    WorkloadPlan,
)

HINT = NoticePlan(news=News.REBALANCE)

ADOPTED = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=3, adopter="ReplicaSet"),),
    notices=(HINT,),
    age=100,
)
"""A ReplicaSet that wants no pods selects those of a Deployment, too."""

FULL = NodePlan(slots=2)

TWINS = Scene(
    nodes=(FULL, FULL, FULL),
    workloads=(WorkloadPlan(replicas=3, adopter="Deployment"),),
    notices=(HINT,),
    age=100,
)
"""Of two Deployments with one selector and one template released pods have to go back."""

REFUSED = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=3, refused=422), WorkloadPlan(replicas=2, undone=("labels",))),
    notices=(NoticePlan(), NoticePlan(node=1)),
    age=100,
)
"""Releases are refused, or undone, and two nodes die."""

DENIED = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=3), WorkloadPlan(kind=Kind.STATEFUL_SET, replicas=2)),
    notices=(NoticePlan(), NoticePlan(node=1)),
    disturbances=(Disturbance(trouble=Trouble.DENY, number=422),),
    age=100,
)
"""A webhook denies all evictions."""

AGAIN = Scene(
    nodes=THREE,
    workloads=(
        WorkloadPlan(kind=Kind.DATABASE, replicas=3, tolerant=True),
        WorkloadPlan(replicas=5, ready=15, refused=422),
    ),
    notices=(NoticePlan(early=90), NoticePlan(at=17), NoticePlan(), NoticePlan(node=1)),
    age=100,
)
"""A node is warned of again when a pod has come back to it."""

TWICE = Scene(
    nodes=THREE,
    workloads=(
        WorkloadPlan(kind=Kind.DATABASE, replicas=3, tolerant=True),
        WorkloadPlan(replicas=5, ready=15, refused=422),
    ),
    notices=(NoticePlan(early=90), NoticePlan(), NoticePlan(node=1), NoticePlan(node=1, at=17)),
    age=100,
)
"""The same of a node that lives on meanwhile."""

FROM_NODE_TO_NODE = Scene(
    nodes=THREE,
    workloads=(
        WorkloadPlan(kind=Kind.DATABASE, replicas=3, tolerant=True),
        WorkloadPlan(replicas=5, start=8, ready=15, refused=422),
    ),
    notices=(
        NoticePlan(news=News.STOP, early=90),
        NoticePlan(),
        NoticePlan(late=40),
        NoticePlan(node=1),
    ),
    age=100,
    phase=55,
)
"""A pod that no watch shows comes back to a node that dies later than the others."""

BACK_ALONE = Scene(
    nodes=THREE,
    workloads=(
        WorkloadPlan(kind=Kind.DATABASE, replicas=2, tolerant=True),
        WorkloadPlan(max_unavailable=0, budget=Budget(max_unavailable=1, twice=True), replicas=2),
    ),
    notices=(NoticePlan(),),
    age=100,
    phase=1,
)
"""Of pods that no watch shows the only one on a dying node comes back to it."""

TWO_NODES = Scene(
    nodes=(NodePlan(),) * 4,
    workloads=(WorkloadPlan(kind=Kind.DATABASE, replicas=4),),
    notices=(NoticePlan(), NoticePlan(node=1, late=100)),
    age=100,
)
"""A pod that no watch shows goes by force before its workload is listed for another's turn."""

TOO_MANY = Scene(
    nodes=THREE,
    workloads=(
        WorkloadPlan(replicas=6, undone=("ownerReferences",)),
        WorkloadPlan(replicas=4, spare=0, undone=("labels",)),
        WorkloadPlan(kind=Kind.STATEFUL_SET),
    ),
    notices=(NoticePlan(node=1, at=3), NoticePlan(), NoticePlan(), NoticePlan(late=100)),
    age=100,
    controller_qps=3.0,
)
"""Pods are put back, and their ReplicaSet takes an available one for one that is too many."""

CHOSEN = Scene(
    nodes=(NodePlan(),) * 3,
    workloads=(
        WorkloadPlan(replicas=6, start=2, undone=("labels",)),
        WorkloadPlan(replicas=3, start=5, undone=("labels",)),
        WorkloadPlan(replicas=6, undone=("ownerReferences",)),
    ),
    notices=(NoticePlan(), NoticePlan(node=1)),
    age=100,
    controller_qps=0.5,
    seed=4,
)
"""A ReplicaSet deletes the pods that it chose, when an eviction has left it none too many."""

BLOCKED = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=4, budget=Budget(min_available=4), refused=422),),
    notices=(NoticePlan(),),
    age=100,
)
"""Releases are refused, and a budget refuses all evictions."""

KEPT = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=3, refused=403),),
    notices=(HINT, NoticePlan(news=News.REBALANCE, node=1)),
    age=100,
)
"""Releases are refused, and no node dies."""

RETURNING = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(kind=Kind.STATEFUL_SET, replicas=3, tolerant=True),),
    notices=(HINT, NoticePlan(news=News.REBALANCE, node=1)),
    age=100,
)
"""A StatefulSet's pods come back to the node that they leave."""

CORDONED = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=2),),
    notices=(HINT,),
    disturbances=(
        Disturbance(trouble=Trouble.UNCORDON, at=20),
        Disturbance(trouble=Trouble.CORDON, at=30),
    ),
    age=100,
)
"""An operator cordons a node that a hint holds, lifts that first if it is cordoned."""


@tries()
@example(REFUSED)
@example(DENIED)
@example(AGAIN)
@example(FROM_NODE_TO_NODE)
@example(TWICE)
@example(TOO_MANY)
@example(CHOSEN)
@example(TWO_NODES)
@example(BACK_ALONE)
@example(BLOCKED)
@given(
    strategies.scenes(of=strategies.meddled(), told="warnings", disturbances=strategies.meddling())
)
def test_all_hold_when_others_meddle_and_nodes_die(scene: Scene) -> None:
    hold(scene, *ALL, written_in_vain, uncordoned)


@tries()
@example(ADOPTED)
@example(TWINS)
@example(KEPT)
@example(RETURNING)
@example(CORDONED)
@given(
    strategies.scenes(
        of=strategies.meddled(),
        notices=strategies.hints(),
        disturbances=strategies.meddling(Trouble.UNCORDON),
    )
)
def test_a_hint_takes_no_workload_below_what_it_had(scene: Scene) -> None:
    hold(scene, *ALL, sunk, written_in_vain, uncordoned)
