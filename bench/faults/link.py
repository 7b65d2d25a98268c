"""A proxy in a process of its own, between Evenkeel and the API server or the queues."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from bench.faults.proxy import HOST
from tests.kit.control_plane import ControlPlane


class Link:
    """A running proxy. ``counts`` is what it did with requests, once it is closed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Wait until it listens."""
        self._process = process
        self.url = f"http://{HOST}:{int(self._hear())}"
        self.counts: Mapping[str, int] = {}

    def down(self) -> None:
        """From now on every connection is refused."""
        self._tell("down")

    def up(self) -> None:
        """Connections are taken again."""
        self._tell("up")

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self.counts = json.loads(self._hear())
        self._process.wait(10)

    def _tell(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        assert self._hear() == word

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def opened(upstream: str, *options: str) -> Iterator[Link]:
    """A proxy before this server, with options of bench.faults.proxy."""
    command = [sys.executable, "-m", "bench.faults.proxy", upstream, *options]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            link = Link(process)
            yield link
            link.close()
        finally:
            process.kill()


@contextmanager
def before_api_server(
    control_plane: ControlPlane, folder: Path, *options: str
) -> Iterator[tuple[Link, Path]]:
    """A proxy before the API server, and a kubeconfig that leads through it, in this folder."""
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    files = [
        *("--ca", cluster["certificate-authority"]),
        *("--cert", user["client-certificate"], "--key", user["client-key"]),
    ]
    with opened(cluster["server"], *files, *options) as link:
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(through(config, link.url)))
        yield link, path


def through(config: Mapping[str, Any], url: str) -> Mapping[str, Any]:
    """A kubeconfig's copy whose only cluster answers at ``url``, and knows who asks."""
    cluster, context = config["clusters"][0], config["contexts"][0]
    return {
        **config,
        "clusters": [{"name": cluster["name"], "cluster": {"server": url}}],
        "users": [{"name": context["context"]["user"], "user": {}}],
    }
