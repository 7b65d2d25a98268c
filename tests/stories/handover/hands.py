"""What others than Evenkeel's functions do in a story."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from evenkeel.decisions.drain.route import SETTLES
from evenkeel.model import names
from evenkeel.model.decision import Decision
from evenkeel_cli.decisions import draining
from evenkeel_cli.retry_on_conflict import change
from evenkeel_sandbox.simulator.session import SimulatedSession
from tests.kit.manifests import PAUSED, Manifest, resource
from tests.kit.scene import Scene

SETTLED = (SETTLES + timedelta(minutes=1)).total_seconds()
"""Seconds after which a StatefulSet's pod is old enough to go for a recommendation."""


def lease(scene: Scene, **spec: Any) -> None:
    """Put the Lease there as another would have left it."""
    annotations = spec.pop("annotations", {})
    scene.apply(
        resource(
            "Lease", names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE, notes=annotations, spec=spec
        )
    )


def found(scene: Scene) -> dict[str, Any]:
    """The Lease as it is."""
    (there,) = scene.cluster.objects("Lease")
    return there


def set_unready(scene: Scene, name: str) -> None:
    """A pod of the namespace default fails its readiness probe."""
    at = scene.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    broken = {"type": "Ready", "status": "False", "lastTransitionTime": at}
    scene.cluster.server.set_condition(("default", name), broken)


def drain(
    scene: Scene, *nodes: str, seconds: float = 300, drain_id: str = "drain-1", act: bool = True
) -> list[Decision]:
    """Do as ``evenkeel drain NODE`` does in the beginning; the time counts from now."""
    made = []
    for name in nodes:
        decide = partial(
            draining.begin,
            until=scene.clock.now() + timedelta(seconds=seconds),
            now=scene.clock.now(),
            drain_id=drain_id,
        )
        decision = change(scene.cluster, name, decide, act=act)
        assert decision is not None
        scene.recorder.decided(decision)
        made.append(decision)
    return made


def disk(zone: str, name: str = "disk") -> list[Manifest]:
    """A claim of this name that is bound to a volume in a zone."""
    clause = {"key": names.ZONE, "operator": "In", "values": [zone]}
    terms = {"required": {"nodeSelectorTerms": [{"matchExpressions": [clause]}]}}
    bound = {"accessModes": ["ReadWriteOnce"], "volumeName": f"pv-{name}"}
    return [
        resource("PersistentVolume", f"pv-{name}", spec={"nodeAffinity": terms}),
        resource("PersistentVolumeClaim", name, "default", spec=bound),
    ]


def pause_at(scene: Scene, seconds: float) -> None:
    """Evenkeel is paused then."""
    scene.later(seconds, lambda: scene.apply(PAUSED))


def resume_at(scene: Scene, seconds: float) -> None:
    """It is resumed then."""
    scene.later(
        seconds,
        lambda: scene.cluster.delete("ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE),
    )


def blind(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """No watch shows anything from now on."""
    open_session = scene.cluster.session

    def open_blind_session() -> SimulatedSession:
        session = open_session()
        monkeypatch.setattr(session, "watch", lambda _selection: None)
        return session

    monkeypatch.setattr(scene.cluster, "session", open_blind_session)


def lose_wake_ups(scene: Scene, reason: str = "") -> None:
    """Lose all messages of the queue, or those with this reason."""
    for message in scene.wake_ups.messages:
        if reason in message.body:
            scene.wake_ups._messages.pop(message.message_id)
