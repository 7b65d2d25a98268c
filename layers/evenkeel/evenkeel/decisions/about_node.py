"""A decision about a node, from whatever decides about one."""

from datetime import datetime

from evenkeel.model.decision import Decision, Verb
from evenkeel.model.node import Node
from evenkeel.model.request import Write


def decide(
    node: Node,
    verb: Verb,
    reason: str,
    message: str,
    *,
    write: Write | None = None,
    until: datetime | None = None,
    warning: bool = False,
) -> Decision:
    """The decision, which names the node as its subject and as where it happens."""
    return Decision(
        verb=verb,
        subject=node.reference,
        node=node.name,
        reason=reason,
        message=message,
        write=write,
        until=until,
        warning=warning,
    )
