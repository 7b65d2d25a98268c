"""The gate: an eviction of a pod that can be handed over passes once its replacement is available.

Any number of gates and reconcilers may decide at the same time. Each names the same pods, the
first in the order of leaving, so that parallel evictions never take one too many. For that the pods
that count as available have to be known afresh; to put an eviction off a moment old is good enough.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.drain import pace, verdicts, writes
from evenkeel.decisions.drain.budgets import hold_now
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import COMES_BACK, Deadline, node_deadline
from evenkeel.decisions.drain.movers import ReleasedPod
from evenkeel.decisions.drain.pod_plan import Candidate
from evenkeel.decisions.gate.eviction import Allowed, Deferred, Evictor, Verdict
from evenkeel.errors import ClusterError
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import Asked, ReleaseReason
from evenkeel.model.times import in_words

SHORTEST_RETRY: Final = timedelta(seconds=1)
LONGEST_RETRY: Final = timedelta(seconds=10)
"""Bounds of what a client is told to wait. In between it is half of what it has waited so far."""

LONGEST_NAME: Final = 253
"""Characters of a user's name that the pod's annotation keeps."""

TOO_CLOSE: Final = timedelta(seconds=3)
LONGEST_TO_GO_BACK: Final = timedelta(seconds=90)
"""From so shortly before a release ends until so long after that no eviction passes.

The pod may be put back meanwhile, and its replacement would go with it: the schedule looks for such
pods once a minute.
"""

IN_BACKGROUND: Final = "Eviction triggered evacuation"
"""By this text the descheduler knows that an eviction goes on by itself.

EvictionInBackgroundErrorText in its pkg/descheduler/evictions, of v0.36.0.
"""

WINDOW_FULL: Final = "many pods wait for their replacements: this one is released in its turn"


class GatedPod(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate knows of a pod that somebody wants to evict.

    ``census`` counts its ReplicaSet's pods. ``held`` are the budgets that select
    it. ``has_room``: fewer pods are released and without a replacement than the window allows;
    ``may_exceed``: without room one may be released all the same that has waited for that too long.
    ``waited``: how long ago it was asked for first, as far as this process knows. ``patience``: how
    long a replacement may take before the eviction passes without it, and how long it waits for its
    turn before that.
    """

    pod: Pod
    census: Census
    held: Sequence[PodDisruptionBudget] = ()
    has_room: bool
    may_exceed: bool
    waited: timedelta = timedelta()
    patience: timedelta

    @property
    def longest(self) -> timedelta:
        """How long a replacement may take that has a node and does not fail."""
        return max(self.patience, self.census.owner.patience(self.pod))


def decide(found: GatedPod, evictor: Evictor) -> Verdict:
    """Whether the eviction passes, or is deferred and the pod released.

    First clause that holds:

    - the pod is released: see ``_released``;
    - it was when it was read, and is not counted as that: see ``_not_counted``;
    - its node dies: the reconciler releases it in its turn. See ``_dying``;
    - its ReplicaSet cannot make pods: it passes, with a warning;
    - a budget holds it: it passes the gate, and the budget decides;
    - it is released, if the window has room, nothing else of its workload is Ready, or it has
      waited for its turn as long as for a replacement and the window may be exceeded.

    Where the owner has evictions go on in the background, a refusal says so, but not to one that
    waits for its turn.
    """
    verdict = _decide(found, evictor)
    is_asked = names.REQUEST_EVICT_ONLY in found.pod.metadata.annotations
    if not is_asked or isinstance(verdict, Allowed) or verdict.in_turn:
        return verdict
    message = f"{IN_BACKGROUND}: {verdict.message}"
    return msgspec.structs.replace(verdict, message=message, retry_after=timedelta())


def _decide(found: GatedPod, evictor: Evictor) -> Verdict:
    census, pod = found.census, found.pod
    item = next((each for each in census.released if each.pod.uid == pod.uid), None)
    if item is not None:
        return _released(found, evictor, item)
    if pod.released:
        return _not_counted(found)
    notice = census.nodes.dooms.get(pod.spec.node_name)
    if notice is not None and not notice.is_hint:
        return _dying(found, evictor, node_deadline(notice), found.patience)
    return _by_workload(found) or _release(found, evictor)


def refused(error: ClusterError, *, is_for_good: bool, is_over: bool) -> Verdict:
    """The release of a pod was refused: it is looked at again soon, unless its patience is over.

    ``is_for_good``: it is refused each time, and the pod goes as without the gate.
    """
    if is_for_good:
        message = f"it cannot be released: {error}"
        return Allowed(reason=Reason.RELEASE_REFUSED, message=message, warning=True)
    message = f"its release is refused: {error}"
    if is_over:
        return Allowed(reason=Reason.PATIENCE_OVER, message=message, warning=True)
    return Deferred(reason=Reason.CHANGED, message=message, retry_after=SHORTEST_RETRY)


def _released(found: GatedPod, evictor: Evictor, item: ReleasedPod) -> Verdict:
    """A released pod passes once it is among those that can go, or is waited for no longer.

    - On which capacity type its replacement is does not matter, though restore may have released
      it for one: somebody wants it off its node.
    - Where no second pod comes beside the first, they pass one after the other.
    - Else it passes before its release ends: the pod goes, and its replacement stays. One whose
      replacement crashes beside it goes back first: its ReplicaSet then deletes the replacement,
      and the next one starts without a back-off.
    """
    census, deadline = found.census, item.deadline
    counts, lacks = verdicts.in_numbers(census), census.lacks[item.pod.uid]
    if not deadline.forced and -TOO_CLOSE <= census.now - deadline.at < LONGEST_TO_GO_BACK:
        message = f"it goes back to its owner: {counts}"
        retry = LONGEST_RETRY / 2
        return Deferred(reason=Reason.REPLACEMENT_PENDING, message=message, retry_after=retry)
    if lacks <= 0:
        settled = census.settles_at(item)
        if settled is None:
            message = f"{counts}: it can go"
            return Allowed(reason=Reason.REPLACEMENT_AVAILABLE, message=message, counted=True)
        left = settled - census.now
        return Deferred(
            reason=Reason.REPLACEMENT_SETTLES,
            message=f"{verdicts.GETS_KNOWN}: {counts}",
            retry_after=_retry(left, left),
            until=settled,
        )
    if lacks == 1 and (words := census.lacks_place_beside(found.pod)):
        message = verdicts.none_beside(words)
        return Allowed(reason=Reason.NO_PLACE, message=message, warning=True, counted=True)
    is_starting = lacks <= len(census.coming)
    wait = found.longest if is_starting else found.patience
    if deadline.forced:
        return _dying(found, evictor, deadline, wait)
    end = min(item.release.since + wait, deadline.at - COMES_BACK)
    if census.crashing:
        end = deadline.at
    if lacks == 1 and not is_starting and (rest := _rest(census)):
        return Allowed(reason=Reason.COOLING_DOWN, message=rest, warning=True, counted=True)
    if census.now < end:
        return Deferred(
            reason=Reason.REPLACEMENT_PENDING,
            message=f"its replacement is not available yet: {counts}",
            retry_after=_retry(census.now - item.release.since, end - census.now),
            until=end,
        )
    message = f"no replacement was available by {in_words(end)}: {counts}"
    return Allowed(reason=Reason.PATIENCE_OVER, message=message, warning=True)


def _rest(census: Census) -> str:
    """Since when and why a workload rests from evictions; empty if it does not."""
    cooldown = verdicts.resting(census, names.EVICTION_COOLDOWN)
    if cooldown is None:
        return ""
    return (
        f"{cooldown.failures} evictions from {census.owner.workload} found no replacement:"
        f" until {in_words(cooldown.until)} one pod at a time passes without one"
    )


def _not_counted(found: GatedPod) -> Verdict:
    """A pod that was put back or evicted since it was read, or whose release cannot be true.

    It is read again, until its patience is over: its owner may write such a release all the time.
    One that cannot be read, or of which a part was undone, goes back to its owner meanwhile.
    """
    census, pod = found.census, found.pod
    if census.now - _asked_since(found) >= found.patience:
        message = "it is released, and not by what Evenkeel would write"
        return Allowed(reason=Reason.PATIENCE_OVER, message=message, warning=True)
    is_spoilt = any(each.uid == pod.uid for each in census.unreadable)
    step = verdicts.unreadable(census, pod) if is_spoilt else None
    message = "the pod has changed meanwhile"
    return Deferred(reason=Reason.CHANGED, message=message, retry_after=SHORTEST_RETRY, step=step)


def _dying(found: GatedPod, evictor: Evictor, deadline: Deadline, wait: timedelta) -> Verdict:
    """A pod whose node dies passes when its forced eviction is due, or its patience is over.

    ``wait``: how long its replacement may take.

    A node may die as late as its notice says: an hour after a lifecycle action, and a kubelet may
    write any time into the notice of its own node. Where that is later than the eviction would
    wait, it is noted on the pod since when it does.
    """
    census, pod = found.census, found.pod
    last_moment = deadline.evict_by(pod)
    if census.now >= last_moment:
        message = "its node dies and its grace period has to fit: it goes, replacement or not"
        return Allowed(reason=Reason.LAST_MOMENT, message=message, warning=True)
    end = min(last_moment, _asked_since(found) + wait)
    if census.now >= end:
        message = f"its node dies, and no replacement was available by {in_words(end)}"
        return Allowed(reason=Reason.PATIENCE_OVER, message=message, warning=True)
    rest = end - census.now
    return Deferred(
        reason=Reason.NODE_DOOMED,
        message="its node dies, and Evenkeel hands it over",
        retry_after=_retry(rest, rest),
        until=end,
        step=_note(found, evictor, Reason.NODE_DOOMED) if end < last_moment else None,
    )


def _by_workload(found: GatedPod) -> Allowed | None:
    """Why a pod passes that is not released: no replacement is to be had, or none is waited for."""
    census = found.census
    replica_set = census.owner.replica_set
    if replica_set is None or census.count.replicas_to_keep == 0:
        return Allowed(reason=Reason.NOT_WANTED, message="its ReplicaSet wants no pods")
    failure = replica_set.cannot_create
    if failure is not None:
        message = f"no replacement can be made: {failure.message}"
        return Allowed(reason=Reason.CANNOT_BE_REPLACED, message=message, warning=True)
    budget = hold_now(found.held)
    if budget is not None:
        return Allowed(reason=Reason.BUDGET_HOLDS, message=f"{budget.reference} decides")
    return None


def _release(found: GatedPod, evictor: Evictor) -> Verdict:
    census, pod = found.census, found.pod
    is_last = census.count.available <= 1
    is_overdue = found.may_exceed and census.now - _asked_since(found) >= found.patience
    deadline = Deadline(census.now + found.patience + COMES_BACK, forced=False)
    waiting = pace.waiting_of(census, Candidate(pod, deadline))
    if waiting is None or not (found.has_room or is_last or is_overdue):
        # A pod beyond the window waits until that has room, or its patience is over.
        return Deferred(
            reason=Reason.WINDOW_FULL,
            message=WINDOW_FULL,
            retry_after=LONGEST_RETRY / 2,
            step=_note(found, evictor, Reason.WINDOW_FULL),
            in_turn=True,
        )
    release = pace.release(
        waiting,
        census.now,
        ReleaseReason.EVICTION,
        why=Reason.EVICTION_ASKED,
        asked_by=evictor.username[:LONGEST_NAME],
    )
    return Deferred(
        reason=Reason.RELEASED,
        message=f"{waiting.replica_set.name} makes its replacement first",
        retry_after=SHORTEST_RETRY,
        until=census.now + found.longest,
        step=release,
    )


def _noted_since(found: GatedPod) -> datetime | None:
    """Since when the eviction waits as far as its pod tells; None if that tells nothing.

    It tells so by the release that the eviction led to, or by a note. A note of the future, or of
    an eviction that nobody went on asking for, tells nothing.
    """
    release = found.pod.release if found.pod.released else None
    if release is not None and release.is_asked:
        return release.since
    asked, now = found.pod.asked, found.census.now
    if asked is None or not timedelta() <= now - asked.since < found.patience + found.longest:
        return None
    return asked.since


def _asked_since(found: GatedPod) -> datetime:
    """Since when the eviction waits, as its pod tells or this process knows."""
    here = found.census.now - found.waited
    return min(here, _noted_since(found) or here)


def _note(found: GatedPod, evictor: Evictor, reason: Reason) -> Decision | None:
    """Note on the pod since when its eviction waits; None if it tells that already."""
    if _noted_since(found) is not None:
        return None
    pod = found.pod
    note = Asked(by=evictor.username[:LONGEST_NAME], since=_asked_since(found))
    return Decision.about(
        pod,
        Verb.WAIT,
        reason,
        f"{note.by} asks to evict it: it is released in its turn",
        workload=found.census.owner.workload,
        write=writes.annotate(pod, names.ASKED, note.encode()),
    )


def _retry(waited: timedelta, rest: timedelta) -> timedelta:
    """How long a client that has waited so long waits on: whole seconds, not past its end."""
    told = min(max(waited / 2, SHORTEST_RETRY), LONGEST_RETRY, max(rest, SHORTEST_RETRY))
    return timedelta(seconds=math.ceil(told.total_seconds()))
