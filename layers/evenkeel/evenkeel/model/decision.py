"""Decisions: what Evenkeel does, or leaves, and why."""

from datetime import datetime
from enum import StrEnum
from typing import Self, TypedDict, Unpack

import msgspec

from evenkeel.model.meta import KubernetesObject, Reference
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Write
from evenkeel.model.way import Way


class Verb(StrEnum):
    """What a decision does to its subject."""

    MARK = "mark"
    CORDON = "cordon"
    DRAIN = "drain"
    LIFT = "lift"
    COMPLETE = "complete"
    EXCLUDE = "exclude-from-load-balancers"
    RELEASE = "release"
    EVICT = "evict"
    DELETE = "delete"
    ROLL_BACK = "roll-back"
    TAINT = "taint"
    SET_CONDITION = "set-condition"
    TELL = "tell"
    COOL_DOWN = "cool-down"
    TRY_AGAIN = "try-again"
    SEAT = "seat"
    FREE = "free"
    LET_IN = "let-in"
    HOLD_NODE = "hold-node"
    LET_GO = "let-go"
    RELAX = "relax-floor"
    HOLD = "hold-floor"
    PATCH_TEMPLATE = "patch-template"
    PLACE = "place"
    WAIT = "wait"
    LEAVE = "leave"
    ACKNOWLEDGE = "acknowledge"
    RETRY = "retry"
    REJECT = "reject"


QUIET_VERBS = frozenset(
    {Verb.PLACE, Verb.WAIT, Verb.LEAVE, Verb.ACKNOWLEDGE, Verb.RETRY, Verb.REJECT}
)
"""Verbs that change nothing in the cluster: a pod that is placed is not in it yet."""


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """Why a pod goes its way, and what its owner can change to get a better one.

    ``cause`` is the same for all pods for which it is so, and has no numbers in it that change;
    ``remedy`` is empty where nothing is known that would help.
    """

    way: Way
    cause: str
    remedy: str = ""


class Details(TypedDict, total=False):
    """What a decision may have beside verb, subject, reason and message."""

    workload: Reference | None
    until: datetime | None
    warning: bool
    forced: bool
    write: Write | None
    why: Why | None


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One decision about one object.

    ``reason`` is a CamelCase word as in Kubernetes Events, ``message`` a sentence for
    people, ``workload`` and ``node`` what else it concerns, ``until`` when a wait ends at
    the latest, ``write`` the request that carries it out. ``forced``: the last moment is
    here, so a budget's refusal is not the last word. ``why``, of a pod that a node's notice
    concerns: its way, with cause and remedy.
    """

    verb: Verb
    subject: Reference
    reason: Reason
    message: str
    workload: Reference | None = None
    node: str = ""
    until: datetime | None = None
    warning: bool = False
    forced: bool = False
    write: Write | None = None
    why: Why | None = None

    @classmethod
    def about(
        cls,
        item: KubernetesObject | Reference,
        verb: Verb,
        reason: Reason,
        message: str,
        **details: Unpack[Details],
    ) -> Self:
        """A decision about an object, at its node if it is a pod or a node."""
        return cls(
            verb=verb,
            subject=item if isinstance(item, Reference) else item.reference,
            node=_node_of(item),
            reason=reason,
            message=message,
            **details,
        )


def _node_of(item: KubernetesObject | Reference) -> str:
    if isinstance(item, Pod):
        return item.spec.node_name
    return item.name if isinstance(item, Node) else ""
