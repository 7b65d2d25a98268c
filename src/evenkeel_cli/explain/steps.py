"""What Evenkeel would do to a pod, step by step, from the way that its own decision takes."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from evenkeel.decisions.drain.budgets import hold_now, max_unavailable
from evenkeel.decisions.drain.deadlines import EVICTION_OVERHEAD, Deadline
from evenkeel.decisions.drain.returning import RECOMMENDATION, WARNING
from evenkeel.decisions.drain.route import Route
from evenkeel.decisions.notice import rebalance_recommendation
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.notice import LEAD
from evenkeel.model.reasons import Reason
from evenkeel.model.release import COOLDOWN_FIRST
from evenkeel.model.way import Way
from evenkeel_cli import words
from evenkeel_cli.output import Item
from evenkeel_cli.ways import Situation

NEVER: Final = f"annotation {names.HANDOVER}: never (it then goes before its replacement runs)"
LEAVE: Final = f"annotation {names.AT_DEADLINE}: leave (a budget then keeps it to the end)"
KEEP: Final = (
    f'annotation {names.DO_NOT_DISRUPT}: "true" or {names.SAFE_TO_EVICT}: "false" (it is then left;'
    ' with "4h" for so long after its start)'
)


class Course(Item, frozen=True):
    """What would happen to so many pods: the way, why, the steps in order, what changes it."""

    way: Way
    reason: Reason
    steps: tuple[str, ...]
    changes: tuple[str, ...] = ()
    pods: int = 1


def under_warning(situation: Situation) -> Course:
    """The course of a pod whose node gets an interruption warning."""
    route = situation.way_for(WARNING)
    changes = [route.remedy] if route.remedy else []
    if route.way is Way.STAY:
        return Course(route.way, route.reason, (_sentence(route.message),), tuple(changes))
    if route.way is Way.HANDOVER:
        steps = [*_handover(situation), *_end(situation, "Without a replacement it goes")]
        changes.append(NEVER)
    else:
        steps = [_sentence(route.message), *_breaks(situation, route)]
    if situation.budgets:
        changes.append(LEAVE)
    return Course(route.way, route.reason, tuple(steps), tuple(changes))


def under_hint(situation: Situation) -> Course:
    """The course of a pod whose node gets a rebalance recommendation."""
    route = situation.way_for(RECOMMENDATION)
    changes = [route.remedy] if route.remedy else []
    if route.way is Way.STAY:
        return Course(route.way, route.reason, (_sentence(route.message),), tuple(changes))
    if route.way is Way.HANDOVER:
        steps = [*_hold(situation.budgets), *_handover(situation), _put_back()]
    else:
        steps = [_sentence(route.message), *_within_budgets(situation.budgets)]
        if route.way is Way.BY_ORDINAL:
            steps.append("It goes once a node is known that takes its next pod.")
        steps.append(f"What has not moved when the recommendation expires ({_expiry()}) stays.")
    return Course(route.way, route.reason, tuple(steps), (*changes, KEEP))


def _handover(situation: Situation) -> list[str]:
    replica_set = situation.owner.controller
    assert isinstance(replica_set, ReplicaSet)  # noqa: S101 - only those are handed over
    replicas = replica_set.spec.replicas
    wanted = f"{words.counted(replicas, 'pod')} {'is' if replicas == 1 else 'are'}"
    within, several = "", _several(situation.budgets)
    if situation.budgets:
        name = situation.budgets[0].name
        within = f"; the budget {name} allows that, for it counts the replacement"
    if several:
        within = f", or at its last moment: {several}"
    return [
        (
            f"It is released from {replica_set.name}, which makes a replacement, while it goes"
            " on serving: Services still select it."
        ),
        f"Once {wanted} available without it, it is evicted{within}.",
    ]


def _breaks(situation: Situation, route: Route) -> list[str]:
    if route.way is Way.AT_LAST_MOMENT:
        return _end(situation, "It goes", is_replaced=False)
    steps = []
    if route.way is Way.RATIONED:
        most = max(1, max_unavailable(situation.owner.deployment))
        steps.append(
            f"No more than {most} of its workload may be missing at a time, or as many as have to"
            " for all to go in time."
        )
    return [
        *steps,
        *_within_budgets(situation.budgets),
        *_end(situation, "If it is still there, it goes"),
    ]


def _end(situation: Situation, how: str, *, is_replaced: bool = True) -> list[str]:
    """The last moment, as seconds after the warning."""
    start = datetime(2000, 1, 1, tzinfo=UTC)
    end = Deadline(start + LEAD, forced=True)
    last = (end.evict_by(situation.pod, is_replaced=is_replaced) - start).total_seconds()
    grace = situation.pod.grace.total_seconds()
    overruled = "; a budget that refuses even then is overruled" if situation.budgets else ""
    if last <= 0:
        longer = f"its grace period of {grace:.0f} s is longer than what is left"
        return [f"{how} at once, because {longer}{overruled}."]
    left = min(grace, (LEAD - EVICTION_OVERHEAD).total_seconds() - last)
    fits = f"so that its grace period of {grace:.0f} s fits"
    fits = (
        fits if left == grace else f"which leaves {left:.0f} s of its grace period of {grace:.0f} s"
    )
    moment = f"{how} at its last moment, {last:.0f} s after the warning, {fits}{overruled}."
    later = "It stands longer while too few others of its workload serve."
    return [moment, later] if is_replaced else [moment]


def _within_budgets(budgets: Sequence[PodDisruptionBudget]) -> list[str]:
    if not budgets:
        return []
    if several := _several(budgets):
        return [f"No eviction of it is allowed: {several}."]
    (budget,) = budgets
    allowed = budget.status.disruptions_allowed
    return [f"Its eviction waits for the budget {budget.name}, which now allows {allowed}."]


def _hold(budgets: Sequence[PodDisruptionBudget]) -> list[str]:
    held = hold_now(budgets)
    if held is None:
        return []
    why = _several(budgets) or f"the budget {held.name} leaves no room for a voluntary move"
    return [f"Not now: {why}."]


def _several(budgets: Sequence[PodDisruptionBudget]) -> str:
    """Why no eviction is accepted of a pod that several budgets select; empty if none does so."""
    names_ = ", ".join(sorted(budget.name for budget in budgets))
    several = f"several budgets select it ({names_}), and Kubernetes evicts no such pod"
    return several if len(budgets) > 1 else ""


def _put_back() -> str:
    rest = COOLDOWN_FIRST.total_seconds() / 60
    return (
        f"Without a replacement when the recommendation expires ({_expiry()}) it is put back as"
        f" it is, without a restart, and its workload rests for {rest:.0f} min, longer each time."
    )


def _expiry() -> str:
    return f"after {rebalance_recommendation.EXPIRY.total_seconds() / 60:.0f} min"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
