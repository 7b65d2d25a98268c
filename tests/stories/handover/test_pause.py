"""The pause: while its ConfigMap is there nothing is touched."""

import itertools
from dataclasses import replace
from datetime import datetime

import pytest

from evenkeel.errors import NotFoundError, UnavailableError
from evenkeel.flows import pause
from evenkeel.model.request import Request
from evenkeel.ports import Reply
from tests.kit.builders import NOW, seconds
from tests.kit.manifests import PAUSED, bare_pod, deployment
from tests.kit.scene import BEGUN, CALM, Scene
from tests.stories.handover.conftest import MakeScene
from tests.stories.handover.hands import pause_at, resume_at


def is_the_question(request: Request) -> bool:
    """Whether a request asks for the pause."""
    return request == pause.QUESTION


def test_a_handover_stops_in_the_middle_and_goes_on_when_it_is_over(scene: Scene) -> None:
    (pod,) = scene.given(deployment("one"), spare="o1")
    pause_at(scene, 2)
    resume_at(scene, 40)

    scene.interrupt("s1").run(until=39)
    while_paused = scene.written(after=2)
    scene.run(until=60)

    assert while_paused == []
    assert scene.story(pod).order() == [*BEGUN, "evict ReplacementAvailable"]
    assert scene.gone_at(pod) == 42.3
    assert scene.lowest("one") == 1
    assert scene.outcomes()[0] == "Paused"
    assert len(scene.wake_ups.messages) == 1


def test_no_write_is_made_more_than_a_second_after_it(make_scene: MakeScene) -> None:
    """Replacements are made at ten a second, and each release waits for the last one's."""
    slowly = replace(CALM, controller_qps=10, controller_burst=1)
    scene = make_scene(options=slowly, window=1)
    scene.given(
        *(deployment(f"app-{number}") for number in range(80)),
        spare="o1",
        room={"s1": "40", "o1": "40"},
        settle=60,
    )
    pause_at(scene, 4.7)

    scene.interrupt("s1").run(until=60)

    made = [sent.at for sent in scene.written(after=1)]
    assert 10 < len(made) < 80
    assert 4.7 < max(made) < 5.7
    assert scene.outcomes()[0] == "Paused"


def test_nothing_begins_while_it_lasts_and_what_is_overdue_is_done_after_it(scene: Scene) -> None:
    scene.given(bare_pod("alone"))
    pause_at(scene, 0.5)
    resume_at(scene, 100)
    scene.interrupt("s1").run(until=99)
    assert [sent.name for sent in scene.written()] == ["s1"]
    assert scene.story("alone") == []
    assert set(scene.outcomes()) == {"Paused"}
    assert len(scene.wake_ups.messages) == 1
    scene.run(until=115)
    assert scene.gone_at("alone") == 101.2


def test_a_mark_itself_waits_for_its_end(scene: Scene) -> None:
    scene.place(deployment("one"))
    scene.given(PAUSED, on="o1")
    resume_at(scene, 20)

    scene.interrupt("s1").run(until=19)
    assert scene.written() == []
    scene.run(until=60)

    assert scene.lowest("one") == 1
    assert scene.pod("one", "o1")


def test_without_an_answer_about_it_nothing_is_written_for_long(scene: Scene) -> None:
    """It is not known whether Evenkeel is paused: a second later no write is made any more."""
    (pod,) = scene.given(deployment("one"), spare="o1")
    scene.fail(
        UnavailableError("no answer"),
        lambda request: 2 <= scene.seconds < 12 and is_the_question(request),
    )

    scene.interrupt("s1").run(until=60)

    assert scene.story(pod)[-1].endswith("evict ReplacementAvailable")
    assert 12 <= scene.gone_at(pod) < 13
    asked = [at for at, request in scene.requests if is_the_question(request) and 2 <= at < 12]
    assert len(asked) <= 25
    assert scene.lowest("one") == 1


def test_it_is_asked_for_more_than_once_a_second_while_work_goes_on(scene: Scene) -> None:
    scene.given(deployment("stuck"))

    scene.interrupt("s1").run(until=15)

    asked = [at for at, request in scene.requests if is_the_question(request) and at > 1.02]
    assert max(later - at for at, later in itertools.pairwise(asked)) < 1
    assert len(asked) < 36


def answer(*, paused: bool = False) -> Reply:
    return Reply(pause.QUESTION, error=None if paused else NotFoundError("no such ConfigMap"))


def test_a_clock_that_is_set_back_opens_no_gate_and_asks_again() -> None:
    gate = pause.PauseGate()
    gate.heard(gate.ask(NOW), answer())
    assert gate.is_open(NOW)
    assert not gate.should_ask(NOW)
    earlier = NOW - seconds(30)
    assert not gate.is_open(earlier)
    assert gate.should_ask(earlier)


def test_of_an_api_server_that_takes_its_time_every_answer_is_known_in_time() -> None:
    """It takes 0.5 s: were it asked one by one, the gate would be shut half of the time."""
    gate, under_way = pause.PauseGate(), list[tuple[datetime, pause.Asked]]()
    for now in (NOW + seconds(tenth / 10) for tenth in range(100)):
        while under_way and under_way[0][0] <= now:
            gate.heard(under_way.pop(0)[1], answer())
        if gate.should_ask(now):
            under_way.append((now + seconds(0.5), gate.ask(now)))
        assert gate.is_open(now) is (now >= NOW + seconds(0.5))


def test_one_that_answers_nothing_is_not_asked_without_end() -> None:
    gate = pause.PauseGate()
    asked = 0
    for half in range(100):
        if gate.should_ask(NOW + seconds(half / 2)):
            gate.ask(NOW + seconds(half / 2))
            asked += 1
    assert asked == pause.MOST_UNDER_WAY


@pytest.mark.parametrize("paused_first", [True, False])
def test_what_was_asked_last_counts_whichever_answer_comes_first(*, paused_first: bool) -> None:
    gate = pause.PauseGate()
    first, second = gate.ask(NOW), gate.ask(NOW + seconds(0.5))
    gate.heard(second, answer(paused=not paused_first))
    gate.heard(first, answer(paused=paused_first))
    assert gate.is_paused is not paused_first


@pytest.mark.parametrize("meanwhile", ["nothing", "rolled out", "deleted"])
def test_pods_that_were_released_before_a_pause_of_a_day_are_looked_after_when_it_is_over(
    scene: Scene, meanwhile: str
) -> None:
    """No ReplicaSet had them all the time. What a Deployment owned goes with it."""
    scene.given(deployment("web", 2), spare="o1")
    pods = {pod.uid for pod in scene.pods("web")}
    pause_at(scene, 2)
    resume_at(scene, 90_000)
    if meanwhile == "deleted":
        scene.later(60, lambda: scene.cluster.delete("Deployment", "web", "default"))
    if meanwhile == "rolled out":
        scene.later(60, lambda: scene.apply(deployment("web", 2, pod={"annotations": {"v": "2"}})))

    scene.recommend("s1").run(until=3)
    assert all(pod.released for pod in scene.pods("web", "s1"))
    scene.run(until=89_990)
    left = set() if meanwhile == "deleted" else pods
    assert {pod.uid for pod in scene.pods("web", "s1")} == left
    scene.run(until=90_200)

    assert len(scene.pods("web")) == (0 if meanwhile == "deleted" else 2)
    assert not any(pod.released for pod in scene.pods("web"))
