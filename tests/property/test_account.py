"""The account that is made of the decision log says what an observer saw, or that it is not known.

A story has a storm, and strangers who delete pods, scale and roll out. Each count of the account
holds until the next one; where it is low it is held against what the observer counted at the same
time, and the other way round while pods of the workload go.

Two things leave no trace that a log could have. A machine that dies without a notice is not known
to do so before the node controller finds out: no story has one. A pod that a stranger deletes while
the drain does not look makes one dip of two: the account has then the whole of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from hypothesis import given, note
from hypothesis import strategies as st

from evenkeel.model.interruption import Key, key_of
from evenkeel_cli.history import incident
from evenkeel_cli.history.counts import Count
from evenkeel_cli.history.workloads import WorkloadAccount
from evenkeel_sandbox.observer.health import Health
from tests.kit.scene import Scene
from tests.property.judging import tries
from tests.property.small_storms import Deed, World, deeds, do, log_of, staged, worlds

CLOSE: Final = timedelta(seconds=3)
"""So far from a change two who count may see different things: counts are a second apart."""

END: Final = 420


class Tale(NamedTuple):
    """Workloads, when which nodes are interrupted, and what others do."""

    world: World
    storm: Sequence[tuple[int, int]]
    deeds: Sequence[Deed]


def tales() -> st.SearchStrategy[Tale]:
    """Small storms in which strangers delete, scale and roll out."""
    storms = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60)), min_size=1, max_size=3)
    return st.builds(Tale, worlds(), storms, st.lists(deeds(), max_size=3))


class Played(NamedTuple):
    """The account of the log, what was seen of each workload, and when the story began."""

    accounts: Sequence[WorkloadAccount]
    seen: Mapping[Key, Health]
    begins: datetime


def played(tale: Tale) -> Played:
    """Let a story happen."""
    with staged(tale.world) as scene:
        for which, after in tale.storm:
            scene.later(after, partial(_interrupt, scene, f"s{which}"))
        for deed in tale.deeds:
            scene.later(deed.after, partial(do, scene, tale.world, deed))
        scene.run(until=END)
        found = incident.of(log_of(scene))
        seen = {key_of(each): health for each, health in scene.observer.workloads.items()}
        return Played(found.workloads if found is not None else (), seen, scene.at(0))


def deletions(tale: Tale, name: str, begins: datetime) -> Sequence[datetime]:
    """When strangers delete pods of a workload."""
    return [
        begins + timedelta(seconds=each.after)
        for each in tale.deeds
        if each.what == "delete" and f"w{each.which % len(tale.world.workloads)}" == name
    ]


def _interrupt(scene: Scene, node: str) -> None:
    """A node gets a notice, and its instance ends two minutes later."""
    if _is_there(scene, node):
        scene.interrupt(node, carried_out=False)
        scene.later(scene.seconds + 120, partial(_take, scene, node))


def _take(scene: Scene, node: str) -> None:
    if _is_there(scene, node):
        scene.take(node)


def _is_there(scene: Scene, node: str) -> bool:
    return any(each["metadata"]["name"] == node for each in scene.cluster.objects("Node"))


def untrue(
    account: WorkloadAccount, health: Health, deleted_at: Sequence[datetime]
) -> Iterator[str]:
    """What the account says that the observer did not see. ``deleted_at``: by strangers."""
    for count in account.counts:
        if not count.is_low or count.until is None:
            continue
        if any(count.at <= each <= count.until for each in deleted_at):
            continue
        begins, ends = count.at + CLOSE, count.until - CLOSE
        for at, ready, wanted in _between(health, begins, ends):
            if (ready, wanted) != (count.available, count.wanted):
                yield f"{count} was {ready} of {wanted} at {at}"


def missed(account: WorkloadAccount, health: Health) -> Iterator[str]:
    """What the observer saw while pods went that the account neither has nor calls unknown."""
    begins = min((step.time for pod in account.pods for step in pod.steps), default=None)
    ends = max((pod.went_at for pod in account.pods if pod.went_at), default=None)
    if begins is None or ends is None:
        return
    for at, ready, wanted in _between(health, begins + CLOSE, ends - CLOSE):
        if ready < (wanted or 0) and _lasts(health, at) > 2 * CLOSE:
            there = _at(account.counts, at + CLOSE)
            if there is not None and there.available is not None and not there.is_low:
                yield f"{ready} of {wanted} at {at}, and the account has {there}"


def _between(health: Health, begins: datetime, ends: datetime) -> Iterator[tuple[Any, ...]]:
    """What was so at any time in between."""
    for place, look in enumerate(health.seen):
        after = health.seen[place + 1 : place + 2]
        if look.at < ends and (not after or after[0].at > begins):
            yield look


def _lasts(health: Health, at: datetime) -> timedelta:
    later = (look.at for look in health.seen if look.at > at)
    return next(later, at + timedelta(hours=1)) - at


def _at(counts: Sequence[Count], at: datetime) -> Count | None:
    return next((each for each in reversed(counts) if each.at <= at), None)


@tries(0.2)
@given(tales())
def test_the_account_says_what_an_observer_saw_or_that_it_is_not_known(tale: Tale) -> None:
    accounts, seen, begins = played(tale)
    for account in accounts:
        health = seen.get(key_of(account.subject))
        if health is not None and account.counts:
            note(f"{account.subject}: {account.counts}\n{health.seen}")
            deleted_at = deletions(tale, account.subject.name, begins)
            assert not list(untrue(account, health, deleted_at))
            assert not list(missed(account, health))
