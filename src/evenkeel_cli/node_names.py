"""Nodes by the first part of their DNS names: that is how the commands print them."""

from collections.abc import Iterable, Iterator
from typing import Final

from evenkeel.flows.reads import ask, ask_for_one
from evenkeel.model.names import is_subdomain
from evenkeel.model.node import Node
from evenkeel.model.request import Get, List, Selection
from evenkeel.ports import Cluster
from evenkeel_cli import words
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.suggesting import did_you_mean

UNKNOWN: Final = "check the name"


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


def require(cluster: Cluster, name: str, where: str) -> str:
    """The whole name of the node that is meant.

    Raises BadInputError if there is none, or more than one, ClusterError. ``where`` is what has
    none, as in a message.
    """
    found = find(cluster, name)
    if found is not None:
        return found
    nodes = ask(cluster, List(Selection(Node), fresh=False, metadata_only=True)).items
    there = known(node.name for node in nodes)
    raise BadInputError(f"{where} has no node {name}: {did_you_mean(name, there, UNKNOWN)}")


def known(nodes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What nodes may be called, each with how the commands print it."""
    for name in nodes:
        short = words.short_node(name)
        yield from ((each, short) for each in {name, short})


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
