"""Pods that belong to their node: they stay as long as it does, and go nowhere else."""

from typing import Final

from evenkeel.model import names
from evenkeel.model.controllers.kinds import KINDS
from evenkeel.model.deployments import DEPLOYMENTS
from evenkeel.model.pod import Pod

MOVED_CONTROLLERS: Final = frozenset({*DEPLOYMENTS, *KINDS})
"""Kinds of controllers whose pods do not belong to their nodes, even if they are bound to one."""


def is_of_node(pod: Pod) -> bool:
    """Whether a pod stays as long as its node: a DaemonSet's, or a static one."""
    owner = pod.controller
    return is_mirror(pod) or is_of_daemon(pod) or (owner is not None and owner.full_kind == "Node")


def is_mirror(pod: Pod) -> bool:
    """Whether a pod is the API's picture of a static one."""
    return names.MIRROR_POD in pod.metadata.annotations


def is_of_daemon(pod: Pod) -> bool:
    """Whether a pod is a DaemonSet's, or like one: each node has one, bound by its name.

    Others have kinds for that, too, such as OpenKruise's DaemonSet.
    https://openkruise.io/docs/user-manuals/advanceddaemonset/
    """
    owner, affinity = pod.controller, pod.spec.affinity
    if owner is None or owner.full_kind == "DaemonSet":
        return owner is not None
    terms = affinity.required_terms if affinity is not None else ()
    is_bound = bool(terms) and all(term.field_node for term in terms)
    return is_bound and owner.full_kind not in MOVED_CONTROLLERS
