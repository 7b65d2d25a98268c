"""What the extender takes.

*calls* asks the extender over TLS about 500 and 5,000 nodes of a cluster of 5,000 nodes and
50,000 pods, 200 of which change a second. *scheduling* lets a real scheduler place 300 pods at
once on 100 nodes, without the extender and with it.
"""

import json
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any, Final

import urllib3

from bench.conditions import ROOT
from bench.figure import Figure, Mark, marked, spread
from bench.lab import webhook
from bench.lab.cluster import launched
from bench.lab.extender import HOME, asked_name, node_name, workload
from bench.lab.lab import Lab
from evenkeel.model import names
from evenkeel_cli.schedulers import PROFILE
from evenkeel_extender.calls import FILTER, PRIORITIZE
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import Ground, on_demand
from tests.e2e.scheduling.scheduler import Config, answering, asking, extender_applied, running
from tests.kit.certificates import Authority
from tests.unit.decisions.placement.pods import document

NOTES: Final = """\
- In a cluster of 5,000 nodes kube-scheduler asks about some 500 of them, unless
  `percentageOfNodesToScore` is set.
"""
SIZES: Final = ("calls", "scheduling")
NODES, STANDING, CHANGES = 5_000, 50_000, 200
OFFERED: Final = (500, 5_000)
ASKED, WARM_UP = 300, 30
"""Pods that are asked about, and others before any counts."""
CALL: Final = Mark(most=5)
"""Milliseconds of the 99th percentile about 500 nodes."""
PODS, SMALL, PERCENT = 300, 100, 30
RATIO: Final = Mark(most=1.5)
EVERY: Final = 0.2
"""Seconds between two looks; how exact a time is."""


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """One round."""
    return _calls(lab) if size == "calls" else _scheduling(lab)


def _calls(lab: Lab) -> Sequence[Figure]:
    token, authority = secrets.token_hex(32), Authority()
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        certificate, key = authority.issue("extender", "127.0.0.1").write(Path(folder), "server")
        trusted = Path(folder) / "ca.crt"
        trusted.write_text(authority.certificate)
        numbers = map(str, (NODES, STANDING, CHANGES))
        with subprocess.Popen(
            [sys.executable, "-m", "bench.lab.extender", certificate, key, token, *numbers],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as server:
            assert server.stdout is not None
            url = f"https://127.0.0.1:{int(server.stdout.readline())}/v1/{token}"
            lab.say(f"the extender knows {NODES} nodes and {STANDING} pods")
            asked = count()
            with urllib3.PoolManager(ca_certs=str(trusted), maxsize=1) as pool:
                calls = [each for offered in OFFERED for each in _about(pool, url, offered, asked)]
            told, _ = server.communicate(timeout=30)
    return [*calls, Figure("memory, at most", float(told), "MB", of=_of(OFFERED[-1]))]


def _about(
    pool: urllib3.PoolManager, url: str, offered: int, asked: Iterator[int]
) -> Sequence[Figure]:
    """The calls about so many nodes, one after the other over one connection."""
    numbers = Random(1).sample(range(NODES), offered)  # noqa: S311 - the same ones each time
    nodes = [node_name(number) for number in numbers]
    took: dict[str, list[float]] = {FILTER: [], PRIORITIZE: []}
    for number in islice(asked, WARM_UP + ASKED):
        left = nodes
        for verb, found in took.items():
            body = json.dumps({"Pod": _pod(asked_name(number)), "NodeNames": left}).encode()
            began = time.perf_counter()
            told = _ask(pool, url + verb, body)
            found.append(time.perf_counter() - began)
            answer = json.loads(told)
            if verb == FILTER:
                left = answer["NodeNames"]
                assert 0 < len(left) < offered, "doomed nodes are out, others are left"
            else:
                assert len(answer) == len(left), "each node has a score"
    figures = [
        each
        for verb, found in took.items()
        for each in spread(verb.strip("/"), found[WARM_UP:], _of(offered))
    ]
    calls = [each.key for each in figures if each.name.endswith("p99") and offered == OFFERED[0]]
    return marked(figures, dict.fromkeys(calls, CALL))


def _of(offered: int) -> str:
    return f"{offered:,} nodes"


def _pod(name: str) -> dict[str, Any]:
    """A pod as the scheduler sends it."""
    _, owner = workload()
    found = document(owner, name=name)
    found["metadata"] |= {"namespace": HOME, "uid": f"{name}-uid"}
    return found


def _ask(pool: urllib3.PoolManager, url: str, body: bytes) -> bytes:
    headers = {"Content-Type": "application/json"}
    answer = pool.request("POST", url, body=body, headers=headers, timeout=5.0, retries=False)
    assert answer.status == 200, answer.data
    return answer.data


def _scheduling(lab: Lab) -> Sequence[Figure]:
    with (
        launched() as control_plane,
        control_plane.namespace() as namespace,
        webhook.ground(control_plane, namespace) as ground,
    ):
        control_plane.kubectl("apply", "-k", str(ROOT / "manifests" / "rbac"))
        ground.add_nodes(spot=SMALL * 4 // 5, on_demand=SMALL // 5)
        with extender_applied(ground):
            asks = asking(ground, answering(ground))
            bare = {key: value for key, value in asks.items() if key != "extenders"}
            without, _ = _placed(ground, bare, "bare")
            extended, floor = _placed(ground, asks, "asked")
    lab.say(f"{PODS} pods: {without:.1f} s without, {extended:.1f} s with; {floor} on on-demand")
    wanted = PODS * PERCENT // 100
    return [
        Figure("all pods have a node", without, "s", of="without"),
        Figure("all pods have a node", extended, "s", of="with"),
        Figure("as a multiple", extended / without, mark=RATIO, of="with"),
        Figure("on on-demand", floor, mark=Mark(least=wanted, most=wanted), of="with"),
    ]


def _placed(ground: Ground, config: Config, name: str) -> tuple[float, int]:
    """Seconds until all pods of a new Deployment have a node; how many on on-demand."""
    with running(ground.control_plane, config, ground.folder):
        # Lists and watches are there, and the pods' owner is the first that the extender sees.
        floor = {names.ON_DEMAND: f"{PERCENT}%"}
        began = time.monotonic()
        ground.apply(deployment(name, PODS, cpu="10m", annotations=floor, schedulerName=PROFILE))

        pods = ground.settled(PODS, every=EVERY)
        took = time.monotonic() - began
    ground.control_plane.delete("apps/v1", "Deployment", name, ground.namespace)
    ground.wait_for("no pods to be left", lambda: not ground.pods(), every=EVERY)
    return took, len(on_demand(pods))
