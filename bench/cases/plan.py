"""Restore's plan for a large cluster.

What restore takes to plan for a made-up cluster of 5,000 nodes and 150,000 pods, and for a tenth
of it: `evenkeel restore`, which reads everything, plans, and does not write. The API server is
another process, which holds the objects and adds to each pod what makes it as large as a real
one.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from bench.cases.cost import MEMORY_MB
from bench.cases.snapshot import full
from bench.figure import Figure, Mark
from bench.lab.lab import Lab
from evenkeel.model import names
from evenkeel_sandbox import synthetic

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
    with _served(kinds) as server:
        cluster = {"name": "made-up", "cluster": {"server": server}}
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
    return found


@contextmanager
def _served(kinds: Kinds) -> Iterator[str]:
    """An API server that only lists, page by page; its URL."""

    class Lists(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            target = urlsplit(self.path)
            query = parse_qs(target.query)
            items = kinds.get(target.path.rpartition("/")[2], ())
            first = int(query.get("continue", ["0"])[0])
            end = min(first + int(query.get("limit", [str(len(items))])[0]), len(items))
            metadata = {"resourceVersion": "1", "continue": str(end) if end < len(items) else ""}
            page = {
                "kind": "List",
                "metadata": metadata,
                "items": list(map(full, items[first:end])),
            }
            body = msgspec.json.encode(page)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Lists) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
