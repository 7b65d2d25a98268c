"""Whether the API server answers the function's role."""

from typing import Final

from evenkeel.errors import ClusterError
from evenkeel.flows.asking import ask
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster

ANY_NODE: Final = List(Selection(Node), limit=1, metadata_only=True)
"""A question that needs the right to read nodes, as every notice does, and costs one object."""


def probe(cluster: Cluster) -> ClusterError | None:
    """Ask one question; None if it was answered."""
    try:
        ask(cluster, ANY_NODE)
    except ClusterError as error:
        return error
    return None
