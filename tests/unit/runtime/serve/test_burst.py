"""A burst through the webhook as ``evenkeel serve`` runs it: threads that share their reads."""

import json
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.errors import ClusterError
from evenkeel.flows.placement import flow
from evenkeel.handlers.placement import build
from evenkeel.model.request import Request
from evenkeel.ports import Reply
from evenkeel.settings import GateSettings, Mode
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.serve import sharing
from evenkeel_runtime.serve.sharing import SharingCluster
from tests.stories.placement.scene import Placement, apply_patch, event, pod, review

A_MINUTE = timedelta(minutes=1)
"""No review takes so long, however slow the machine is."""


class Immediate:
    """The simulated API server without its clock: each question is answered at once."""

    def __init__(self, scene: Placement) -> None:
        self._scene = scene
        self.lock = threading.Lock()
        self.asked = 0

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        with self.lock:
            self.asked += len(requests)
            return [self._answer(request) for request in requests]

    def session(self) -> Any:
        raise NotImplementedError

    def _answer(self, request: Request) -> Reply:
        try:
            return Reply(request, result=self._scene.cluster.execute(request))
        except ClusterError as error:
            return Reply(request, error=error)


def test_a_burst_of_threads_gets_exactly_its_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "LONGEST_COUNTING", A_MINUTE)
    monkeypatch.setattr(sharing, "PATIENCE", A_MINUTE)
    scene = Placement()
    owner = scene.replica_set(60, "30%")
    server = Immediate(scene)
    handler = build(
        scene.settings,
        GateSettings(mode=Mode.ACT),
        SharingCluster(server),
        SystemClock(),
        InMemoryRecorder(),
    )

    def admit(number: int) -> None:
        asked = pod(owner)
        answer = handler(event(review(asked, uid=f"review-{number}")), None)
        response = json.loads(answer["body"])["response"]
        with server.lock:
            scene.cluster.server.create(apply_patch(asked, response))

    threads = [threading.Thread(target=admit, args=(number,)) for number in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(A_MINUTE.total_seconds())
    assert scene.split() == {"on-demand": 18, "spot": 42}
