"""The extender's calls, one after the other over one connection, as the scheduler makes them."""

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

from bench.extender.results import Calls, Extent
from bench.extender.serving import HOME, asked_name, node_name, workload
from bench.placement.results import spread
from bench.say import Say
from evenkeel_extender.calls import FILTER, PRIORITIZE
from tests.kit.certificates import Authority
from tests.kit.control_plane import ROOT
from tests.unit.decisions.placement.pods import document

WARM_UP: Final = 30
"""Pods that are asked about before any counts."""


def measure(extent: Extent, say: Say) -> tuple[Sequence[Calls], float]:
    """The calls about each number of nodes, and the most memory that the extender had, in MB."""
    token, authority = secrets.token_hex(32), Authority()
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        certificate, key = authority.issue("extender", "127.0.0.1").write(Path(folder), "server")
        trusted = Path(folder) / "ca.crt"
        trusted.write_text(authority.certificate)
        numbers = map(str, (extent.nodes, extent.standing, extent.rate))
        with subprocess.Popen(
            [sys.executable, "-m", "bench.extender.serving", certificate, key, token, *numbers],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as server:
            assert server.stdout is not None
            url = f"https://127.0.0.1:{int(server.stdout.readline())}/v1/{token}"
            say(f"the extender knows {extent.nodes} nodes and {extent.standing} pods")
            asked = count()
            with urllib3.PoolManager(ca_certs=str(trusted), maxsize=1) as pool:
                calls = [
                    _calls(pool, url, offered, asked, extent, say) for offered in extent.offered
                ]
            told, _ = server.communicate(timeout=30)
            return calls, float(told)


def _calls(
    pool: urllib3.PoolManager,
    url: str,
    offered: int,
    asked: Iterator[int],
    extent: Extent,
    say: Say,
) -> Calls:
    numbers = Random(1).sample(range(extent.nodes), offered)  # noqa: S311 - the same ones each time
    names = [node_name(number) for number in numbers]
    took: dict[str, list[float]] = {FILTER: [], PRIORITIZE: []}
    for number in islice(asked, WARM_UP + extent.asked):
        left = names
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
    first, second = (spread(found[WARM_UP:]) for found in took.values())
    for verb, each in (("filter", first), ("prioritize", second)):
        say(
            f"{verb} {offered} nodes: median {each.median * 1000:.1f} ms,"
            f" p99 {each.p99 * 1000:.1f} ms, worst {each.worst * 1000:.1f} ms"
        )
    return Calls(offered=offered, filter=first, prioritize=second)


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
