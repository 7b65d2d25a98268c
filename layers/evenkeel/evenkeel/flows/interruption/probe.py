"""Whether the API server answers the function's role, and whether Evenkeel is paused."""

from typing import Final, NamedTuple

from evenkeel.errors import ClusterError, NotFoundError
from evenkeel.flows.pause import QUESTION
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster

ANY_NODE: Final = List(Selection(Node), limit=1, metadata_only=True)
"""A question that needs the right to read nodes, as every notice does, and costs one object."""


class Probed(NamedTuple):
    """What the API server answered: an error, or whether Evenkeel is paused."""

    error: ClusterError | None = None
    is_paused: bool = False


def probe(cluster: Cluster) -> Probed:
    """Ask both questions."""
    any_node, pause = cluster.perform([ANY_NODE, QUESTION])
    if any_node.error is not None:
        return Probed(any_node.error)
    if isinstance(pause.error, NotFoundError):
        return Probed()
    return Probed(pause.error, is_paused=pause.error is None)
