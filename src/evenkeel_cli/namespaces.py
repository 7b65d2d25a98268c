"""The namespace that a person names: it has to be there."""

from collections.abc import Iterable
from contextlib import suppress

from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import ask, ask_for_one
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.names import is_subdomain
from evenkeel.model.request import Get, List, Selection
from evenkeel.ports import Cluster
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.suggesting import did_you_mean
from evenkeel_sandbox.snapshot_cluster import UNKNOWN


def unseen(spaces: Iterable[Namespace]) -> frozenset[str]:
    """The names of those that a snapshot lacks."""
    return frozenset(each.name for each in spaces if each.metadata.labels == UNKNOWN)


def check(cluster: Cluster, name: str) -> None:
    """Raise BadInputError where there is no such namespace; an empty name is all of them.

    Who may not read it may still read what is in it: then it counts as there. Raises ClusterError.
    """
    if not name:
        return
    try:
        if is_subdomain(name) and ask_for_one(cluster, Get(Namespace, name)) is not None:
            return
    except ForbiddenError:
        return
    remedy = "kubectl get namespaces lists those that are there"
    with suppress(ForbiddenError):
        listed = ask(cluster, List(Selection(Namespace), fresh=False, metadata_only=True)).items
        remedy = did_you_mean(name, ((each.name, each.name) for each in listed), remedy)
    raise BadInputError(f"there is no namespace {name}: {remedy}")
