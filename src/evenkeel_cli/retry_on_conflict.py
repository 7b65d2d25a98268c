"""Read a node, decide about it, write that; again where another writer came in between."""

from collections.abc import Callable
from typing import Final

from evenkeel.errors import ClusterError, ConflictError, InvalidError
from evenkeel.flows.reads import ask
from evenkeel.model.decision import Decision
from evenkeel.model.node import Node
from evenkeel.model.request import Get
from evenkeel.ports import Cluster

ATTEMPTS: Final = 5
"""How often a node is read again that others write to as well."""


def change(
    cluster: Cluster, node_name: str, decide: Callable[[Node], Decision | None], *, act: bool
) -> Decision | None:
    """Decide about a node as it is now, and write that; what was decided.

    ``act`` False: only decide. Raises NotFoundError without such a node, and the ClusterError that
    kept the write from being made.
    """
    error: ClusterError | None = None
    for _ in range(ATTEMPTS):
        decision = decide(ask(cluster, Get(Node, node_name)))
        if decision is None or decision.write is None or not act:
            return decision
        (reply,) = cluster.perform([decision.write])
        error = reply.error
        if error is None:
            return decision
        if not isinstance(error, ConflictError | InvalidError):
            break
    assert error is not None  # noqa: S101 - there is an attempt
    raise error
