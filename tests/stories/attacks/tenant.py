"""What a tenant writes: somebody who may do as he likes in one namespace."""

import json
from typing import Any

from evenkeel.model import names
from tests.kit.manifests import Manifest, resource
from tests.kit.scene import Scene

TENANT = "tenant"


FOREVER = "2199-12-31T00:00:00Z"


def of_tenant(manifest: Manifest, **metadata: Any) -> Manifest:
    """The same manifest in the tenant's namespace; ``metadata`` is added to its own."""
    own = {**manifest["metadata"], "namespace": TENANT}
    for key, value in metadata.items():
        own[key] = {**own.get(key, {}), **value} if isinstance(value, dict) else value
    return {**manifest, "metadata": own}


def metadata_of(scene: Scene, kind: str, app: str, namespace: str = "default") -> dict[str, Any]:
    """The metadata of the only object of a kind whose name begins so."""
    every = (obj["metadata"] for obj in scene.cluster.objects(kind, namespace))
    (found,) = (metadata for metadata in every if metadata["name"].startswith(app))
    return dict(found)


def forged(name: str, scene: Scene, victim: dict[str, Any], **release: Any) -> Manifest:
    """A pod of the tenant's that says that it was released from a foreign ReplicaSet."""
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
        TENANT,
        labels={
            "app": name,
            names.RELEASED_FROM: victim["labels"][names.TEMPLATE_HASH],
        },
        notes={names.RELEASE: json.dumps(value)},
        spec={"containers": [{"name": "main"}], "nodeName": "o1"},
    )
