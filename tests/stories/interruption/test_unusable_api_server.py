"""Notices and probes at an API server that refuses who asks, or is away."""

import json
from typing import Any

import pytest

from evenkeel.errors import ClusterError, ForbiddenError, UnavailableError
from evenkeel.flows.pause import QUESTION
from evenkeel.model.decision import Verb
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.request import List, Patch
from evenkeel.settings import Mode
from evenkeel_cli import pausing
from evenkeel_hosting.events import batch_event
from tests.kit.asking import EVERYTHING, Concerns, asks, noting
from tests.kit.builders import NOW
from tests.kit.unusable import UNUSABLE
from tests.stories.interruption.scene import Scene, state_change, warning


def probe(source: str = "evenkeel.probe/evenkeel") -> dict[str, Any]:
    return {
        "version": "0",
        "id": "probe-1",
        "detail-type": "Evenkeel Probe",
        "source": source,
        "account": "123456789012",
        "time": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": "eu-central-1",
        "resources": [],
        "detail": {},
    }


def fail(scene: Scene, error: ClusterError, concerns: Concerns = EVERYTHING) -> list[Any]:
    """Answer requests with this error; those that met it."""
    met = noting(scene.cluster, concerns)
    scene.fail(error, concerns)
    return met


@pytest.fixture(params=list(Mode))
def scene(request: pytest.FixtureRequest) -> Scene:
    return Scene(request.param)


# Notices.


@pytest.mark.parametrize(("error", "metric", "_remedy"), UNUSABLE)
def test_notices_come_back_in_two_seconds_and_it_is_counted_once(
    scene: Scene, error: ClusterError, metric: str, _remedy: str
) -> None:
    fail(scene, error)
    failed = scene.deliver(warning(1), warning(2))
    assert [scene.comes_back_after(each) for each in failed] == [2, 2]
    assert scene.recorder.total(metric) == 1
    assert scene.recorder.total("NoticesRetried") == 2


@pytest.mark.parametrize(("error", "metric", "_remedy"), UNUSABLE)
def test_so_it_is_where_only_the_list_of_nodes_helps(
    scene: Scene, error: ClusterError, metric: str, _remedy: str
) -> None:
    """The second time the list is not asked for: it failed a moment ago, for the same reason."""
    scene.add_instance(9, dns_name="n9", state="terminated")
    met = fail(scene, error, asks(List))
    for number in (1, 2):
        assert len(scene.deliver(state_change(9, "terminated"))) == 1
        assert scene.recorder.total(metric) == number
    assert len(met) == 1


def test_a_right_to_patch_nodes_that_is_lost_is_counted() -> None:
    scene = Scene()
    scene.fail(ForbiddenError("403"), asks(Patch))
    assert len(scene.deliver(warning(1))) == 1
    assert scene.recorder.total("ClusterForbidden") == 1


def test_what_is_well_is_not_counted(scene: Scene) -> None:
    assert scene.deliver(warning(1)) == []
    assert scene.recorder.total("ClusterForbidden") == 0
    assert scene.recorder.total("ClusterUnreachable") == 0


# Probes.


def test_a_probe_is_answered_by_one_object_and_the_pause_and_counted(scene: Scene) -> None:
    assert scene.deliver(probe()) == []
    asked, pause = scene.requests
    assert pause == QUESTION
    assert isinstance(asked, List)
    assert (asked.selection.kind, asked.limit, asked.fresh) == (Node, 1, True)
    assert scene.recorder.total("ProbesAnswered") == 1
    assert scene.recorder.total("NoticesReceived") == 0
    (decision,) = scene.recorder.decisions
    assert (decision.verb, decision.reason) == (Verb.ACKNOWLEDGE, "ProbeAnswered")
    assert scene.wake_up() is None


@pytest.mark.parametrize(("error", "metric", "_remedy"), UNUSABLE)
def test_a_probe_without_an_answer_is_counted_as_such_and_does_not_come_back(
    scene: Scene, error: ClusterError, metric: str, _remedy: str
) -> None:
    fail(scene, error)
    assert scene.deliver(probe()) == []
    assert scene.recorder.total(metric) == 1
    assert scene.recorder.total("ProbesAnswered") == 0
    (decision,) = scene.recorder.decisions
    assert decision.reason == "ProbeUnanswered"
    assert decision.warning
    assert str(error) in decision.message


def test_probes_that_come_together_are_asked_about_once(scene: Scene) -> None:
    assert scene.deliver(probe(), probe(), probe()) == []
    assert len(scene.requests) == 2
    assert scene.recorder.total("ProbesAnswered") == 3


def test_a_probe_that_finds_evenkeel_paused_is_counted_as_such(scene: Scene) -> None:
    scene.deliver(probe())
    assert scene.recorder.total(Metric.PROBES_PAUSED) == 0

    assert pausing.begin(scene.cluster, pausing.planned("ada@ops", scene.clock.now()))
    scene.deliver(probe())
    assert scene.recorder.total(Metric.PROBES_PAUSED) == 1
    assert scene.recorder.total(Metric.PROBES_ANSWERED) == 2


def test_a_probe_does_not_hold_up_the_notices_of_its_batch(scene: Scene) -> None:
    """What their requests met answers it, too: another one might take the time that is left."""
    met = fail(scene, UnavailableError("timed out"))
    (failed,) = scene.deliver(probe(), warning(1))
    assert scene.comes_back_after(failed) == 2
    assert len(met) == 1
    assert scene.recorder.total("ClusterUnreachable") == 1
    assert scene.recorder.total("ProbesAnswered") == 0


def test_an_invocation_for_a_probe_raises_nothing_whatever_is_in_its_detail(scene: Scene) -> None:
    scene.notices.put(json.dumps(probe() | {"detail": {"instance-id": "i-1", "state": "stopped"}}))
    answer = scene.handler(batch_event(scene.notices.receive()), None)
    assert answer == {"batchItemFailures": []}


@pytest.mark.parametrize(
    "forged",
    [
        warning(1) | {"source": "evenkeel.probe/evenkeel"},
        probe("aws.ec2"),
        probe("evenkeel.replay"),
        probe("my.evenkeel.probe/evenkeel"),
    ],
    ids=["a notice of a probe's source", "of EC2", "of replays", "of another"],
)
def test_what_only_resembles_a_probe_does_nothing(forged: dict[str, Any]) -> None:
    scene = Scene(replay_source="evenkeel.replay")
    assert scene.deliver(forged) == []
    assert scene.requests == []
    assert scene.reasons() == ["UnknownKind"]
