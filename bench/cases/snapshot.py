"""A snapshot of a large cluster.

150,000 pods as `kubectl get -o json` prints it, and what the commands take of it,
each as a process of its own: what every command with `--snapshot` does first, and `evenkeel
status`.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from bench.figure import Figure, Mark, marked
from bench.lab.lab import Lab
from evenkeel_sandbox import synthetic

NOTES: Final = ""
SIZES: Final = ("150,000 pods",)
ALONE, STATUS = "reading alone", "evenkeel status"
WANTED: Final = (("time", Mark(most=20)), ("memory, at most", Mark(most=1024)))
READ: Final = "from sys import argv; from evenkeel_cli import snapshot; snapshot.read(argv[1])"
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


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """Write a file, and read it."""
    pods = int(size.split(maxsplit=1)[0].replace(",", ""))
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        file = Path(folder) / "snapshot.json"
        write(file, pods)
        lab.say(f"{file.stat().st_size / 1e6:,.0f} MB")
        status = ["-m", "evenkeel_cli.main", "status", "-A", "-o", "name", "--snapshot", str(file)]
        found = [
            Figure("file", file.stat().st_size / 1e6, "MB", of=ALONE),
            *lab.taken(ALONE, ["-c", READ, str(file)]),
            *lab.taken(STATUS, status),
        ]
    return marked(found, {(name, of): mark for (name, mark) in WANTED for of in (ALONE, STATUS)})


def write(file: Path, pods: int) -> None:
    """Write the nodes, workloads and pods of a made-up cluster."""
    with file.open("w") as out:
        out.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        for number, each in enumerate(synthetic.objects(pods // PODS_ON_A_NODE, pods)):
            text = json.dumps(full(each), indent=4).replace("\n", "\n        ")
            out.write((",\n" if number else "") + "        " + text)
        out.write('\n    ],\n    "kind": "List",\n    "metadata": {\n')
        out.write('        "resourceVersion": ""\n    }\n}\n')


def full(each: dict[str, Any]) -> dict[str, Any]:
    """A made-up object as large as a real one."""
    if each["kind"] != "Pod":
        return each
    copy: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(each))
    copy["metadata"]["managedFields"] = MANAGED_FIELDS
    copy["spec"]["containers"][0]["env"] = ENVIRONMENT
    return copy
