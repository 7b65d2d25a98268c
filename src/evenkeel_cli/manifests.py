"""The folders of manifests/ as ``kubectl apply -k`` reads them.

Only what their kustomizations use: resources, a namespace, labels, and an image.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from evenkeel_hosting import files

type Manifest = Mapping[str, Any]
"""An object as YAML has it."""

CLUSTER_WIDE: Final = frozenset({"Namespace", "FlowSchema"})
BINDING: Final = "ValidatingAdmissionPolicyBinding"


def documents(folder: str, *, image: str = "") -> Sequence[Manifest]:
    """The objects of a folder. ``image`` stands in for the one that its containers name.

    Other folders that its kustomization names are left out, and so is what it generates.
    """
    kustomization = yaml.safe_load(files.manifest(folder, "kustomization.yaml"))
    return [
        _finished(each, kustomization, image)
        for name in kustomization["resources"]
        if not name.startswith("..")
        for each in yaml.safe_load_all(files.manifest(folder, name))
    ]


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as it is."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = "|" if "\n" in text else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)


def text(documents: Sequence[Manifest]) -> str:
    """Documents as YAML."""
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, width=float("inf"))


def policies(action: str = "Deny") -> Sequence[Manifest]:
    """What holds the roles to what they write. ``action``: ``Audit`` only notes it."""
    return [
        {**each, "spec": {**each["spec"], "validationActions": [action]}}
        if each["kind"] == BINDING
        else each
        for each in documents("policies/deny")
    ]


def _finished(each: dict[str, Any], kustomization: Mapping[str, Any], image: str) -> Manifest:
    meta = each["metadata"]
    if "namespace" in kustomization and not _is_cluster_wide(each["kind"]):
        meta["namespace"] = kustomization["namespace"]
    for labels in kustomization.get("labels", ()):
        meta["labels"] = {**meta.get("labels", {}), **labels["pairs"]}
    if image and each["kind"] == "Deployment":
        for container in each["spec"]["template"]["spec"]["containers"]:
            container["image"] = image
    return each


def _is_cluster_wide(kind: str) -> bool:
    return kind.startswith("Cluster") or kind in CLUSTER_WIDE
