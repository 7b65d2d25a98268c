"""Pods that a tenant makes, and that say they were released."""

import json
from collections.abc import Mapping
from typing import Any

from evenkeel.model import names
from tests.kit.manifests import Manifest, resource
from tests.kit.scene import Scene


def forged(
    name: str, scene: Scene, victim: Mapping[str, Any], namespace: str = "tenant", **release: Any
) -> Manifest:
    """A pod of the tenant's that says that it was released from a foreign ReplicaSet.

    ``victim`` is that one's metadata; ``release`` are fields of what it says.
    """
    value = {
        "v": 1,
        "reason": "interruption",
        "since": scene.at(0).isoformat(),
        "deadline": scene.at(600).isoformat(),
        "wanted": 1,
        "controller": victim["name"],
        "controllerUid": victim["uid"],
    } | release
    return resource(
        "Pod",
        name,
        namespace,
        labels={"app": name, names.RELEASED_FROM: victim["labels"][names.TEMPLATE_HASH]},
        notes={names.RELEASE: json.dumps(value)},
        spec={"containers": [{"name": "main"}], "nodeName": "o1"},
    )


def metadata_of(scene: Scene, kind: str, app: str, namespace: str = "default") -> dict[str, Any]:
    """The metadata of the only object of a kind whose name begins so."""
    every = (obj["metadata"] for obj in scene.cluster.objects(kind, namespace))
    (found,) = (metadata for metadata in every if metadata["name"].startswith(app))
    return dict(found)
