"""The kinds of controllers that Evenkeel knows. A new one is a module beside, and a line here."""

from collections.abc import Mapping
from typing import Final

from evenkeel.model.controllers.clone_set import CloneSet
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.job import Job
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.way import Way

KINDS: Final[Mapping[str, type[Controller]]] = {
    kind.resource.full_kind: kind for kind in (ReplicaSet, StatefulSet, Job, CloneSet)
}
"""By the full name of the kind, see ``OwnerReference.full_kind``."""

EVERYWHERE: Final = {name: kind for name, kind in KINDS.items() if not kind.resource.is_custom}
"""Those of them that every cluster has."""

RELEASING: Final = ReplicaSet
"""Pods are released from ReplicaSets alone. A release notes the controller's name, not its kind."""


def way_of(full_kind: str) -> Way | None:
    """The way of the pods of a kind of controllers; None of one that Evenkeel does not know."""
    kind = KINDS.get(full_kind)
    return None if kind is None else kind.way
