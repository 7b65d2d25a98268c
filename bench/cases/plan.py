"""Restore's plan for a large cluster.

What `evenkeel restore` takes to read a made-up cluster of 5,000 nodes and 150,000 pods, and a
tenth of it, and to plan. The API server is another process, whose pods are as large as real ones.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from bench.cases.cost import MEMORY_MB
from bench.figure import Figure, Mark
from bench.lab.lab import Lab
from evenkeel.model import names
from evenkeel_sandbox import synthetic
from evenkeel_sandbox.simulator.api.webhooks import configuration
from tests.kit.http_server import Answer, HttpServer, Request

NOTES: Final = ""
SIZES: Final = ("500 nodes", "5,000 nodes")
PODS_OF_A_NODE: Final = 30
FLOOR: Final = "40%"
"""More than the share of on-demand nodes, so that each workload lacks some there."""
KUBECONFIG: Final = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "made-up",
    "contexts": [{"name": "made-up", "context": {"cluster": "made-up", "user": "nobody"}}],
    "users": [{"name": "nobody", "user": {"token": "none"}}],
}

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

type Kinds = Mapping[str, Sequence[dict[str, Any]]]
"""Objects by their plural, as a list's path ends."""


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """Let `evenkeel restore` print its plan, for an empty cluster first."""
    nodes = int(size.split(maxsplit=1)[0].replace(",", ""))
    _, bare, _ = _planned(lab, {})
    kinds = _objects(nodes)
    pods = len(kinds["pods"])
    lab.say(f"{pods:,} pods on {nodes:,} nodes")
    time, cpu, memory = _planned(lab, kinds)
    assert isinstance(cpu.value, float)
    assert isinstance(bare.value, float)
    own = cpu.value - bare.value
    return [
        Figure("pods", pods),
        Figure("time", time.value, "s", Mark(most=30)),
        Figure("memory, at most", memory.value, "MB", Mark(most=MEMORY_MB)),
        Figure("CPU", cpu.value, "s"),
        Figure("CPU beyond that for an empty cluster", own, "s"),
        Figure("the same per 1,000 pods", 1e6 * own / pods, "ms"),
    ]


def _planned(lab: Lab, kinds: Kinds) -> Sequence[Figure]:
    log = lab.log("kubeconfig")
    with HttpServer(_lists_of(kinds)) as server:
        cluster = {"name": "made-up", "cluster": {"server": server.url}}
        log.write_text(json.dumps({**KUBECONFIG, "clusters": [cluster]}))
        command = ["-m", "evenkeel_cli.main", "restore", "-A", "--kubeconfig", str(log)]
        return lab.taken("", command)


def _objects(nodes: int) -> Kinds:
    found: dict[str, list[dict[str, Any]]] = {}
    for each in synthetic.objects(nodes, nodes * PODS_OF_A_NODE):
        if each["kind"] == "Deployment":
            each["metadata"].setdefault("annotations", {})[names.ON_DEMAND] = FLOOR
        each["metadata"]["resourceVersion"] = "1"
        found.setdefault(f"{each['kind'].lower()}s", []).append(each)
    return found | {"mutatingwebhookconfigurations": [configuration([{}])]}


def _lists_of(kinds: Kinds) -> Callable[[Request], Answer]:
    """An API server that only lists, page by page."""

    def answer(request: Request) -> Answer:
        items = kinds.get(request.path.rpartition("/")[2], ())
        first = int(request.query.get("continue", "0"))
        end = min(first + int(request.query.get("limit", len(items))), len(items))
        metadata = {"resourceVersion": "1", "continue": str(end) if end < len(items) else ""}
        page = {"kind": "List", "metadata": metadata, "items": list(map(_full, items[first:end]))}
        return Answer(msgspec.json.encode(page))

    return answer


def _full(each: dict[str, Any]) -> dict[str, Any]:
    """A made-up object as large as a real one."""
    if each["kind"] != "Pod":
        return each
    copy: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(each))
    copy["metadata"]["managedFields"] = MANAGED_FIELDS
    copy["spec"]["containers"][0]["env"] = ENVIRONMENT
    return copy
