"""What a tenant writes: somebody who may do as he likes in one namespace."""

from typing import Any

from tests.kit.manifests import Manifest

TENANT = "tenant"


FOREVER = "2199-12-31T00:00:00Z"


def of_tenant(manifest: Manifest, **metadata: Any) -> Manifest:
    """The same manifest in the tenant's namespace; ``metadata`` is added to its own."""
    own = {**manifest["metadata"], "namespace": TENANT}
    for key, value in metadata.items():
        own[key] = {**own.get(key, {}), **value} if isinstance(value, dict) else value
    return {**manifest, "metadata": own}
