"""``evenkeel serve`` as a process: from its arguments to its end, before an API server's double."""

import base64
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3
import yaml

from evenkeel_runtime import metrics_port
from evenkeel_runtime.serve.slots import MOST
from tests.kit.api_server import Handler, answer, refusal, serving
from tests.kit.certificates import Authority
from tests.kit.control_plane import ROOT
from tests.kit.reviews import OWNER, TOKEN
from tests.kit.silence import silent
from tests.stories.placement.scene import review


def managed(handler: Handler) -> None:
    """A managed namespace with a ReplicaSet of two, one of them on on-demand, and no pods yet."""
    last = handler.path.partition("?")[0].rsplit("/", 1)[-1]
    if last == "shop":
        labels = {"evenkeel.dev/managed": "true"}
        answer(200, {"metadata": {"name": "shop", "labels": labels}})(handler)
    elif last == "web-1":
        notes = {"evenkeel.dev/on-demand": "1"}
        metadata = {"name": "web-1", "namespace": "shop", "uid": "u1", "annotations": notes}
        answer(200, {"metadata": metadata, "spec": {"replicas": 2}})(handler)
    elif handler.command == "POST":
        answer(201, {"metadata": {"name": "evenkeel-slot-u1-0"}})(handler)
    elif last in ("pods", "leases"):
        answer(200, {"metadata": {"resourceVersion": "1"}, "items": []})(handler)
    else:
        refusal(404, "NotFound", f"{last} not found")(handler)


class Process:
    """The command at work, and what it writes."""

    def __init__(self, folder: Path, server: str, authority: Authority, *options: str) -> None:
        certificate, key = authority.issue("webhook", "127.0.0.1").write(folder, "webhook")
        self.client = ssl.create_default_context(cadata=authority.certificate)
        ca = base64.b64encode(authority.certificate.encode()).decode()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [
                {"name": "c", "cluster": {"server": server, "certificate-authority-data": ca}}
            ],
            "users": [{"name": "u", "user": {"token": "t"}}],
        }
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(config))
        self.running = subprocess.Popen(
            [
                *(sys.executable, "-m", "evenkeel_cli.main", "serve", "--port", "0"),
                *("--bind", "127.0.0.1", "--tls-cert", certificate, "--tls-key", key),
                *("--kubeconfig", str(kubeconfig), "--cluster-name", "prod", *options),
            ],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"EVENKEEL_WEBHOOK_TOKEN": TOKEN},  # noqa: TID251 - a child's
            cwd=ROOT,
        )
        self.lines: list[str] = []
        self.port = int(self.wait_for("serves https on port").rpartition(" ")[2])

    def wait_for(self, what: str) -> str:
        """Read on until a line says this."""
        assert self.running.stdout is not None
        for line in self.running.stdout:
            self.lines.append(line.strip())
            if what in line:
                return line.strip()
        raise AssertionError(f"it never said {what!r}: {self.lines}")

    def ask(self) -> dict[str, object]:
        """Review a pod of the ReplicaSet."""
        metadata = {"generateName": "web-1-", "namespace": "shop", "ownerReferences": [OWNER]}
        body = json.dumps(review({"metadata": metadata, "spec": {"containers": []}}))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.client)
        try:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", f"/v1/{TOKEN}?timeout=3s", body, headers)
            answered: dict[str, object] = json.loads(connection.getresponse().read())["response"]
            return answered
        finally:
            connection.close()


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Process]:
    authority = Authority()
    with serving(authority.server_context(folder, "127.0.0.1")) as server:
        server.script(always=managed)
        process = Process(folder, server.url, authority, *options)
        try:
            yield process
        finally:
            process.running.kill()
            process.running.wait(10)
            assert process.running.stdout is not None
            process.running.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_places_a_pod_tells_of_it_without_the_token_and_ends(
    number: signal.Signals, tmp_path: Path
) -> None:
    with started(tmp_path) as process:
        answered = process.ask()
        patch = json.loads(base64.b64decode(str(answered["patch"])))
        assert answered["allowed"] is True
        assert {"op": "add", "path": "/metadata/labels"}.items() <= patch[1].items()
        assert patch[1]["value"] == {"evenkeel.dev/capacity": "on-demand"}
        process.wait_for("status=200")
        process.running.send_signal(number)
        process.wait_for(" ended")
        assert process.running.wait(10) == 0
        told = "\n".join(process.lines)
        assert "InFloor" in told
        assert TOKEN not in told
        assert "/v1/" not in told


def test_a_certificate_that_is_renewed_is_served_without_a_new_start(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        another = Authority()
        pair = another.issue("webhook", "127.0.0.1")
        (tmp_path / "webhook.crt").write_text(pair.certificate)
        process.wait_for("serves the certificate that was there before")
        assert process.ask()["allowed"] is True
        (tmp_path / "webhook.key").write_text(pair.key)
        process.wait_for("serves a new certificate, until 2035-12-30")
        process.client = ssl.create_default_context(cadata=another.certificate)
        assert process.ask()["allowed"] is True


def test_probes_are_answered_whatever_happens_on_the_webhooks_port(tmp_path: Path) -> None:
    with started(tmp_path, "--metrics-port", "0") as process:
        port = int(process.wait_for("serves metrics on port").rpartition(" ")[2])
        with (
            silent(("127.0.0.1", process.port), 2 * MOST, addresses=16),
            silent(("127.0.0.1", port), 2 * metrics_port.MOST),
            urllib3.PoolManager(retries=False, timeout=20) as pool,
        ):
            assert pool.request("GET", f"http://127.0.0.1:{port}/healthz").status == 200
            metrics = pool.request("GET", f"http://127.0.0.1:{port}/metrics").data.decode()
    assert 'evenkeel_reviews_refused_total{cluster="prod"} 0.0' in metrics
    assert 'evenkeel_certificate_ends_seconds{cluster="prod"} 2.0' in metrics
