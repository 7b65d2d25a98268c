"""Objects of Argo Rollouts, as its controller writes them, for tests without that controller."""

from collections.abc import Mapping
from typing import Any, Final

from evenkeel.model import names
from tests.kit.control_plane import ControlPlane
from tests.kit.custom_kinds import owned, serve
from tests.kit.manifests import Manifest, resource, template

STABLE, CANARY = "5f6d8", "7b9c4"
"""Template hashes."""

STATUS: Final = {"observedGeneration": "1", "phase": "Healthy", "HPAReplicas": 1}
"""Parts of what the controller writes: unlike a Deployment's the first is text."""


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
    return resource("Rollout", app, namespace, notes=notes, spec=spec, status=STATUS)


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
    return owned(found, owner | {"metadata": owner["metadata"] | {"uid": uid}})


def run(
    control_plane: ControlPlane,
    namespace: str,
    app: str,
    replicas: int,
    notes: Mapping[str, str] | None = None,
    **pods: Any,
) -> None:
    """Make a Rollout with these annotations, and its ReplicaSet. ``pods``: see ``replica_set``."""
    serve(control_plane, "Rollout")
    owner = rollout(app, replicas, notes=notes)
    control_plane.apply(owner, namespace=namespace)
    there = control_plane.get(owner["apiVersion"], owner["kind"], app, namespace)
    made = replica_set(owner, there["metadata"]["uid"], pods=pods)
    control_plane.apply(made, namespace=namespace)
