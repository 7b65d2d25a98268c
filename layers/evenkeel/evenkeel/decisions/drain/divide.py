"""Among how many reconcilers the workloads of a storm are divided."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.division import MOST, UNDIVIDED, Division, share_of
from evenkeel.model.pod import Pod


def how_many(pods: int, pods_each: int) -> int:
    """So many reconcilers for so many pods, if each takes ``pods_each`` of them."""
    return min(MOST, max(1, -(-pods // pods_each)))


def divide(
    pods: Collection[Pod],
    budgets: Iterable[PodDisruptionBudget],
    pods_each: int,
    unread: Collection[str] = (),
) -> Division:
    """The division for these pods of doomed nodes.

    One reconciler decides about all pods that a budget selects. So a namespace stays whole in which
    a budget selects pods of several workloads, or, being ``unread``, may do so.
    """
    of = how_many(len(pods), pods_each)
    if of == 1:
        return UNDIVIDED
    shares = _Shares(pods)
    whole = (each.namespace for each in budgets if shares.are_several(each))
    return Division(of=of, whole=frozenset([*whole, *unread]))


class _Shares:
    """The labels of pods, by share, so that a budget need not look at all."""

    def __init__(self, pods: Iterable[Pod]) -> None:
        self._all = defaultdict[str, dict[str, dict[str, str]]](dict)  # by namespace
        self._with = defaultdict[tuple[str, str, str], dict[str, dict[str, str]]](dict)
        for pod in pods:
            share, labels = share_of(pod), pod.metadata.labels
            self._all[pod.namespace][share] = labels
            for key, value in labels.items():
                self._with[pod.namespace, key, value][share] = labels

    def are_several(self, budget: PodDisruptionBudget) -> bool:
        """Whether a budget selects pods of several."""
        selector, namespace = budget.spec.selector, budget.namespace
        if selector is None:
            return False
        asked = next(iter(selector.match_labels.items()), None)
        found = self._all[namespace] if asked is None else self._with[(namespace, *asked)]
        try:
            return sum(map(selector.matches, found.values())) > 1
        except ValueError:  # an operator of a later Kubernetes
            return True
