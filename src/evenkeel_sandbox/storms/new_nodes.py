"""Nodes that could be made for a cluster: ones like those that it has."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.node import Node
from evenkeel_sandbox.simulator.api.objects import Obj
from evenkeel_sandbox.simulator.placement import Room

KIND: Final = (names.ZONE, names.ARCH, names.OS)
"""Labels of which a pod needs the value that its node has."""


def shapes(nodes: Sequence[Obj], labels: CapacityLabels) -> Sequence[Obj]:
    """A node of each kind that may be made, without what was its own.

    Where all nodes of a kind are spot, on-demand ones of their sizes may be.
    """
    open_ = [node for node in nodes if not node["spec"].get("unschedulable")]
    types = [labels.of(msgspec.convert(node, Node)) for node in open_]
    own = [each is Capacity.ON_DEMAND for each in types]
    kinds = {_kind(node) for node, is_own in zip(open_, own, strict=True) if is_own}
    found = [
        _shape(on_demand(node, labels))
        for node, is_own in zip(open_, own, strict=True)
        if is_own or _kind(node) not in kinds
    ]
    return list({repr(each): each for each in found}.values())


def like(node: Obj) -> Obj:
    """A node of this kind and capacity type, without what was its own."""
    return _shape(node)


def on_demand(node: Mapping[str, Any], labels: CapacityLabels) -> Obj:
    """The node as an on-demand one, also by its taints."""
    its = dict(node["metadata"].get("labels", {}))
    its |= {key: Capacity.ON_DEMAND.value for key in labels.keys if key in its}
    its.pop(names.INTERRUPTIBLE, None)
    taints = [each for each in node["spec"].get("taints", ()) if each["key"] not in labels]
    spec = {**node["spec"], "taints": taints}
    return {**node, "metadata": {**node["metadata"], "labels": its}, "spec": spec}


def named(shape: Obj, name: str) -> dict[str, Any]:
    """The node of this kind and name."""
    zone = shape["metadata"]["labels"].get(names.ZONE, "zone")
    labels = {**shape["metadata"]["labels"], "kubernetes.io/hostname": name}
    return {
        **shape,
        "metadata": {"name": name, "labels": labels},
        "spec": {**shape["spec"], "providerID": f"aws:///{zone}/{instance_id(name)}"},
    }


def instance_id(name: str) -> str:
    """What EC2 could call the instance of the node of this name."""
    return f"i-{hashlib.sha256(name.encode()).hexdigest()[:17]}"


def empty(node: Obj) -> Room:
    """A node with nothing on it."""
    room = Room(node)
    room.renew(node)
    return room


def _kind(node: Obj) -> tuple[object, ...]:
    """What no other node can be in a node's place: its zone, machine, system and devices."""
    its = node["metadata"].get("labels", {})
    devices = (each for each in node["status"].get("allocatable", {}) if "/" in each)
    return (*(its.get(key, "") for key in KIND), frozenset(devices))


def _shape(node: Obj) -> Obj:
    its = {**node["metadata"].get("labels", {}), "kubernetes.io/hostname": ""}
    taints = [each for each in node["spec"].get("taints", ()) if not _is_passing(each)]
    status = {key: node["status"].get(key, {}) for key in ("capacity", "allocatable")}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "", "labels": its},
        "spec": {"taints": taints},
        "status": status,
    }


def _is_passing(taint: Mapping[str, Any]) -> bool:
    """Whether a taint says how a node is at the moment."""
    return taint["key"].startswith("node.kubernetes.io/") or taint["key"] in names.DRAINING_TAINTS
