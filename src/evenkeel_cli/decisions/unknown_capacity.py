"""The nodes whose capacity type is not known by their labels."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from evenkeel.model.capacity import CapacityLabels, is_in_block
from evenkeel.model.node import Node


class UnknownCapacity(msgspec.Struct, frozen=True):
    """The names of such nodes, and of those that are not what they count as.

    ``unlabelled`` have no capacity label, and count as on-demand. ``doubtful`` have one that says
    neither type, by that label, such as ``lifecycle=Ec2Spot``: they count as spot. ``elsewhere``
    are those that no EC2 instance runs, by what does: no label would have notices come. ``blocks``
    are in Capacity Blocks, which count as on-demand and end at a time that is known.
    """

    unlabelled: Sequence[str] = ()
    doubtful: Mapping[str, Sequence[str]] = {}
    elsewhere: Mapping[str, Sequence[str]] = {}
    blocks: Sequence[str] = ()


def of_unknown_capacity(nodes: Iterable[Node], labels: CapacityLabels) -> UnknownCapacity:
    """Those among these nodes."""
    unlabelled: list[str] = []
    doubtful = defaultdict[str, list[str]](list)
    elsewhere = defaultdict[str, list[str]](list)
    nodes = sorted(nodes, key=lambda node: node.name)
    for node in nodes:
        if where := labels.elsewhere(node):
            elsewhere[where].append(node.name)
            continue
        doubt = labels.doubt_about(node)
        if doubt is not None:
            doubtful["=".join(doubt)].append(node.name)
        elif not labels.are_on(node):
            unlabelled.append(node.name)
    blocks = tuple(node.name for node in nodes if is_in_block(node))
    return UnknownCapacity(unlabelled, doubtful, elsewhere, blocks)
