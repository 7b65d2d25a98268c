"""Nodes by the first part of their DNS names: that is how the commands print them."""

from collections.abc import Iterable

from evenkeel.flows.reads import ask, ask_for_one
from evenkeel.model.names import is_subdomain
from evenkeel.model.node import Node
from evenkeel.model.request import Get, List, Selection
from evenkeel.ports import Cluster
from evenkeel_cli import words
from evenkeel_cli.errors import BadInputError


def find(cluster: Cluster, name: str) -> str | None:
    """The whole name of the node that is meant; None if there is none.

    Raises BadInputError if it can be more than one, ClusterError.
    """
    if not is_subdomain(name):
        return None
    if ask_for_one(cluster, Get(Node, name)) is not None:
        return name
    if "." in name:
        return None
    nodes = ask(cluster, List(Selection(Node), fresh=False, metadata_only=True)).items
    return among(name, (node.name for node in nodes))


def among(name: str, nodes: Iterable[str]) -> str | None:
    """The name among these that is meant; None if it is none of them.

    Raises BadInputError if it can be more than one.
    """
    known = set(nodes)
    if name in known:
        return name
    found = sorted(node for node in known if words.short_node(node) == name)
    if len(found) > 1:
        raise BadInputError(f"node {name} may be {', '.join(found[:5])}: give the whole name")
    return found[0] if found else None
