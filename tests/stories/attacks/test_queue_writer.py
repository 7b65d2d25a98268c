"""Attacks by somebody who may put messages into the notice queue or the wake-up queue."""

import io
import json
import math
from collections.abc import Collection, Mapping
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.model import names
from evenkeel.model.instance import Instance
from evenkeel.settings import Mode
from evenkeel_cli.log import LineRecorder
from tests.kit.nodes import is_drained
from tests.kit.scene import INTERRUPTION, RECOMMENDATION, STATE_CHANGE, Scene
from tests.stories.attacks.conftest import MakeScene

DEEP = 100_000


def event(scene: Scene, node: str, kind: str = INTERRUPTION, **changes: Any) -> dict[str, Any]:
    """A forged event about a node's instance, given now."""
    detail = {"instance-id": scene.node(node).instance_id, "instance-action": "terminate"}
    return {
        "id": "forged",
        "detail-type": kind,
        "source": "aws.ec2",
        "time": scene.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "detail": detail | changes.pop("detail", {}),
        **changes,
    }


def put(scene: Scene, *events: dict[str, Any] | str) -> None:
    """Put messages into the notice queue."""
    for each in events:
        scene.notices.put(each if isinstance(each, str) else json.dumps(each))


def is_handed_over(scene: Scene) -> bool:
    """Whether the honest workload left s1 without a gap."""
    return not scene.pods("web", "s1") and scene.lowest("web") == 4


POISON = {
    "nested arrays": "[" * DEEP,
    "nested objects": '{"a":' * DEEP,
    "a number of 5,000 digits": '{"id":' + "9" * 5_000 + "}",
    "a number out of range": '{"id": 1e999999}',
    "half a character": json.dumps({"id": "\ud800"}),
    "no JSON": "\x00\x1b]0;x\x07",
    "nothing": "",
    "a list": "[1, 2]",
}


@pytest.mark.parametrize("body", POISON.values(), ids=POISON.keys())
def test_the_rest_of_a_batch_is_done_when_one_message_is_poison(scene: Scene, body: str) -> None:
    put(scene, body)
    scene.interrupt("s1")
    put(scene, body)

    scene.run(until=60)

    assert scene.marking.batches[0] == 3
    assert not scene.marking.errors
    assert is_handed_over(scene)


LONG = {
    "id": {"id": "x" * 200_000},
    "source": {"source": "x" * 200_000},
    "detail-type": {"detail-type": "x" * 200_000},
    "action": {"detail": {"instance-action": "x" * 200_000}},
    "state": {"kind": STATE_CHANGE, "detail": {"state": "x" * 200_000}},
    "time": {"time": "x" * 200_000},
}


@pytest.mark.parametrize("changes", LONG.values(), ids=LONG.keys())
def test_no_text_of_an_event_fills_a_node_s_annotations_or_the_log(
    scene: Scene, changes: dict[str, Any]
) -> None:
    """All annotations of an object have 256 KiB together: what exceeds them is refused for ever."""
    put(scene, event(scene, "s1", **changes))
    scene.interrupt("s1")

    scene.run(until=60)

    assert is_handed_over(scene)
    assert len(scene.node("s1").metadata.annotations[names.NOTICE]) < 1_000
    assert max(len(decision.message) for _, decision in scene.told()) < 2_000
    assert max(len(decision.subject.name) for _, decision in scene.told()) < 1_000


@pytest.mark.parametrize("year", [2027, 2099, 2199])
@pytest.mark.parametrize("kind", [INTERRUPTION, RECOMMENDATION])
def test_a_notice_from_the_future_counts_from_now(scene: Scene, kind: str, year: int) -> None:
    """Else its node would be cordoned until then."""
    put(scene, event(scene, "s1", kind, time=f"{year}-01-01T00:00:00Z"))

    scene.run(until=5)

    notice = scene.notice("s1")
    assert notice.since <= scene.clock.now()
    longest = timedelta(minutes=15) if kind == RECOMMENDATION else timedelta(seconds=120)
    assert notice.deadline <= notice.since + longest
    scene.run(until=1_100)
    assert not scene.node("s1").spec.unschedulable
    assert names.NOTICE not in scene.node("s1").metadata.annotations


def test_a_warning_from_the_future_does_not_put_off_the_true_one(scene: Scene) -> None:
    """Dated four minutes ahead its deadline would be too, and the true warning given before it."""
    ahead = (scene.clock.now() + timedelta(minutes=4)).strftime("%Y-%m-%dT%H:%M:%SZ")
    put(scene, event(scene, "s1", time=ahead))
    scene.later(10, lambda: scene.interrupt("s1"))

    scene.run(until=20)

    assert scene.notice("s1").deadline <= scene.at(130)
    scene.run(until=140)
    assert is_handed_over(scene)


def test_messages_that_name_thousands_of_instances_put_off_no_warning_of_their_batch(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EC2 is asked for 200 instances at a time, and the function has 20 s."""
    describe = scene.instances.describe

    def slowly(instance_ids: Collection[str]) -> Mapping[str, Instance]:
        scene.clock.sleep(timedelta(seconds=0.2) * math.ceil(len(instance_ids) / 200))
        return describe(instance_ids)

    monkeypatch.setattr(scene.instances, "describe", slowly)
    change = {
        "eventArn": "arn:aws:health:eu-central-1::event/EC2/forged",
        "service": "EC2",
        "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
        "eventTypeCategory": "scheduledChange",
        "startTime": format_datetime(scene.at(3600), usegmt=True),
    }
    for batch in range(5):
        ids = (f"i-{batch:01x}{number:016x}" for number in range(5_000))
        scene.put(
            "aws.health",
            "AWS Health Event",
            change | {"affectedEntities": [{"entityValue": each} for each in ids]},
        )
    scene.interrupt("s1").run(until=10)
    assert not scene.notice("s1").is_hint
    scene.run(until=140)
    assert is_handed_over(scene)


def test_a_recommendation_does_not_put_off_a_warning(scene: Scene) -> None:
    put(scene, *(event(scene, "s1", RECOMMENDATION, id=f"forged-{n}") for n in range(30)))
    scene.later(5, lambda: scene.interrupt("s1"))

    scene.run(until=60)

    assert not scene.notice("s1").is_hint
    assert is_handed_over(scene)


def test_copies_with_other_ids_write_nothing_more(scene: Scene) -> None:
    put(scene, *(event(scene, "s1", id=f"forged-{number}") for number in range(100)))
    scene.run(until=3)
    marked = [sent for sent in scene.written("s1") if sent.at < 2.5]
    assert len(marked) == 1


def test_recommendations_for_all_nodes_drain_one_of_ten_at_most(make_scene: MakeScene) -> None:
    scene = make_scene()
    for number in range(3, 21):
        scene.add_node(f"s{number}")
    nodes = [f"s{number}" for number in range(1, 21)]
    put(scene, *(event(scene, node, RECOMMENDATION, id=node) for node in nodes))

    scene.run(until=60)

    assert sum(is_drained(scene.node(node)) for node in nodes) == 2


# The wake-up queue.


def wake_up(notices: dict[str, Any] | None = None, **fields: Any) -> str:
    return json.dumps({"v": 1, "reason": "forged", "notices": notices or {}} | fields)


def assumed(**changes: Any) -> dict[str, Any]:
    """A notice as a wake-up of observe mode carries it."""
    return {
        "kind": "interruption",
        "eventId": "forged",
        "deadline": "2026-11-21T12:30:00Z",
        "since": "2026-11-21T12:00:00Z",
        "cordonedAt": "2026-11-21T12:00:00Z",
    } | changes


WAKE_UPS = {
    "nested arrays": "[" * DEEP,
    "a version out of range": '{"v": 1e400, "reason": "x"}',
    "a huge version": wake_up(v=10**300),
    "half a character": wake_up(reason="\ud800"),
    "the first year": wake_up({"s2": assumed(deadline="0001-01-01T00:00:00Z")}),
    "the last year": wake_up({"s2": assumed(since="9999-12-31T23:59:59Z")}),
    "no time zone": wake_up({"s2": assumed(deadline="2026-11-21T12:30:00")}),
    "a cordon without a time zone": wake_up({"s2": assumed(cordonedAt="2026-11-21T12:30:00")}),
    "no node": wake_up({"": assumed()}),
    "no name of a node": wake_up({"../pods?watch=1,spec.nodeName!=x": assumed()}),
    "many nodes": wake_up({f"n{number}": assumed() for number in range(1_500)}),
    "on-demand nodes": wake_up({"o1": assumed()}),
}


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("body", WAKE_UPS.values(), ids=WAKE_UPS.keys())
def test_no_wake_up_keeps_another_from_being_heard(
    make_scene: MakeScene, body: str, mode: Mode
) -> None:
    scene = make_scene(mode=mode)
    for _ in range(3):
        scene.wake_ups.put(body)
    scene.interrupt("s1")

    scene.run(until=120)

    assert not scene.moving.errors
    assert not scene.schedule.errors
    assert not [sent for sent in scene.writes if sent.name in ("s2", "o1")]
    assert scene.told("NodeDoomed")
    if mode is Mode.ACT:
        assert is_handed_over(scene)
        assert {pod.spec.node_name for pod in scene.pods("web")} <= {"s2", "o1"}
    else:
        assert scene.written() == []


def test_no_notice_of_a_wake_up_is_believed_where_evenkeel_acts(scene: Scene) -> None:
    """What is true stands on the nodes."""
    names_of_all = {node: assumed() for node in ("s1", "s2", "o1")}
    for _ in range(20):
        scene.wake_ups.put(wake_up(names_of_all))

    scene.run(until=100)

    assert scene.written() == []


def test_what_an_event_says_does_not_steer_the_terminal_of_who_polls(scene: Scene) -> None:
    """`evenkeel poll` prints decisions, and those name the event."""
    stream = io.StringIO()
    scene.recorder = Tee(scene.recorder, LineRecorder(scene.clock, stream))  # type: ignore[assignment]
    evil = "\x1b]0;owned\x07\x9b2J\r2026-11-21T12:00:00Z evict pod x"
    put(
        scene,
        event(scene, "s1", id=evil, source=evil),
        event(scene, "s1", id=evil, detail={"instance-id": evil}),
        event(scene, "s1", "EC2 Spot Instance Request Fulfillment", id=evil),
    )

    scene.run(until=5)

    printed = stream.getvalue()
    assert "owned" in printed
    assert not [c for c in printed if c != "\n" and (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0)]
