"""Reviews of 3 MB, a hundred a second, beside reviews of usual pods."""

import http.client
import json
import re
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import pytest

from evenkeel.handlers.requests import LARGEST
from evenkeel.model import names
from tests.e2e.placement.webhook import Ground
from tests.kit.control_plane import ROOT
from tests.kit.reviews import of_eviction

pytestmark = pytest.mark.nightly

PER_SECOND: Final = 100
SECONDS: Final = 15
LIMIT: Final = 256 * 1024
"""kB that the container of manifests/serve may have."""
PATIENCE: Final = 3.0
"""Seconds that the API server waits for the webhook."""


def review(pod: dict[str, Any], namespace: str) -> bytes:
    request = {
        "uid": "review",
        "operation": "CREATE",
        "namespace": namespace,
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "object": pod,
    }
    asked = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(asked, separators=(",", ":")).encode()


def pod(**spec: Any) -> dict[str, Any]:
    metadata = {"generateName": "web-"}
    containers = [{"name": "main", "image": "main"}]
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


class Asking:
    """Who asks the webhook as the API server does, and how long the answers take."""

    def __init__(self, ground: Ground, port: int) -> None:
        self._tls = ssl.create_default_context(cadata=ground.authority.certificate)
        self._port = port
        self._path = f"/v1/{ground.token}"
        self.statuses = Counter[str]()
        self.took: list[float] = []

    def once(self, body: bytes, path: str = "") -> None:
        """Ask over a connection of its own; what cuts it is a refusal, too."""
        began = time.monotonic()
        made = http.client.HTTPSConnection("127.0.0.1", self._port, context=self._tls, timeout=10)
        try:
            made.request("POST", self._path + path, body, {"Content-Type": "application/json"})
            status = str(made.getresponse().status)
        except OSError as error:
            status = type(error).__name__
        finally:
            made.close()
        self.statuses[status] += 1
        self.took.append(time.monotonic() - began)


@contextmanager
def flood(ground: Ground, port: int, body: bytes, log: Path) -> Iterator[None]:
    """Meanwhile another process asks so many a second, whatever is answered."""
    authority = ground.folder / "flood.crt"
    authority.write_text(ground.authority.certificate)
    command = [sys.executable, "-m", "tests.e2e.nightly.flooding", str(port), str(authority)]
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [*command, f"/v1/{ground.token}", str(PER_SECOND)],
            stdin=subprocess.PIPE,
            stdout=out,
            cwd=ROOT,
        ) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(body)
        process.stdin.close()
        try:
            yield
        finally:
            process.kill()


def memory(pid: int, what: str) -> int:
    """kB of a process; ``VmHWM`` is the most that it had."""
    found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


TOLERATIONS: Final = pod(tolerations=[{}] * (LARGEST // 3 - 200))
"""Of all that a pod may have this takes the most memory when it is decoded."""
ANNOTATION: Final = {**pod(), "metadata": {"annotations": {"a": "\N{GRINNING FACE}" * 260_000}}}


@pytest.mark.parametrize("large", [TOLERATIONS, ANNOTATION], ids=["tolerations", "an annotation"])
def test_reviews_of_3_mb_leave_the_usual_ones_their_time(
    ground: Ground, large: dict[str, Any], tmp_path: Path
) -> None:
    ground.control_plane.label_namespace(ground.namespace, names.GATE)
    port = ground.start()
    pid = ground.webhooks[0].process.pid
    usual = Asking(ground, port)
    small = review(pod(), ground.namespace)
    eviction = json.dumps(of_eviction(ground.namespace, "nobody")).encode()
    body = review(large, ground.namespace)
    assert len(body) < LARGEST
    usual.once(small)
    with flood(ground, port, body, tmp_path / "told"):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            usual.once(small)
            usual.once(eviction, "/evictions")
    told = Counter((tmp_path / "told").read_text().split())
    cuts = quantiles(usual.took, n=100)
    most = memory(pid, "VmHWM")
    assert set(usual.statuses) == {"200"}
    assert cuts[98] < PATIENCE
    assert told["503"] > told["200"] > 0
    assert most < LIMIT
    assert ground.webhooks[0].process.poll() is None
