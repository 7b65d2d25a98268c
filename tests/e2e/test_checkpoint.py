"""The sample of docs/notices.md: a Job writes its checkpoint before its node ends, and goes on."""

import re
import subprocess
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import is_ready
from tests.e2e.harness import Site
from tests.kit.control_plane import MERGE, ROOT

pytestmark = pytest.mark.controlplane

LEFT = 60.0
"""Seconds that the node has when the notice comes."""


class Container:
    """The sample's shell script as a process, with what a kubelet does for it.

    ``folder`` has its volumes.
    """

    def __init__(self, site: Site, pod: dict[str, Any], folder: Path) -> None:
        self._site = site
        self._name = pod["metadata"]["name"]
        self._file = folder / "node" / "ends-at"
        for volume in ("node", "checkpoints"):
            (folder / volume).mkdir(parents=True, exist_ok=True)
        self._file.write_text("")
        (script,) = pod["spec"]["containers"][0]["args"]
        script = re.sub("/(node|checkpoints)/", rf"{folder}/\1/", script)
        self._process = subprocess.Popen(["/bin/sh", "-c", script])
        self.told: datetime | None = None
        self.ended: datetime | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while self._process.poll() is None and self.told is None:
            pod = self._site.control_plane.get("v1", "Pod", self._name, self._site.namespace)
            self._file.write_text(pod["metadata"]["annotations"][names.NODE_ENDS_AT])
            if self._file.read_text():
                self.told = self._site.clock.now()
        code = self._process.wait(60)
        self.ended = self._site.clock.now()
        path = f"api/v1/namespaces/{self._site.namespace}/pods/{self._name}/status"
        pod = self._site.control_plane.request("GET", path)
        (container,) = pod["status"]["containerStatuses"]
        ended = {"exitCode": code, "reason": "Error"}
        containers = [container | {"ready": False, "state": {"terminated": ended}}]
        status = {"phase": "Failed", "containerStatuses": containers}
        self._site.control_plane.request("PATCH", path, {"status": status}, MERGE)

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._thread.join(60)


def test_the_checkpoint_is_written_in_time_and_the_job_goes_on(site: Site, tmp_path: Path) -> None:
    site.add_nodes("a")
    site.apply(training())
    pod, *_ = site.wait_for("a pod on a", lambda: [*filter(is_ready, site.pods_on("a"))])
    site.add_nodes("b", spot=False)
    evenkeel = site.deploy()
    container = Container(site, pod, tmp_path)
    try:
        warning = site.warning("a", ago=120 - LEFT)
        deadline = datetime.fromisoformat(warning["time"]) + timedelta(seconds=120)
        evenkeel.notify(warning)
        site.wait_for("another pod on b", lambda: site.pods_on("b"))
    finally:
        container.close()
    assert int((tmp_path / "checkpoints" / "step").read_text()) > 0
    assert container.told is not None
    assert container.ended is not None
    assert container.ended < deadline - timedelta(seconds=LEFT / 2)
    job = site.control_plane.get("batch/v1", "Job", "training", site.namespace)
    assert job["status"].get("failed", 0) == 0
    told = [d.reason for d in evenkeel.recorder.decisions if d.write and "tell" in d.verb]
    assert told == ["NodeEndTold"]


def training() -> dict[str, Any]:
    """The manifest that the page shows; its checkpoints are in a volume that needs no claim."""
    page = (ROOT / "docs/notices.md").read_text()
    (text,) = re.findall("```yaml\n(apiVersion: batch/v1.*?)```", page, re.DOTALL)
    job: dict[str, Any] = yaml.safe_load(text)
    volumes = job["spec"]["template"]["spec"]["volumes"]
    volumes[1] = {"name": volumes[1]["name"], "emptyDir": {}}
    return job
