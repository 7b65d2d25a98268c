"""Who dies with its node unless it is replaced before, and what is left of its workload then."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from operator import itemgetter

from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.margins import Dying
from evenkeel.decisions.handover.census import Census
from evenkeel.model.pod import Pod


def dying(census: Census, movers: Iterable[Pod]) -> Mapping[str, Dying]:
    """By uid the pods of a ReplicaSet that have no replacement, and whose node dies.

    Who has to be told first goes first; then released pods before the ``movers``, which are still
    owned, for their replacements have been asked for: what starts is theirs.
    """
    unreplaced = [
        (census.deadline_of(item), item.pod)
        for item in census.order_of_leaving
        if item.pod.uid not in census.leaving
    ]
    unreplaced += [(node_deadline(census.dooms[pod.spec.node_name]), pod) for pod in movers]
    forced = sorted(_forced(unreplaced), key=itemgetter(0))
    each = 1 / census.replicas if census.replicas else 0.0
    return {
        pod.uid: Dying(
            by,
            left=census.share_left + (len(forced) - position) * each,
            is_coming=position <= census.starting_off_doomed,
        )
        for position, (by, pod) in enumerate(forced, 1)
    }


def replaced(census: Census) -> Mapping[datetime, int]:
    """How many have their replacement, and by when they have to be told to go all the same."""
    leaving = (item for item in census.released if item.pod.uid in census.leaving)
    return Counter(
        by for by, _ in _forced((census.deadline_of(item), item.pod) for item in leaving)
    )


def _forced(pods: Iterable[tuple[Deadline, Pod]]) -> Iterator[tuple[datetime, Pod]]:
    """Those of these pods whose nodes die, and by when they have to be told to go."""
    return ((deadline.told_by(pod), pod) for deadline, pod in pods if deadline.forced)
