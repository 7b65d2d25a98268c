"""The nodes' instances and labels of a capacity type, and whether EC2 says the same."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel_cli import capacity, words
from evenkeel_cli.aws.asking import AwsError
from evenkeel_cli.decisions.unknown_capacity import of_unknown_capacity
from evenkeel_cli.doctor.check import Finding, broken, fine, if_told, not_looked, unknown
from evenkeel_cli.doctor.cluster.facts import ClusterFacts

KINDS: Final = "nodes"
MOST_NAMED: Final = 3

type Known = Mapping[str, Instance]
"""EC2's instances by their ids."""


def elsewhere(facts: ClusterFacts) -> Iterator[Finding]:
    """Whether there are nodes, and no notice can be about one of them; else nothing is said."""
    nodes = facts.nodes()
    kinds = sorted({node.elsewhere for node in nodes})
    if kinds and all(kinds):
        yield not_looked(
            f"{words.counted(len(nodes), 'node')}, and EC2 runs none of them ({', '.join(kinds)}):"
            " no notice can be about one, and Evenkeel has nothing to do",
            link=KINDS,
        )


def in_ec2(facts: ClusterFacts) -> Sequence[Node]:
    """The nodes that notices can be about. Raises ClusterError."""
    return [node for node in facts.nodes() if not node.elsewhere]


def may_have_notices(facts: ClusterFacts) -> bool:
    """Whether notices can be about nodes, now or later. Raises ClusterError."""
    return not facts.nodes() or bool(in_ec2(facts))


def instances(facts: ClusterFacts) -> Iterator[Finding]:
    """Whether notices find their nodes; nothing is said if they do.

    - nodes do not say in ``spec.providerID`` what they are;
    - EC2 knows a node by another name, and its instance has no cluster's tag: then all nodes are
      not searched for it.
    """
    nodes = in_ec2(facts)
    without = [node for node in nodes if not node.spec.provider_id]
    if without:
        yield broken(
            f"{_named(without)} without spec.providerID: a notice finds such a node only where it"
            " is called what EC2 calls it (private DNS name), and not once it is terminated",
            "run AWS's cloud controller manager, and kubelets with --cloud-provider=external",
        )
    known = if_told(facts.instances)
    foreign = [node for node in nodes if _seems_foreign(node, known)]
    if foreign:
        yield broken(
            f"the instances of {_named(foreign)} have no cluster's tag, and EC2 calls them"
            " otherwise: their notices are dropped",
            "tag them kubernetes.io/cluster/NAME=owned, best where they are made",
        )


def capacity_labels(facts: ClusterFacts) -> Finding:
    """Whether the nodes tell their capacity type.

    - there is no node: nothing is known;
    - a node's label says neither spot nor on-demand: broken;
    - every node has a label, or EC2 says of each without one that it is no spot instance: fine;
    - EC2 calls one spot, or none has a label: broken;
    - else EC2 has to be asked.
    """
    nodes, labels, known = in_ec2(facts), facts.labels, if_told(facts.instances)
    if not nodes:
        return unknown("there is no node", "ask again when there is one")
    for label, found in of_unknown_capacity(nodes, labels).doubtful.items():
        said = _named([node for node in nodes if node.name in found])
        return broken(
            f"the label {label} of {said} says neither spot nor on-demand: no floor holds there",
            f"{capacity.advice(labels, label)}; likewise the stack's CapacityLabels",
        )
    without = [node for node in nodes if not labels.are_on(node)]
    if not without:
        return fine(f"{words.counted(len(nodes), 'node')} with a label")
    remedy = f"label spot nodes {labels.spot_label}, best where they are made"
    said = f"{_named(without)} of {len(nodes)} without one of {labels} count as on-demand"
    if spot := [node for node in without if _is_spot(node, known)]:
        return broken(f"{said}, and EC2 calls {_named(spot)} spot", remedy)
    if known is not None and all(node.instance_id in known for node in without):
        return fine(f"{said}, which EC2 says they are")
    if len(without) == len(nodes):
        return broken(f"no node has one of {labels}: all count as on-demand", remedy)
    return unknown(said, f"{remedy}; with --stack-name EC2 is asked whether they are")


def spot(facts: ClusterFacts) -> Finding:
    """Whether the nodes that EC2 may take back are labelled so, and no others."""
    nodes, labels = in_ec2(facts), facts.labels
    try:
        known = facts.instances()
    except AwsError as error:
        return unknown(str(error), "ask again with the permission ec2:DescribeInstances")
    if known is None:
        return not_looked("EC2 was not asked", "name the stack: --stack-name NAME")
    spot = [node for node in nodes if _is_spot(node, known)]
    if hidden := [node for node in spot if not labels.call_spot(node)]:
        said = f"EC2 calls {_named(hidden)} spot, and the labels do not: floors count on them"
        return broken(said, f"label them {labels.spot_label}, best where they are made")
    called = [node for node in nodes if labels.call_spot(node) and node not in spot]
    if wrong := [node for node in called if node.instance_id in known]:
        said = f"the labels call {_named(wrong)} spot, and EC2 does not: its notices are refused"
        return broken(said, "mend the label where the nodes are made")
    if unlisted := [each for each in nodes if each.instance_id and each.instance_id not in known]:
        return unknown(
            f"EC2 does not list the instances of {_named(unlisted)}: their notices are believed by"
            " the label alone",
            "check the region and the account you ask as",
        )
    return fine(f"{words.counted(len(spot), 'node')}, each labelled so")


def _seems_foreign(node: Node, known: Known | None) -> bool:
    instance = (known or {}).get(node.instance_id)
    return instance is not None and not instance.belongs_to_any and instance.node_name != node.name


def _is_spot(node: Node, known: Known | None) -> bool:
    instance = (known or {}).get(node.instance_id)
    return instance is not None and instance.is_reclaimable


def _named(nodes: Collection[Node]) -> str:
    shown = words.listed([words.short_node(node.name) for node in nodes], MOST_NAMED)
    return f"{words.counted(len(nodes), 'node')} ({shown})"
