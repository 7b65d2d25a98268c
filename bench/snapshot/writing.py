"""A snapshot as large as a cluster's, as ``kubectl get -o json`` prints it."""

import json
from pathlib import Path
from typing import Any, Final

import msgspec

from evenkeel_sandbox import synthetic

PODS_ON_A_NODE: Final = 30
ENVIRONMENT: Final = [{"name": f"SETTING_{n}", "value": "x" * 40} for n in range(12)]
MANAGED_FIELDS: Final = [
    {
        "manager": "kubelet",
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:status": {f"f:field{n}": {".": {}, "f:type": {}} for n in range(15)}},
    }
]
"""Evenkeel reads neither of the two. With them a pod has some 7 KB, as many have."""


def write(file: Path, pods: int) -> None:
    """Write the nodes, workloads and pods of a made-up cluster."""
    with file.open("w") as out:
        out.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        for number, each in enumerate(synthetic.objects(pods // PODS_ON_A_NODE, pods)):
            text = json.dumps(_full(each), indent=4).replace("\n", "\n        ")
            out.write((",\n" if number else "") + "        " + text)
        out.write('\n    ],\n    "kind": "List",\n    "metadata": {\n')
        out.write('        "resourceVersion": ""\n    }\n}\n')


def _full(each: dict[str, Any]) -> dict[str, Any]:
    if each["kind"] != "Pod":
        return each
    copy: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(each))
    copy["metadata"]["managedFields"] = MANAGED_FIELDS
    copy["spec"]["containers"][0]["env"] = ENVIRONMENT
    return copy
