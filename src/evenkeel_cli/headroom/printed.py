"""The manifests of headroom: those of manifests/headroom, with their sizes filled in."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import yaml

from evenkeel.decisions.placement.clauses import bears_headroom, narrowed, not_spot
from evenkeel.model import names
from evenkeel.model.affinity import NewAffinity, NodeAffinity, NodeSelector
from evenkeel.model.capacity import CapacityLabels
from evenkeel_cli.headroom.present import HEADROOM, RESERVED, CapacityBuffer
from evenkeel_cli.headroom.sizing import Kept
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
    version: str, kept: Kept, labels: CapacityLabels, *, reserved: bool = False
) -> Sequence[Manifest]:
    """A PodTemplate and a CapacityBuffer of this version of its API."""
    template, made = _form(BUFFER, kept.kind.name, reserved=reserved)
    _fill(template["template"]["spec"], kept, labels, reserved=reserved)
    made["apiVersion"] = f"{CapacityBuffer.resource.group}/{version}"
    made["spec"]["replicas"] = kept.room.placeholders
    return [template, made]


def pause_pods(kept: Kept, labels: CapacityLabels, *, reserved: bool = False) -> Sequence[Manifest]:
    """A PriorityClass and a Deployment."""
    priority, deployment = _form(PODS, kept.kind.name, reserved=reserved)
    _fill(deployment["spec"]["template"]["spec"], kept, labels, reserved=reserved)
    deployment["spec"]["replicas"] = kept.room.placeholders
    return [priority, deployment]


def _form(name: str, kind: str = "", *, reserved: bool) -> Sequence[dict[str, Any]]:
    """The objects of one form; those of a kind, and reserved room, have names of their own.

    And labels, but one class.
    """
    made = documents(name)
    parts = [each for each in (names.SINGLES if reserved else "", kind) if each]
    for each in made:
        if parts and each["kind"] != "PriorityClass":
            _rename(each, "-".join(filter(None, (RESERVED if reserved else HEADROOM, kind))), parts)
    return made


def _rename(each: dict[str, Any], name: str, parts: Sequence[str]) -> None:
    each["metadata"]["name"] = name
    spec = each.get("spec", {})
    template = each.get("template") or spec.get("template") or {}
    bearers = (each["metadata"], spec.get("selector", {}), template.get("metadata", {}))
    for bearer in bearers:
        for field in ("labels", "matchLabels"):
            if field in bearer:
                bearer[field][COMPONENT] = "-".join((FOLDER, *parts))
    if "podTemplateRef" in spec:
        spec["podTemplateRef"]["name"] = name


def _fill(spec: dict[str, Any], kept: Kept, labels: CapacityLabels, *, reserved: bool) -> None:
    """Give a pod spec its size, send it to nodes of its kind, and keep it off spot.

    ``reserved``: on nodes with the taint that only pods of single replicas tolerate.
    """
    rules = kept.kind.rules
    selector = {
        **(rules.node_selector or {}),
        **({names.HEADROOM: names.SINGLES} if reserved else {}),
    }
    borne = [*(rules.tolerations or ()), *([bears_headroom()] if reserved else [])]
    if selector:
        spec["nodeSelector"] = selector
    if borne:
        spec["tolerations"] = msgspec.to_builtins(borne)
    terms = narrowed(rules.node_affinity.required, not_spot(labels))
    affinity = NewAffinity(
        node_affinity=NodeAffinity(required=NodeSelector(node_selector_terms=terms))
    )
    spec["affinity"] = msgspec.to_builtins(affinity)
    (container,) = spec["containers"]
    devices = {name: str(amount) for name, amount in kept.kind.devices}
    container["resources"]["requests"] = {**kept.room.size.quantities, **devices}
    if devices:
        container["resources"]["limits"] = devices
