"""The nodes' instances and labels of a capacity type, and whether EC2 says the same."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from evenkeel.errors import InstancesError
from evenkeel.flows.reads import ask
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster, Instances
from evenkeel.settings.shared import CAPACITY_LABELS
from evenkeel_cli import words
from evenkeel_cli.decisions.unknown_capacity import of_unknown_capacity
from evenkeel_cli.doctor.findings import Finding, broken, fine, not_looked, unknown

KINDS = "nodes"
INSTANCES = "instances of nodes"
LABELS = "capacity labels"
SPOT = "spot nodes in EC2"
MOST_NAMED = 3

type Known = Mapping[str, Instance]
"""EC2's instances by their ids."""


def gather(cluster: Cluster) -> Sequence[Node]:
    """All nodes. Raises ClusterError."""
    return ask(cluster, List(Selection(Node), fresh=False)).items


def look(
    nodes: Sequence[Node], labels: CapacityLabels, instances: Instances | None
) -> Iterator[Finding]:
    """All links; ``instances`` None: EC2 is not asked."""
    known: Known | None = None
    failure = ""
    if instances is not None:
        try:
            known = instances.describe([node.instance_id for node in nodes if node.instance_id])
        except InstancesError as error:
            failure = str(error)
    found = list(without_notices(nodes))
    yield from found
    if found:
        return
    nodes = [node for node in nodes if not node.elsewhere]
    yield from judge_instances(nodes, known)
    yield judge_labels(nodes, labels, known)
    if failure:
        yield unknown(SPOT, failure, "ask again with the permission ec2:DescribeInstances")
    else:
        yield judge_spot(nodes, labels, known)


def without_notices(nodes: Sequence[Node]) -> Iterator[Finding]:
    """Tells where there are nodes and no notice can be about one of them."""
    kinds = sorted({node.elsewhere for node in nodes})
    if kinds and all(kinds):
        yield not_looked(
            KINDS,
            f"{words.counted(len(nodes), 'node')}, and EC2 runs none of them ({', '.join(kinds)}):"
            " no notice can be about one, and Evenkeel has nothing to do",
        )


def judge_instances(nodes: Sequence[Node], known: Known | None) -> Iterator[Finding]:
    """Links that are broken where no notice finds a node.

    - nodes do not say in ``spec.providerID`` what they are;
    - EC2 knows a node by another name, and its instance has no cluster's tag: then all nodes are
      not searched for it.
    """
    without = [node for node in nodes if not node.spec.provider_id]
    if without:
        yield broken(
            INSTANCES,
            f"{_named(without)} without spec.providerID: a notice finds such a node only where it"
            " is called what EC2 calls it (private DNS name), and not once it is terminated",
            "run AWS's cloud controller manager, and kubelets with --cloud-provider=external",
        )
    foreign = [node for node in nodes if _seems_foreign(node, known)]
    if foreign:
        yield broken(
            INSTANCES,
            f"the instances of {_named(foreign)} have no cluster's tag, and EC2 calls them"
            " otherwise: their notices are dropped",
            "tag them kubernetes.io/cluster/NAME=owned, best where they are made",
        )


def judge_labels(nodes: Sequence[Node], labels: CapacityLabels, known: Known | None) -> Finding:
    """Whether the nodes tell their capacity type.

    - there is no node: nothing is known;
    - a node's label says neither spot nor on-demand: broken;
    - every node has a label, or EC2 says of each without one that it is no spot instance: fine;
    - EC2 calls one spot, or none has a label: broken;
    - else EC2 has to be asked.
    """
    without = [node for node in nodes if not labels.are_on(node)]
    if not nodes:
        return unknown(LABELS, "there is no node", "ask again when there is one")
    doubtful = of_unknown_capacity(nodes, labels).doubtful
    if doubtful:
        label, found = next(iter(doubtful.items()))
        said = _named([node for node in nodes if node.name in found])
        return broken(
            LABELS,
            f"the label {label} of {said} says neither spot nor on-demand: no floor holds there",
            f"if it means spot, set {CAPACITY_LABELS}={label}, and the stack's CapacityLabels",
        )
    if not without:
        return fine(LABELS, f"{words.counted(len(nodes), 'node')} with a label")
    spot = [node for node in without if _is_spot(node, known)]
    remedy = f"label spot nodes {labels.keys[0]}={names.SPOT}, best where they are made"
    said = f"{_named(without)} of {len(nodes)} without one of {labels} count as on-demand"
    if spot:
        return broken(LABELS, f"{said}, and EC2 calls {_named(spot)} spot", remedy)
    if known is not None and all(node.instance_id in known for node in without):
        return fine(LABELS, f"{said}, which EC2 says they are")
    if len(without) == len(nodes):
        return broken(LABELS, f"no node has one of {labels}: all count as on-demand", remedy)
    return unknown(LABELS, said, f"{remedy}; with --stack-name EC2 is asked whether they are")


def judge_spot(nodes: Sequence[Node], labels: CapacityLabels, known: Known | None) -> Finding:
    """Whether the nodes that EC2 may take back are labelled so, and no others."""
    if known is None:
        return not_looked(SPOT, "EC2 was not asked", "name the stack: --stack-name NAME")
    spot = [node for node in nodes if _is_spot(node, known)]
    hidden = [node for node in spot if not labels.call_spot(node)]
    wrong = [
        node
        for node in nodes
        if labels.call_spot(node) and node.instance_id in known and not _is_spot(node, known)
    ]
    if hidden:
        return broken(
            SPOT,
            f"EC2 calls {_named(hidden)} spot, and the labels do not: floors count on them",
            f"label them {labels.keys[0]}={names.SPOT}, best where they are made",
        )
    if wrong:
        return broken(
            SPOT,
            f"the labels call {_named(wrong)} spot, and EC2 does not: its notices are refused",
            "mend the label where the nodes are made",
        )
    unlisted = [node for node in nodes if node.instance_id and node.instance_id not in known]
    if unlisted:
        return unknown(
            SPOT,
            f"EC2 does not list the instances of {_named(unlisted)}: their notices are believed by"
            " the label alone",
            "check the region and the account you ask as",
        )
    return fine(SPOT, f"{words.counted(len(spot), 'node')}, each labelled so")


def _seems_foreign(node: Node, known: Known | None) -> bool:
    instance = (known or {}).get(node.instance_id)
    return instance is not None and not instance.belongs_to_any and instance.node_name != node.name


def _is_spot(node: Node, known: Known | None) -> bool:
    instance = (known or {}).get(node.instance_id)
    return instance is not None and instance.is_reclaimable


def _named(nodes: Collection[Node]) -> str:
    shown = ", ".join(words.short_node(node.name) for node in list(nodes)[:MOST_NAMED])
    more = f" and {len(nodes) - MOST_NAMED} more" if len(nodes) > MOST_NAMED else ""
    return f"{words.counted(len(nodes), 'node')} ({shown}{more})"
