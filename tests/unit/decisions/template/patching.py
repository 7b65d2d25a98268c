"""Workloads after a patch, as the API server would have them."""

import msgspec

from evenkeel.decisions.floor.standing import Movable
from evenkeel.model.request import Patch, Write
from evenkeel_sandbox.simulator.api.patches import json_patch


def patched[T: Movable](workload: T, write: Write | None) -> T:
    """The workload after a JSON patch."""
    assert isinstance(write, Patch)
    assert not isinstance(write.body, dict)
    document = msgspec.json.decode(msgspec.json.encode(workload))
    document["metadata"].setdefault("generation", 0)
    document["spec"].setdefault("template", {}).setdefault("spec", {})
    operations = msgspec.json.decode(write.to_wire())
    return msgspec.convert(json_patch(document, operations), type(workload), strict=False)
