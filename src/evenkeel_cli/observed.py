"""What an observer saw, as an account of an interruption has it."""

from collections.abc import Container, Iterator, Mapping
from datetime import datetime

from evenkeel.model.interruption import Key, key_of
from evenkeel.model.pod_count import PodCount
from evenkeel_cli.history.incident import Seen
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.workloads import SERVING
from evenkeel_cli.moves import Move
from evenkeel_sandbox.observer.workloads import Observer


def of(observer: Observer, now: datetime, unwarned: Container[str]) -> Seen:
    """Its counts of the workloads that are to have so many pods, and the pods that were lost.

    ``unwarned`` are the nodes that left no time for a handover.
    """
    return Seen(now, list(_counts(observer)), list(_lost(observer, unwarned)))


def lowest(observer: Observer) -> Mapping[Key, int]:
    """The fewest pods that each workload had."""
    return {
        key_of(each): health.lowest
        for each, health in observer.workloads.items()
        if each.kind in SERVING
    }


def _counts(observer: Observer) -> Iterator[PodCount]:
    for workload, health in observer.workloads.items():
        if workload.kind in SERVING:
            for at, ready, wanted in health.seen:
                yield PodCount(at=at, workload=workload, available=ready, wanted=wanted or 0)


def _lost(observer: Observer, unwarned: Container[str]) -> Iterator[PodAccount]:
    for uid, pod in observer.lost_pods.items():
        health = observer.health_of(uid)
        if health is not None and health.workload.kind != "DaemonSet":
            node = pod.spec.node_name
            yield PodAccount(
                subject=pod.reference,
                node=node,
                workload=health.workload,
                way=Move.LOST,
                warned=node not in unwarned,
                lost_at=observer.lost_nodes.get(node),
            )
