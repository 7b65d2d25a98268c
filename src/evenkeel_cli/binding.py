"""Which node an event's instance is, where a person replays events of other instances."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, Notice
from evenkeel_cli import node_names
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.suggesting import did_you_mean


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person said about it: ``--instance`` and ``--strict-instances``.

    ``labels`` tell which nodes are spot, and so can be lent.
    """

    bound: Mapping[str, str]
    strict: bool = False
    labels: CapacityLabels = WELL_KNOWN


def parse(pairs: Sequence[str]) -> dict[str, str]:
    """``--instance I=NODE``, any number of times. Raises BadInputError."""
    bound: dict[str, str] = {}
    for pair in pairs:
        instance_id, separator, node = pair.partition("=")
        if not (instance_id and separator and node):
            raise BadInputError(f"--instance {pair}: should be INSTANCE=NODE, as in i-0123=node-a")
        if bound.get(instance_id, node) != node:
            raise BadInputError(f"--instance binds {instance_id} to two nodes: keep one of them")
        twin = next((i for i, n in bound.items() if n == node and i != instance_id), None)
        if twin is not None:
            raise BadInputError(
                f"--instance binds {twin} and {instance_id} to node {node}: a node is one instance"
            )
        bound[instance_id] = node
    return bound


def bind(
    notices: Sequence[Notice], nodes: Collection[Node], wish: Wish, *, lend: bool
) -> dict[str, str]:
    """The node of each instance that is not one of these nodes' own, by instance id.

    ``lend``: an instance that is not bound gets a node that no other instance of the notices has,
    in the order of ``nodes``: a spot node, or one on-demand where the notice concerns those. Raises
    BadInputError for a node that is not there, and when there is none left to lend.
    """
    bound = _whole(wish.bound, nodes)
    own = {node.instance_id: node.name for node in nodes if node.instance_id}
    wanted = list(dict.fromkeys(notice.instance_id for notice in notices))
    taken = {own[each] for each in wanted if each in own} | set(bound.values())
    on_demand = {n.instance_id for n in notices if n.concerns is Concern.RESERVED}
    free = {
        spot: iter(
            [n.name for n in nodes if wish.labels.call_spot(n) is spot and n.name not in taken]
        )
        for spot in (True, False)
    }
    if wish.strict or not lend:
        return bound
    for instance_id in wanted:
        if instance_id in own or instance_id in bound:
            continue
        spot = instance_id not in on_demand
        lent = next(free[spot], None)
        if lent is None:
            what = "spot" if spot else "on-demand"
            raise BadInputError(
                f"no {what} node is left for instance {instance_id}: bind it with --instance"
                f" {instance_id}=NODE, or leave it out with --strict-instances"
            )
        bound[instance_id] = lent
    return bound


def _whole(bound: Mapping[str, str], nodes: Collection[Node]) -> dict[str, str]:
    """The instances' nodes by their whole names. Raises BadInputError."""
    whole: dict[str, str] = {}
    for instance_id, name in bound.items():
        node = node_names.among(name, (node.name for node in nodes))
        if node is None:
            there = node_names.known(node.name for node in nodes)
            remedy = did_you_mean(name, there, node_names.UNKNOWN)
            raise BadInputError(
                f"--instance {instance_id}={name}: there is no node {name}: {remedy}"
            )
        if node in whole.values():
            raise BadInputError(f"--instance binds two instances to node {node}: a node is one")
        whole[instance_id] = node
    return whole
