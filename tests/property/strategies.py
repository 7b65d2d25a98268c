"""Strategies for random scenes. What they draw first is what a shrunk example leaves out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from evenkeel.settings.handover import PODS_EACH
from evenkeel_sandbox.simulator.staleness import Staleness
from tests.property.scenes import (
    IMPOSTOR,
    STRANGER,
    THREE,
    Budget,
    Crash,
    Disturbance,
    Kind,
    News,
    NodePlan,
    NoticePlan,
    Recovery,
    Scene,
    Trouble,
    WorkloadPlan,
)

GRACES = (30, 0, 5, 45, 60, 300)
STARTS = (1, 0, 8, 25, 70)
READIES = (0, 3, 15)
SHARES = ("25%", 1, 2, "50%")
WARNINGS = (News.TERMINATE, News.STOP)


def some[T](values: Sequence[T]) -> st.SearchStrategy[T]:
    return st.sampled_from(list(values))


def rarely[T](values: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    """None mostly."""
    return st.one_of(st.none(), st.none(), st.none(), values)


def seldom() -> st.SearchStrategy[bool]:
    """False mostly."""
    return some((False, False, False, False, True))


def budgets(replicas: int) -> st.SearchStrategy[Budget | None]:
    """Budgets of all kinds, those among them that never allow anything."""
    return st.one_of(
        st.none(),
        st.just(Budget(min_available=replicas)),
        st.just(Budget(max_unavailable=0)),
        some([Budget(min_available=least) for least in (1, "50%", "100%", replicas + 1)]),
        some([Budget(max_unavailable=most) for most in (1, "25%")]),
        st.just(Budget(max_unavailable=1, twice=True)),
    )


def _pace() -> dict[str, st.SearchStrategy[Any]]:
    """How fast the pods of a workload come and go."""
    return {"grace": some(GRACES), "start": some(STARTS), "stop": some((1, 0, 20))}


@st.composite
def deployments(draw: st.DrawFn, /, *, plain: bool = False, fewest: int = 1) -> WorkloadPlan:
    """Deployments. ``plain``: all their pods go by handover."""
    replicas = draw(st.integers(fewest, 6))
    surge = draw(some(SHARES if plain else (*SHARES, 0)))
    fixed: dict[str, Any] = {
        "replicas": replicas,
        "max_surge": surge,
        "max_unavailable": draw(some(SHARES if surge == 0 else (*SHARES, 0))),
        "budget": draw(budgets(replicas)),
    }
    peculiar = (
        {}
        if plain
        else {
            "recreate": seldom(),
            "never": seldom(),
            "leave": seldom(),
            "disk": seldom(),
            "by_hash": seldom(),
        }
    )
    return draw(
        st.builds(
            WorkloadPlan,
            **{key: st.just(value) for key, value in fixed.items()},
            **_pace(),
            **peculiar,
            ready=st.one_of(some(READIES), some((*READIES, None))),
            min_ready=some((0, 0, 10)),
            slots=some((1, 1, 4)),
            spare=rarely(st.integers(0, 2)),
            apart=seldom(),
        )
    )


def tight() -> st.SearchStrategy[WorkloadPlan]:
    """Deployments to which a quota leaves no place for a second pod, or hardly one."""
    return st.builds(
        WorkloadPlan,
        replicas=st.integers(1, 6),
        max_unavailable=some((0, 1, "25%")),
        grace=some((30, 20, 2)),
        start=some((1, 8)),
        stop=some((20, 1, 8, 40)),
        ready=some((0, 5)),
        min_ready=some((0, 0, 10)),
        spare=some((0, 0, 1)),
    )


def refused() -> st.SearchStrategy[WorkloadPlan]:
    """Deployments whose releases a policy refuses or undoes, and whose pods others select, too.

    Where a policy leaves a pod without an owner, whoever selects it takes it at once.
    """
    return st.builds(
        lambda plan, obstacle, adopter: replace(plan, **({"adopter": adopter} | obstacle)),
        deployments(plain=True),
        some(
            (
                {"refused": 422},
                {"refused": 403},
                {"refused": 400},
                {"undone": ("labels",)},
                {"undone": ("annotations",)},
                {"undone": ("labels", "annotations")},
                {"undone": ("labels", "ownerReferences")},
                {"undone": ("labels", "annotations", "ownerReferences")},
                {"undone": ("ownerReferences",), "adopter": ""},
                {"undone": ("annotations", "ownerReferences"), "adopter": ""},
            )
        ),
        some(("", "ReplicaSet")),
    )


def selected() -> st.SearchStrategy[WorkloadPlan]:
    """Deployments whose pods somebody else selects, too."""
    return st.builds(
        lambda plan, adopter: replace(plan, adopter=adopter, max_unavailable=0),
        deployments(plain=True),
        some(("ReplicaSet", "DaemonSet", "Deployment")),
    )


def returning() -> st.SearchStrategy[WorkloadPlan]:
    """StatefulSets and foreign kinds, some of whose pods come back to the node that they left."""
    return st.builds(
        WorkloadPlan,
        kind=some((Kind.STATEFUL_SET, Kind.DATABASE)),
        replicas=st.integers(1, 4),
        grace=some((30, 5)),
        start=some((1, 8)),
        tolerant=st.booleans(),
    )


def meddled() -> st.SearchStrategy[WorkloadPlan]:
    """Workloads that others have something to do with."""
    return st.one_of(refused(), selected(), returning())


def meddling(
    *cordons: Trouble,
) -> st.SearchStrategy[tuple[Disturbance, ...]]:
    """An operator cordons nodes, or does what else is said; a webhook denies; policies end."""
    cordon = st.builds(
        Disturbance,
        trouble=some((Trouble.CORDON, *cordons)),
        at=some((0.5, 4, 30, 80, 200)),
        number=st.integers(0, 2),
    )
    deny = st.builds(
        Disturbance,
        trouble=st.just(Trouble.DENY),
        at=some((0, 3, 60)),
        number=some((422, 403, 400, 429, 500)),
    )
    end = st.builds(Disturbance, trouble=st.just(Trouble.END_POLICIES), at=some((1.5, 20, 70)))
    return st.lists(st.one_of(cordon, cordon, deny, end), max_size=4).map(
        lambda found: tuple(sorted(found, key=lambda each: each.at))
    )


def hints() -> st.SearchStrategy[tuple[NoticePlan, ...]]:
    """Rebalance recommendations alone, for one node or two."""
    hint = st.builds(
        NoticePlan, news=st.just(News.REBALANCE), node=st.integers(0, 1), at=some((0, 10))
    )
    return st.lists(hint, min_size=1, max_size=2).map(tuple)


def crowds() -> st.SearchStrategy[tuple[Disturbance, ...]]:
    """A neighbour waits for one place, or more, and others meddle."""
    crowd = st.builds(
        Disturbance,
        trouble=st.just(Trouble.CROWD),
        at=some((0, 4, 8, 30)),
        number=some((1, 2)),
    )
    more = st.builds(
        Disturbance,
        trouble=some((Trouble.UNREADY, Trouble.EVICT, Trouble.LOSE_LEASE)),
        at=some((2, 5, 9, 30)),
        number=st.integers(0, 5),
    )
    return st.tuples(crowd, st.lists(more, max_size=2)).map(lambda found: (found[0], *found[1]))


def stateful_sets() -> st.SearchStrategy[WorkloadPlan]:
    return st.integers(1, 4).flatmap(
        lambda replicas: st.builds(
            WorkloadPlan,
            kind=st.just(Kind.STATEFUL_SET),
            replicas=st.just(replicas),
            budget=budgets(replicas),
            **_pace(),
            ready=some(READIES),
            min_ready=some((0, 0, 10)),
            parallel=st.booleans(),
            leave=seldom(),
        )
    )


def others() -> st.SearchStrategy[WorkloadPlan]:
    """Jobs, bare pods, DaemonSets."""
    return st.builds(
        WorkloadPlan,
        kind=some((Kind.JOB, Kind.POD, Kind.DAEMON_SET)),
        grace=some(GRACES),
        budget=budgets(1),
        leave=seldom(),
    )


@st.composite
def gangs(draw: st.DrawFn) -> WorkloadPlan:
    """Deployments, StatefulSets and Jobs whose pods are of use together only."""
    replicas = draw(st.integers(2, 6))
    return draw(
        st.builds(
            WorkloadPlan,
            kind=some((Kind.DEPLOYMENT, Kind.STATEFUL_SET, Kind.JOB)),
            replicas=st.just(replicas),
            gang=st.integers(1, replicas),
            all_go=seldom(),
            parallel=st.just(True),  # noqa: FBT003 - a gang cannot wait for its first ordinal
            budget=budgets(replicas),
            **_pace(),
            slots=some((1, 4)),
        )
    )


def blocked() -> st.SearchStrategy[WorkloadPlan]:
    """Workloads whose budget refuses every eviction of a pod that is ready."""

    def with_budget(kind: dict[str, Any]) -> st.SearchStrategy[WorkloadPlan]:
        replicas = int(kind["replicas"])
        never = (Budget(min_available=replicas), Budget(max_unavailable=0))
        twice = Budget(max_unavailable=1, twice=True)
        allowed = (twice,) if kind.get("released") else (*never, twice)
        fixed = {key: st.just(value) for key, value in kind.items() if key != "released"}
        return st.builds(
            WorkloadPlan,
            **fixed,
            budget=some(allowed),
            grace=some(GRACES),
            start=some((1, 8)),
        )

    replicas = st.integers(1, 4)
    return st.one_of(
        st.fixed_dictionaries({"kind": st.just(Kind.STATEFUL_SET), "replicas": replicas}),
        st.fixed_dictionaries({"never": st.just(True), "replicas": replicas}),  # noqa: FBT003 - a value
        st.fixed_dictionaries({"released": st.just(True), "replicas": replicas}),  # noqa: FBT003 - a value
    ).flatmap(with_budget)


def workloads() -> st.SearchStrategy[WorkloadPlan]:
    return st.one_of(deployments(plain=True), deployments(), stateful_sets(), others())


def nodes() -> st.SearchStrategy[tuple[NodePlan, ...]]:
    """Three to six nodes, some of them with little room."""
    node = st.builds(NodePlan, spot=some((True, True, False)), slots=some((40, 40, 6)))
    return st.lists(node, min_size=3, max_size=6).map(tuple)


def warnings(
    last_node: int, *, lates: Sequence[int] = (0, 0, 2, 40, 100)
) -> st.SearchStrategy[NoticePlan]:
    """Interruption warnings on time, late, doubled, about nodes that then go, or do not."""
    return st.builds(
        NoticePlan,
        news=some(WARNINGS),
        node=st.integers(0, last_node),
        at=some((0, 1, 3, 17, 60)),
        late=some(lates),
        copies=st.lists(some((0, 2, 45, 130)), max_size=2).map(lambda c: tuple(sorted(c))),
        obeyed=some((True, True, False)),
        early=some((0, 0, 0, 30, 90)),
        remove_after=some((30, 1, 90)),
    )


def news(last_node: int) -> st.SearchStrategy[NoticePlan]:
    """Everything that AWS says, also of instances that are no nodes here."""
    sudden = st.builds(
        NoticePlan,
        news=some((News.HIBERNATE, News.STATE)),
        node=st.integers(0, last_node),
        at=some((0, 20)),
        late=some((0, 5)),
    )
    hint = st.builds(
        NoticePlan,
        news=st.just(News.REBALANCE),
        node=st.integers(0, last_node),
        at=some((0, 10)),
        late=some((0, 200)),
    )
    strange = st.builds(NoticePlan, node=some((STRANGER, IMPOSTOR)), at=some((0, 5)))
    warned = warnings(last_node)
    return st.one_of(warned, warned, warned, sudden, hint, strange)


def hinted_first(last_node: int) -> st.SearchStrategy[tuple[NoticePlan, ...]]:
    """A rebalance recommendation, and later a warning for the same node."""
    return st.builds(
        lambda node, later, rest: (
            NoticePlan(news=News.REBALANCE, node=node),
            NoticePlan(news=News.TERMINATE, node=node, at=later),
            *rest,
        ),
        st.integers(0, last_node),
        some((0, 2, 5, 40, 700, 890)),
        st.lists(news(last_node), max_size=2),
    )


@st.composite
def scenes(
    draw: st.DrawFn,
    /,
    *,
    of: st.SearchStrategy[WorkloadPlan] | None = None,
    told: str = "anything",
    hinted: bool = False,
    most_workloads: int = 3,
    **fixed: st.SearchStrategy[Any],
) -> Scene:
    """A cluster and its notices.

    ``of``: its workloads; else a Deployment of some size and others. ``told``: "anything", or
    "warnings" alone, the first of them in good time; ``hinted``: a warning follows a
    recommendation. One node at least has no notice. ``fixed``: other fields.
    """
    first = deployments(plain=True, fewest=2) if of is None else of
    others = st.lists(workloads() if of is None else of, max_size=most_workloads - 1)
    cluster = draw(nodes())
    last = len(cluster) - 2
    about = news(last) if told == "anything" else warnings(last)
    notices = st.tuples(warnings(last, lates=(0, 2)), st.lists(about, max_size=3))
    chosen: dict[str, Any] = {
        "nodes": cluster,
        "workloads": (draw(first), *draw(others)),
        "notices": draw(
            hinted_first(last) if hinted else notices.map(lambda told: (told[0], *told[1]))
        ),
        "age": draw(some((100, 400))),
        "phase": draw(some((30, 1, 55))),
        "controller_qps": draw(some((20.0, None, 3.0))),
        "window": draw(some((100, 2))),
        "pods_each": draw(some((PODS_EACH, 2, 1))),
        "seed": draw(st.integers(0, 3)),
    }
    return Scene(**(chosen | {key: draw(value) for key, value in fixed.items()}))


def crashes(most: int = 40) -> st.SearchStrategy[Crash]:
    return st.builds(
        Crash,
        write=st.integers(0, most),
        carried_out=st.booleans(),
        recovery=some((Recovery.REDELIVERY, Recovery.SCHEDULE)),
    )


def stops(most: int = 40) -> st.SearchStrategy[Crash]:
    """An invocation stops at a write, mostly for longer than its Lease lasts, and goes on."""
    return st.builds(
        Crash,
        write=st.integers(0, most),
        carried_out=st.just(True),  # noqa: FBT003 - a value
        stopped_for=some((10, 3, 25, 40)),
    )


def disturbances(*troubles: Trouble) -> st.SearchStrategy[tuple[Disturbance, ...]]:
    """Up to four, of these kinds, to the first workload."""
    disturbance = st.builds(
        Disturbance,
        trouble=some(troubles),
        at=some((0, 1, 2, 4, 8, 30, 80)),
        number=st.integers(0, 6),
    )
    return st.lists(disturbance, min_size=1, max_size=4).map(tuple)


def stalenesses() -> st.SearchStrategy[Staleness]:
    """Watches that lag by up to 3 s, stall and break, and late replies."""
    return st.builds(
        Staleness,
        seed=st.integers(0, 9),
        lag=some((3.0, 1.0, 0.2)),
        varying=st.booleans(),
        stall=some((0.0, 6.0, 2.0)),
        breaks=st.booleans(),
        reply=some((0.0, 0.1, 0.5)),
    )


def ailing(
    *others: Trouble, begin: int = 0, most: int = 6
) -> st.SearchStrategy[tuple[Disturbance, ...]]:
    """Pods of the first workload turn NotReady one after the other, and what others do besides.

    From ``begin`` on, ``most`` of them.
    """

    def several(most: int, *troubles: Trouble) -> st.SearchStrategy[list[Disturbance]]:
        moments = st.integers(0, 24).map(lambda quarters: begin + quarters / 4)
        number = st.integers(0, 9)
        one = st.builds(Disturbance, trouble=some(troubles), at=moments, number=number)
        return st.lists(one, min_size=1, max_size=most)

    ill = several(most, Trouble.UNREADY)
    if not others:
        return ill.map(tuple)
    also = st.one_of(st.just(list[Disturbance]()), several(2, *others))
    return st.builds(lambda *both: (*both[0], *both[1]), ill, also)


@st.composite
def seen_late(draw: st.DrawFn) -> Scene:
    """Pods turn NotReady about when their replacements come to count, and watches are late."""
    min_ready = draw(some((0, 10, 5)))
    others = Trouble.EVICT, Trouble.LOSE_LEASE, Trouble.BREAK_LEASE
    return Scene(
        nodes=THREE,
        workloads=(WorkloadPlan(replicas=draw(st.integers(2, 6)), min_ready=min_ready),),
        notices=(NoticePlan(), NoticePlan(node=1)),
        disturbances=draw(ailing(*others, begin=min_ready, most=2)),
        staleness=draw(stalenesses()),
        age=100,
        window=draw(some((100, 2))),
        seed=draw(st.integers(0, 3)),
    )


def pauses() -> st.SearchStrategy[tuple[int, int]]:
    """From when to when Evenkeel is paused."""
    begins = some((0, 1, 2, 3, 5, 30, 80, 95))
    return st.tuples(begins, some((20, 60, 150))).map(lambda pause: (pause[0], sum(pause)))


def short_of_time() -> st.SearchStrategy[Scene]:
    """The last moment is near, and an invocation dies at any time before the schedule comes."""
    late = st.builds(
        NoticePlan, node=st.integers(0, 1), at=some((0, 1, 3, 17)), late=some((40, 60))
    )
    return scenes(
        of=blocked(),
        most_workloads=2,
        notices=st.lists(late, min_size=1, max_size=2).map(tuple),
        crash=crashes(most=12),
        phase=st.integers(1, 59),
    )


def unwanted() -> st.SearchStrategy[Scene]:
    """A workload is scaled away during its handover, and its nodes live on."""
    warned_in_vain = st.builds(NoticePlan, at=some((0, 1)), obeyed=st.just(False))  # noqa: FBT003 - a value
    hinted = st.builds(NoticePlan, news=st.just(News.REBALANCE), at=some((0, 1)))
    gone = st.builds(
        Disturbance, trouble=st.just(Trouble.SCALE), at=some((2, 4, 8, 30)), number=some((0, 0, 1))
    )
    return scenes(
        of=deployments(plain=True),
        notices=st.tuples(st.one_of(warned_in_vain, hinted)),
        disturbances=st.lists(gone, min_size=1, max_size=2).map(tuple),
    )


def given_up(crash: st.SearchStrategy[Crash | None] | None = None) -> st.SearchStrategy[Scene]:
    """A recommendation whose handover finds no place: it is rolled back when it expires."""
    full = NodePlan(slots=6)
    return st.builds(
        Scene,
        nodes=st.just((full, full, full)),
        workloads=st.tuples(st.builds(WorkloadPlan, replicas=st.just(3), slots=st.just(4))),
        notices=st.tuples(st.builds(NoticePlan, news=st.just(News.REBALANCE), at=some((0, 30)))),
        crash=st.none() if crash is None else crash,
        age=some((100, 400)),
        phase=some((30, 1, 55)),
    )


def no_notices() -> st.SearchStrategy[tuple[NoticePlan, ...]]:
    """AWS says nothing."""
    return st.just(())


def drains(*others: Trouble) -> st.SearchStrategy[tuple[Disturbance, ...]]:
    """One to three nodes are drained at about the same time, and what else happens."""
    begun = st.builds(
        Disturbance,
        trouble=st.just(Trouble.DRAIN),
        at=some((1, 1.2, 2, 8)),
        number=st.integers(0, 3),
    )
    more = st.builds(
        Disturbance,
        trouble=some(others or (Trouble.DRAIN,)),
        at=some((2, 3, 5, 20, 60)),
        number=st.integers(0, 5),
    )
    return st.tuples(
        st.lists(begun, min_size=1, max_size=3), st.lists(more, max_size=2 if others else 0)
    ).map(lambda found: (*found[0], *found[1]))
