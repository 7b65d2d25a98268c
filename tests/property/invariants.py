"""What has to hold of every story. Each function answers what did not, in sentences."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from evenkeel.errors import NotFoundError
from evenkeel.model.division import MOST
from evenkeel.settings.handover import PODS_EACH
from tests.kit.others import in_vain
from tests.property import events
from tests.property.hands import Cause, Deed
from tests.property.scenes import Kind, News, NoticePlan, WorkloadPlan
from tests.property.spectator import AHEAD, Life, last_moment, latest
from tests.property.world import Story

IN_VAIN: Final = 12
"""So often in any minute an object may be written in vain."""

NOT_OURS: Final = frozenset({"DaemonSet", "Node"})

REACTION: Final = timedelta(seconds=2.5)
"""From a notice, or a moment that an invocation waited for, to the last eviction for it.

A message's delay is in whole seconds, so a moment may be met a second late, and what an
invocation has to read first takes a moment more.
"""

CALLED: Final = timedelta(seconds=MOST - 1)
"""In a shared storm the last share may begin so much later: others are called a second apart."""

REDELIVERY: Final = timedelta(seconds=21)
SCHEDULE: Final = timedelta(seconds=75)
"""After so long another invocation goes on where one died.

A message comes back after 20 s. If all wake-ups are lost, the schedule comes once a minute.
Where it finds the dead invocation's Lease held, for at most 15 s, it comes again a minute later.
Until the minute begins others may be at work, whose own messages are lost, too.
"""

TRIED: Final = timedelta(seconds=60) + REACTION
"""So long after a node's deadline an eviction that a budget refuses may be tried."""

STALE: Final = timedelta(seconds=1.05)
"""A write may rest on an answer about the pause of at most a second, and is under way a moment."""


def dips(story: Story) -> Sequence[str]:
    """A workload fell below min(available at the start, wanted) before a last moment."""
    return story.dips


def left_behind(story: Story) -> Sequence[str]:
    """Something evictable was not told to go when its last moment had passed."""
    found = []
    for life in story.lives:
        limit = _has_to_go_by(story, life)
        if limit is None or (life.over_at is not None and life.over_at <= limit):
            continue
        found.append(
            f"{life.name} was on {life.node} after {story.seconds(limit):.2f} s, "
            f"and told to go {_when(story, life.told_at)}"
        )
    return found


def released_for_ever(story: Story) -> Sequence[str]:
    """A pod was still released at the end."""
    return [f"{life.name} is released at the end" for life in story.lives if life.released]


def touched_without_notice(story: Story) -> Sequence[str]:
    """Evenkeel wrote to a node that had no notice, or to a pod there, or to a stranger."""
    return [
        f"{story.seconds(deed.at):.2f} s: {deed}, on {deed.node or 'no node'}"
        for deed in [*story.deeds, *story.later_deeds]
        if not (
            deed.on_lease
            or _is_gone(deed)
            or _may_cool_down(story, deed)
            or _may_try_again(story, deed)
            or _may_go_along(story, deed)
        )
        and not _had_notice(story, deed.node, deed.at)
    ]


def torn(story: Story) -> Sequence[str]:
    """Of a gang of which too few stayed, members on dying nodes were told to go one by one.

    Those of which Evenkeel let a replacement run first are none of these.
    """
    found = []
    for number, plan in enumerate(story.scene.workloads):
        if plan.gang is None:
            continue
        lives = [life for life in story.lives if life.workload == f"w{number}"]
        broken = sorted(
            life.told_at
            for life in lives
            if life.told_at is not None
            and life.cause is Cause.EVENKEEL
            and not life.was_released
            and _staying(story, lives, life.told_at) < plan.gang
        )
        for first in broken[:1]:
            found += [
                f"{life.name} on {life.node} was told to go {_when(story, life.told_at)}, another"
                f" one of its gang {_when(story, first)}"
                for life in lives
                if _is_dying(story, life, first) and not _is_told_by(life, first + REACTION)
            ]
    return found


def _staying(story: Story, lives: Sequence[Life], now: datetime) -> int:
    return sum(_is_there(life, now) and not _is_dying(story, life, now) for life in lives)


def _is_there(life: Life, now: datetime) -> bool:
    bound = life.bound_at is not None and life.bound_at <= now
    return bound and (life.over_at is None or life.over_at >= now)


def _is_dying(story: Story, life: Life, now: datetime) -> bool:
    """Whether a pod is on a node that dies, as was told a moment before, and still lives."""
    known, death = now - REACTION, story.deaths.get(life.node)
    if death is not None and death <= now:
        return False
    return _is_there(life, known) and deadline_of(story, life.node, known) is not None


def _is_told_by(life: Life, limit: datetime) -> bool:
    return life.was_released or (life.over_at is not None and life.over_at <= limit)


def written_after_the_end(story: Story) -> Sequence[str]:
    """Something was written when all notices came again after the end."""
    return [
        f"{story.seconds(deed.at):.2f} s: {deed}" for deed in story.later_deeds if not deed.on_lease
    ]


def written_while_paused(story: Story) -> Sequence[str]:
    """Something was written more than a second after the pause began."""
    if story.scene.paused is None:
        return []
    begin, end = map(story.time, story.scene.paused)
    return [
        f"{story.seconds(deed.at):.2f} s: {deed}"
        for deed in story.deeds
        if begin + STALE < deed.at < end and not deed.on_lease
    ]


def written_when_overtaken(story: Story) -> Sequence[str]:
    """Something was sent by an invocation whose Lease another one had taken.

    What goes at its last moment needs no Lease.
    """
    return [
        f"{story.seconds(deed.at):.2f} s: {deed}"
        for deed in story.deeds
        if deed.overtaken and not deed.on_lease and not _is_last_moment(story, deed)
    ]


def written_by_two(story: Story) -> Sequence[str]:
    """Pods of a workload were written by an invocation, by another, and by the first again.

    What goes at its last moment needs no Lease.
    """
    found, last, before = list[str](), dict[str, int](), defaultdict[str, set[int]](set)
    for deed in story.deeds:
        reference = deed.write.reference
        if reference.kind != "Pod" or _is_last_moment(story, deed):
            continue
        workload = reference.namespace
        if last.get(workload, deed.by) != deed.by and deed.by in before[workload]:
            found.append(f"{story.seconds(deed.at):.2f} s: {deed} by two in turns")
        last[workload] = deed.by
        before[workload].add(deed.by)
    return found


def _is_last_moment(story: Story, deed: Deed) -> bool:
    life = next((life for life in story.lives if life.uid == deed.write.reference.uid), None)
    if life is None:
        return False
    deadline = deadline_of(story, life.node, deed.at)
    return deadline is not None and deed.at >= last_moment(life, deadline) - AHEAD - REACTION


def written_at_all(story: Story) -> Sequence[str]:
    """Something but the Lease was written."""
    return [f"{story.seconds(deed.at):.2f} s: {deed}" for deed in story.deeds if not deed.on_lease]


def written_in_vain(story: Story) -> Sequence[str]:
    """An object was written in vain more than so many times in a minute.

    A budget's refusals count, and not what was sent where nothing was left to write to.
    """
    deeds = [each for each in story.deeds if each.in_vain and not each.on_lease]
    counted = in_vain((story.seconds(d.at), d.write) for d in deeds if not _is_gone(d))
    return [f"{name}: {most} in a minute" for name, most in counted.items() if most > IN_VAIN]


def sunk(story: Story) -> Sequence[str]:
    """A workload had fewer pods than at the start, though nodes had hints alone.

    One ordinal may be on its way of a StatefulSet whose pods can be elsewhere.
    """
    return [
        f"{name} had {ledger.start} serving pods, and {ledger.lowest} at the least"
        for name, ledger in story.ledgers.items()
        if ledger.lowest < ledger.start - _may_be_on_its_way(ledger.plan)
    ]


def _may_be_on_its_way(plan: WorkloadPlan) -> int:
    return int(plan.kind is Kind.STATEFUL_SET and not plan.tolerant)


def uncordoned(story: Story) -> Sequence[str]:
    """A node that an operator cordoned last is not cordoned in the end."""
    return [
        f"{node} was cordoned by an operator, and is not any more"
        for node, wanted in story.cordons.items()
        if wanted and not story.cordoned.get(node, True)
    ]


def gone_too_early(story: Story, concerns: Callable[[Life], bool]) -> Sequence[str]:
    """Evenkeel told one of the pods that this concerns to go before its last moment.

    One whose machine was gone by then is no pod any more, whatever the API says.
    """
    found = []
    for life in story.lives:
        if life.told_at is None or life.cause is not Cause.EVENKEEL or not concerns(life):
            continue
        death = story.deaths.get(life.node)
        if death is not None and death <= life.told_at:
            continue
        deadline = deadline_of(story, life.node, life.told_at)
        if deadline is None or life.told_at < last_moment(life, deadline) - AHEAD - REACTION:
            found.append(f"{life.name} on {life.node} was told to go {_when(story, life.told_at)}")
    return found


def goes_alone(story: Story, life: Life) -> bool:
    """Whether no other pod of its workload waits for its turn: else there is to be one for each."""
    plan = story.scene.workloads[int(life.workload.removeprefix("w"))]
    takes_turns = plan.kind is Kind.STATEFUL_SET or plan.never
    return not takes_turns or plan.replicas == 1


def deadline_of(story: Story, node: str, now: datetime | None = None) -> datetime | None:
    """When a node is lost, by the notices sent until now, or by all."""
    known = [
        events.deadline(notice, story.began_at)
        for notice in story.scene.notices
        if f"n{notice.node}" == node and (now is None or story.time(notice.at) <= now)
    ]
    return min((each for each in known if each is not None), default=None)


def _has_to_go_by(story: Story, life: Life) -> datetime | None:
    """When a pod has to have been told to go at the latest; None if it may stay.

    It may where it is not Evenkeel's to move, where its owner keeps it to the end, where its node
    was gone before, and where it came back to its dying node late.
    """
    if life.kind in NOT_OURS or life.bound_at is None:
        return None
    plan = story.scene.workloads[int(life.workload.removeprefix("w"))]
    if plan.leave and plan.budget is not None:
        return None
    stale = story.scene.staleness
    late = timedelta() if stale is None else stale.longest
    limits = []
    for notice in story.scene.notices:
        deadline, sent = events.deadline(notice, story.began_at), story.time(notice.at)
        if f"n{notice.node}" != life.node or deadline is None or _is_unlikely(story, notice):
            continue
        if life.bound_at <= max(deadline, sent):
            if plan.tolerant and _came_late(story, life, deadline):
                continue
            known = max(sent, life.bound_at) + late
            limits.append(_limit(story, life, deadline, known))
    limit = min(limits, default=None)
    death = story.deaths.get(life.node)
    if limit is None or (death is not None and death <= limit):
        return None
    return limit


def _came_late(story: Story, life: Life, deadline: datetime) -> bool:
    """Whether a pod came to its node when less time was left to it than had passed of the drain."""
    begun = [story.time(each.at) for each in story.scene.notices if f"n{each.node}" == life.node]
    since = (life.bound_at or min(begun)) - min(begun)
    left = last_moment(life, deadline) - (life.bound_at or min(begun))
    return timedelta() < since and left <= since + REACTION


def _limit(story: Story, life: Life, deadline: datetime, known: datetime) -> datetime:
    """The last moment of a pod, or when Evenkeel could first know that it has one."""
    called = CALLED if story.scene.pods_each < PODS_EACH else timedelta()
    limit = max(latest(life, deadline), known + called) + REACTION
    if story.crashed_at is None or story.crashed_at > limit:
        return limit
    if story.alone_at is None:
        return max(limit, story.crashed_at + REDELIVERY + REACTION)
    return max(limit, max(story.alone_at, known) + SCHEDULE + REACTION)


def _is_unlikely(story: Story, notice: NoticePlan) -> bool:
    """Whether EC2 had just warned of the node in vain: then it does not warn again so soon.

    Of two warnings the earlier counts. If the instance runs on after that, the node is back.
    """
    return any(
        other.node == notice.node
        and other.deadline is not None
        and not other.obeyed
        and other.deadline < (notice.deadline or 0)
        and notice.at < other.deadline + 1
        for other in story.scene.notices
    )


def _is_gone(deed: Deed) -> bool:
    """Whether there was nothing to write to any more."""
    return isinstance(deed.error, NotFoundError)


def _had_notice(story: Story, node: str, now: datetime) -> bool:
    return any(
        f"n{notice.node}" == node and story.time(notice.at) <= now for notice in story.scene.notices
    )


def _may_try_again(story: Story, deed: Deed) -> bool:
    """A ReplicaSet is annotated, where a quota may refuse it pods."""
    plans = {f"w{number}": plan for number, plan in enumerate(story.scene.workloads)}
    reference = deed.write.reference
    return reference.kind == "ReplicaSet" and plans[reference.namespace].spare is not None


def _may_go_along(story: Story, deed: Deed) -> bool:
    """A pod goes with its gang, whose owner says so, once a node of the gang dies.

    Where a budget refuses that is tried on, up to a minute after the node's deadline.
    """
    reference = deed.write.reference
    plans = {f"w{number}": plan for number, plan in enumerate(story.scene.workloads)}
    plan = plans.get(reference.namespace)
    if plan is None or not plan.all_go or reference.kind != "Pod":
        return False
    deadlines = [
        deadline_of(story, life.node, deed.at)
        for life in story.lives
        if life.workload == reference.namespace
    ]
    return any(each is not None and deed.at < each + TRIED for each in deadlines)


def _may_cool_down(story: Story, deed: Deed) -> bool:
    """A workload is annotated when its voluntary handover was rolled back."""
    hinted = any(notice.news is News.REBALANCE for notice in story.scene.notices)
    return hinted and deed.write.reference.kind == Kind.DEPLOYMENT


def _when(story: Story, when: datetime | None) -> str:
    return "never" if when is None else f"at {story.seconds(when):.2f} s"
