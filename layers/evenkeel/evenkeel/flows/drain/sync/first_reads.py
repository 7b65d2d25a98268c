"""Gathering: what an invocation reads before it decides anything."""

from datetime import datetime

from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync.questions import AtOnce, Questions
from evenkeel.flows.drain.sync.reader import Reader
from evenkeel.flows.drain.workload.needs import nodes_of, owner_and_namespace
from evenkeel.flows.reads import list_all
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.request import List
from evenkeel.ports import Clock, Cluster, Recorder


def is_any_work(cluster: Cluster, view: View) -> bool:
    """Read all marked nodes; whether there are any, or any released pods. Raises ClusterError.

    Who finds that another invocation is at work need not have read all pods for it.
    """
    any_released = List(selections.RELEASED_PODS, limit=1)
    nodes, released = list_all(cluster, [List(selections.MARKED_NODES), any_released])
    view.relist_nodes(nodes)
    return bool(nodes or released)


def read_pods(cluster: Cluster, view: View, now: datetime) -> None:
    """Read all released pods, fresh, and the pods of all doomed nodes. Raises ClusterError."""
    nodes = sorted(view.dooms)
    candidates = map(selections.candidates_on, nodes)
    for pods in list_all(cluster, [List(selections.RELEASED_PODS), *candidates]):
        for pod in pods:
            view.pods.see(pod)
    for name in nodes:
        view.facts.read(selections.candidates_on(name), now)


def read_facts(
    cluster: Cluster, view: View, labels: CapacityLabels, recorder: Recorder, clock: Clock
) -> None:
    """Read all that plans for the pods seen need; ``labels`` tell which nodes are spot.

    Raises ClusterError.
    """
    reader = Reader(cluster, view, labels, recorder, Questions(AtOnce(), clock))
    while True:
        for key in view.pods.controllers_of(view.pods):
            if pods := view.pods.of_controller(key):
                needs = owner_and_namespace(view, key, pods)
                view.facts.need(key, {**needs, **nodes_of(view, key, pods)})
        if not view.facts.are_missing:
            return
        reader.read(clock.now())


def read_peers(cluster: Cluster, view: View) -> None:
    """Read all pods of the controllers seen: what watches would show. Raises ClusterError."""
    labels = {each for found in view.controllers.values() for each in selections.labels_of(found)}
    chunks = [next(selections.showing(part)) for part in selections.chunks_of(labels)]
    for pods in list_all(cluster, [List(chunk) for chunk in chunks]):
        for pod in pods:
            view.pods.see(pod)
