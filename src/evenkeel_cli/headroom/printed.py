"""The manifests of headroom: those of manifests/headroom, with their sizes filled in."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import yaml

from evenkeel.decisions.placement.clauses import bears_headroom, not_spot
from evenkeel.model import names
from evenkeel.model.affinity import NewAffinity, NodeAffinity, NodeSelector, NodeSelectorTerm
from evenkeel.model.capacity import CapacityLabels
from evenkeel_cli.headroom.present import RESERVED, CapacityBuffer
from evenkeel_cli.headroom.sizing import Room
from evenkeel_cli.manifests import Manifest
from evenkeel_hosting import files

FOLDER: Final = "headroom"
BUFFER: Final = "buffer.yaml"
PODS: Final = "pods.yaml"
COMPONENT: Final = "app.kubernetes.io/component"


def documents(name: str) -> Sequence[dict[str, Any]]:
    """The objects of one form as they are in manifests/."""
    return list(yaml.safe_load_all(files.manifest(FOLDER, name)))


def of_all_forms() -> Sequence[Manifest]:
    """All objects that headroom may have."""
    made = [_form(name, reserved=reserved) for name in (BUFFER, PODS) for reserved in (False, True)]
    by_name = {(e["kind"], e["metadata"]["name"]): e for form in made for e in form}
    return list(by_name.values())


def buffer(
    version: str, room: Room, labels: CapacityLabels, *, reserved: bool = False
) -> Sequence[Manifest]:
    """A PodTemplate and a CapacityBuffer of this version of its API."""
    template, made = _form(BUFFER, reserved=reserved)
    _fill(template["template"]["spec"], room, labels, reserved=reserved)
    made["apiVersion"] = f"{CapacityBuffer.resource.group}/{version}"
    made["spec"]["replicas"] = room.placeholders
    return [template, made]


def pause_pods(room: Room, labels: CapacityLabels, *, reserved: bool = False) -> Sequence[Manifest]:
    """A PriorityClass and a Deployment."""
    priority, deployment = _form(PODS, reserved=reserved)
    _fill(deployment["spec"]["template"]["spec"], room, labels, reserved=reserved)
    deployment["spec"]["replicas"] = room.placeholders
    return [priority, deployment]


def _form(name: str, *, reserved: bool) -> Sequence[dict[str, Any]]:
    """The objects of one form; reserved room has names and labels of its own, but one class."""
    made = documents(name)
    if reserved:
        for each in made:
            if each["kind"] != "PriorityClass":
                _rename(each)
    return made


def _rename(each: dict[str, Any]) -> None:
    each["metadata"]["name"] = RESERVED
    spec = each.get("spec", {})
    template = each.get("template") or spec.get("template") or {}
    bearers = (each["metadata"], spec.get("selector", {}), template.get("metadata", {}))
    for bearer in bearers:
        for field in ("labels", "matchLabels"):
            if field in bearer:
                bearer[field][COMPONENT] = f"{FOLDER}-{names.SINGLES}"
    if "podTemplateRef" in spec:
        spec["podTemplateRef"]["name"] = RESERVED


def _fill(spec: dict[str, Any], room: Room, labels: CapacityLabels, *, reserved: bool) -> None:
    """Give a pod spec its size, and keep it off spot.

    ``reserved``: on nodes with the taint that only pods of single replicas tolerate.
    """
    if reserved:
        spec["nodeSelector"] = {names.HEADROOM: names.SINGLES}
        spec["tolerations"] = [msgspec.to_builtins(bears_headroom())]
    term = NodeSelectorTerm(match_expressions=not_spot(labels))
    required = NodeSelector(node_selector_terms=(term,))
    affinity = NewAffinity(node_affinity=NodeAffinity(required=required))
    spec["affinity"] = msgspec.to_builtins(affinity)
    (container,) = spec["containers"]
    container["resources"]["requests"] = room.size.quantities
