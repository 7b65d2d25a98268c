"""Nodes as documents, as the API server keeps them."""

from typing import Any

import msgspec

from evenkeel.model.request import Patch
from evenkeel_sandbox.simulator.api.patches import json_patch


def applied(document: dict[str, Any], patch: object) -> dict[str, Any]:
    """The document after a patch, with a new version; the same one without a patch."""
    if patch is None:
        return document
    assert isinstance(patch, Patch)
    after: dict[str, Any] = json_patch(
        document, msgspec.json.decode(patch.to_wire(), type=list[dict[str, Any]])
    )
    version = int(after["metadata"]["resourceVersion"]) + 1
    after["metadata"]["resourceVersion"] = str(version)
    return after
