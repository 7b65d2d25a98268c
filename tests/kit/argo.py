"""Objects of Argo Rollouts, as its controller writes them, for tests without that controller."""

from collections.abc import Mapping
from typing import Any, Final

from evenkeel.model import names
from tests.kit.control_plane import ControlPlane
from tests.kit.manifests import Manifest, resource, template

STABLE, CANARY = "5f6d8", "7b9c4"
"""Template hashes."""

PATH: Final = "apis/argoproj.io/v1alpha1/rollouts"

DEFINITION: Final = resource(
    "CustomResourceDefinition",
    "rollouts.argoproj.io",
    spec={
        "group": "argoproj.io",
        "scope": "Namespaced",
        "names": {"kind": "Rollout", "plural": "rollouts"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
)
"""Argo's kind, as far as its name goes."""


def rollout(
    app: str,
    replicas: int,
    namespace: str = "",
    notes: Mapping[str, str] | None = None,
    **strategy: Any,
) -> Manifest:
    """A Rollout; by default it goes in steps within the bounds of its kind."""
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": app}},
        "strategy": strategy or {"canary": {}},
    }
    return resource("Rollout", app, namespace, notes=notes, spec=spec)


def replica_set(
    owner: Manifest,
    uid: str,
    replicas: int | None = None,
    of: str = STABLE,
    pods: Mapping[str, Any] | None = None,
) -> Manifest:
    """The ReplicaSet of a Rollout with this uid, by default with all its replicas.

    ``pods``: what their template says, see ``template``.
    """
    app, wanted = owner["metadata"]["name"], owner["spec"]["replicas"]
    labels = {"app": app, names.ROLLOUT_HASH: of}
    made = template(app, **(pods or {}))
    made["metadata"]["labels"] = labels
    found = resource(
        "ReplicaSet",
        f"{app}-{of}",
        owner["metadata"].get("namespace", ""),
        labels=labels,
        notes={names.ROLLOUT_REPLICAS: str(wanted)},
        spec={
            "replicas": wanted if replicas is None else replicas,
            "selector": {"matchLabels": labels},
            "template": made,
        },
    )
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    reference |= {"name": app, "uid": uid, "controller": True}
    found["metadata"]["ownerReferences"] = [reference]
    return found


def run(
    control_plane: ControlPlane,
    namespace: str,
    app: str,
    replicas: int,
    notes: Mapping[str, str] | None = None,
    **pods: Any,
) -> None:
    """Make a Rollout with these annotations, and its ReplicaSet. ``pods``: see ``replica_set``."""
    control_plane.apply(DEFINITION)
    name = DEFINITION["metadata"]["name"]
    control_plane.kubectl("wait", "--for=condition=Established", f"crd/{name}")
    control_plane.wait_for("Rollouts to be served", lambda: _are_served(control_plane))
    owner = rollout(app, replicas, notes=notes)
    control_plane.apply(owner, namespace=namespace)
    there = control_plane.get(owner["apiVersion"], owner["kind"], app, namespace)
    made = replica_set(owner, there["metadata"]["uid"], pods=pods)
    control_plane.apply(made, namespace=namespace)


def _are_served(control_plane: ControlPlane) -> bool:
    return bool(control_plane.request("GET", PATH, fine=(429,))["kind"] == "RolloutList")
