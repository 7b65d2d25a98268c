"""The API server's own log of who asked for what."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.e2e.rights import Right
from tests.kit.control_plane import ControlPlane, Options

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [{"level": "Metadata"}],
}


class Audit:
    """Which rights the members of a group used, and what they were refused, so far."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def used(self, group: str) -> set[Right]:
        """Every right that was used with success, or in vain."""
        return {right for right, code in self._asked(group) if code != 403}

    def refused(self, group: str) -> set[Right]:
        """What the API server forbade."""
        return {right for right, code in self._asked(group) if code == 403}

    def _asked(self, group: str) -> Iterator[tuple[Right, int]]:
        for line in self._log.read_text().splitlines():
            event = json.loads(line)
            if group in event["user"].get("groups", ()) and "objectRef" in event:
                what = event["objectRef"]
                parts = (what.get("apiGroup", ""), what["resource"], what.get("subresource", ""))
                right = event["verb"], "/".join(filter(None, parts))
                yield right, event["responseStatus"]["code"]


@contextmanager
def audited(folder: Path, request: pytest.FixtureRequest) -> Iterator[tuple[ControlPlane, Audit]]:
    """A real control plane with groups of pods whose API server keeps such a log."""
    policy, log = folder / "policy.yaml", folder / "audit.log"
    policy.write_text(yaml.safe_dump(POLICY))
    options = Options(
        kube=request.config.getoption("--kube"),
        gangs=True,
        api_server_flags=(f"audit-policy-file={policy}", f"audit-log-path={log}"),
    )
    with ControlPlane.launch(options) as started:
        yield started, Audit(log)
