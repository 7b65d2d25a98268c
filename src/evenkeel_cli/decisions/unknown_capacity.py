"""The nodes whose capacity type is not known by their labels."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.node import Node


class UnknownCapacity(msgspec.Struct, frozen=True):
    """The names of such nodes.

    ``unlabelled`` have no capacity label, and count as on-demand. ``doubtful`` have one that says
    neither type, by that label, such as ``lifecycle=Ec2Spot``: they count as spot. ``elsewhere``
    are those that no EC2 instance runs, by what does: no label would have notices come.
    """

    unlabelled: Sequence[str] = ()
    doubtful: Mapping[str, Sequence[str]] = {}
    elsewhere: Mapping[str, Sequence[str]] = {}


def of_unknown_capacity(nodes: Iterable[Node], labels: CapacityLabels) -> UnknownCapacity:
    """Those among these nodes."""
    unlabelled: list[str] = []
    doubtful = defaultdict[str, list[str]](list)
    elsewhere = defaultdict[str, list[str]](list)
    for node in sorted(nodes, key=lambda node: node.name):
        if where := labels.elsewhere(node):
            elsewhere[where].append(node.name)
            continue
        doubt = labels.doubt_about(node)
        if doubt is not None:
            doubtful["=".join(doubt)].append(node.name)
        elif not labels.are_on(node):
            unlabelled.append(node.name)
    return UnknownCapacity(unlabelled, doubtful, elsewhere)
