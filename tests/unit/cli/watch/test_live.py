"""A cluster that is watched: what its objects show, held to what Evenkeel itself logs of it."""

from datetime import timedelta

import pytest

from evenkeel.adapters.telemetry import decision_log
from evenkeel.errors import ForbiddenError, UnavailableError
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.interruption import QUIET
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Selection
from evenkeel_cli import pausing
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.history import incident
from evenkeel_cli.history.counts import Cause
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.moves import Move
from evenkeel_cli.screen import making
from evenkeel_cli.screen.around import Surveyor
from evenkeel_cli.screen.known import Known
from evenkeel_cli.simulate import clusters, trial
from evenkeel_cli.simulate.trial import Ground, Policy, Setting, Storm
from evenkeel_cli.watch.live import CALM, Live
from evenkeel_sandbox.storms.shapes import OnePool
from tests.kit.asking import asks, failing, noting
from tests.kit.manifests import RECREATE, bare_pod, daemon_set, deployment, job, stateful_set
from tests.kit.scene import Scene
from tests.unit.cli.watch.rehearsed import HurryingClock


def follow(scene: Scene) -> list[Known]:
    """Watch from now on: what is known, look by look."""
    seen = watched(Live(scene.cluster, "scene", WELL_KNOWN, read_prices(None), scene.clock), scene)
    scene.settle(1)
    return seen


def watched(live: Live, there: Scene | Storm) -> list[Known]:
    """A list that grows while time passes there."""
    seen: list[Known] = []

    def look() -> None:
        for each in live.looks():
            seen.append(each)  # noqa: PERF402 - the list grows meanwhile

    there.clock.start(look)
    return seen


def logged(scene: Scene) -> Incident:
    """The account that Evenkeel's own log gives."""
    recorder = scene.recorder
    decided = zip(recorder.decisions, recorder.times, strict=True)
    found = incident.of(
        [
            *(decision_log.record(each, scene.at(at), "scene", "act") for each, at in decided),
            *(decision_log.count_record(each, "scene") for each in recorder.pod_counts),
        ]
    )
    assert found is not None
    return found


def account(seen: list[Known]) -> Incident:
    found = seen[-1].account
    assert found is not None
    return found


def ways(found: Incident) -> dict[str, Move]:
    return {pod.subject.name: pod.way for pod in found.to_move}


def verdicts(found: Incident) -> dict[str, str | None]:
    return {each.subject.name: each.verdict for each in found.concerned}


def headline(known: Known) -> str:
    return making.of(known).headline


def test_a_storm_is_told_as_the_log_tells_it(scene: Scene) -> None:
    scene.given(
        deployment("web", 3),
        deployment("chat", 2, notes={"evenkeel.dev/handover": "never"}),
        deployment("mailer", **RECREATE),
        stateful_set("db", 2),
        bare_pod("alone"),
        job("import"),
        daemon_set("agent"),
        spare="o1 o2",
    )
    seen = follow(scene)
    scene.interrupt("s1").run(until=150)

    shown, told = account(seen), logged(scene)
    assert ways(shown) == ways(told)
    assert verdicts(shown) == verdicts(told)
    assert {each.name: each.deadline for each in shown.nodes} == {
        each.name: each.deadline for each in told.nodes
    }
    whys = {each.subject.name: each.why for each in shown.concerned}
    assert whys["mailer"] == "the Deployment's strategy is Recreate"
    assert whys["web"] == ""


def test_a_storm_is_told_as_the_log_and_an_observer_tell_it() -> None:
    """But for why a pod went that was gone before anybody could ask."""
    shape = OnePool(timedelta(seconds=60))
    setting = Setting(shape=shape, policy=Policy.EVENKEEL, labels=WELL_KNOWN)
    storm = trial.storm(Ground.of(clusters.read(None, built_in=True)), setting, 0)
    seen = watched(Live(storm.cluster, "storm", WELL_KNOWN, read_prices(None), storm.clock), storm)
    for _ in storm.steps():
        pass
    shown, told = account(seen), storm.account()
    storm.close()

    def counts(found: Incident) -> dict[str, object]:
        return {
            each.subject.name: (each.verdict, each.lowest, each.late) for each in found.concerned
        }

    def causes(found: Incident) -> dict[str, Cause]:
        return {p.subject.name: p.cause for p in found.pods if p.way is not Move.LEFT}

    assert counts(shown) == counts(told)
    assert causes(shown) == causes(told)


def test_the_headline_follows_the_storm(scene: Scene) -> None:
    scene.given(deployment("web", 2), spare="o1")
    seen = follow(scene)
    scene.interrupt("s1").run(until=1_000)

    lines = list(dict.fromkeys(map(headline, seen)))
    assert lines[0] == "No node is going."
    assert lines[1].startswith("1 node going, the first in 1")
    assert any("2 of 2 pods replaced, nobody at zero" in each for each in lines)
    assert lines[-1] == (
        "No node is going any more. Of 1 workload with pods that had to move 1 kept all that are"
        " wanted, none dipped for a reason that is named, none failed; no pod was late."
    )


def test_who_begins_in_the_midst_sees_what_is_marked_and_released(scene: Scene) -> None:
    scene.given(deployment("web", 2))
    scene.interrupt("s1").run(until=5)
    seen = follow(scene)
    scene.run(until=20)

    assert headline(seen[-1]) == (
        "1 node going, the first in 101 s, 0 of 2 pods replaced, nobody at zero"
    )
    assert {pod.released_at for pod in account(seen).pods} == {
        pod.released_at.replace(microsecond=each.microsecond)
        for pod in logged(scene).pods
        if pod.released_at is not None
        for each in [pod.released_at]
    }


def test_a_pod_without_a_replacement_is_late(scene: Scene) -> None:
    scene.given(deployment("web", 1))
    seen = follow(scene)
    scene.interrupt("s1").run(until=150)

    (web,) = account(seen).workloads
    assert (web.late, web.lowest) == (1, 0)
    assert web.why.startswith("no place for a replacement: 0/1 nodes are available")
    assert verdicts(account(seen)) == verdicts(logged(scene))
    assert ways(account(seen)) == ways(logged(scene))


def test_pods_of_a_hint_that_expires_are_left(scene: Scene) -> None:
    notes = {"karpenter.sh/do-not-disrupt": "true"}
    scene.given(deployment("web", 1, pod={"annotations": notes}))
    seen = follow(scene)
    scene.recommend("s1").run(until=1_000)

    assert headline(seen[-1]) == "No node is going any more. No workload had pods that had to move."


def test_pods_that_go_back_do(scene: Scene) -> None:
    scene.given(deployment("web", 1))
    seen = follow(scene)
    scene.recommend("s1").run(until=1_000)

    assert ways(account(seen)) == dict.fromkeys(ways(account(seen)), Move.PUT_BACK)
    assert making.of(seen[-1]).calm


def test_the_last_interruption_stays_until_the_next_one(scene: Scene) -> None:
    scene.given(deployment("web", 2), spare="o1")
    scene.add_node("s2")
    seen = follow(scene)
    scene.interrupt("s1").run(until=200 + 2 * QUIET.total_seconds())
    first = account(seen)
    assert [each.name for each in first.nodes] == ["s1"]
    scene.interrupt("s2").run(until=scene.seconds + 5)
    assert [each.name for each in account(seen).nodes] == ["s2"]


def test_where_nothing_changes_it_looks_seldom(scene: Scene) -> None:
    scene.given(deployment("web", 2))
    seen = follow(scene)
    scene.settle(30)
    before = len(seen)
    scene.settle(100)
    assert 0 < len(seen) - before <= 100 / CALM.total_seconds()


def test_all_pods_are_read_the_more_seldom_the_longer_that_takes(scene: Scene) -> None:
    scene.given(deployment("web", 2))
    lists = noting(scene.cluster, asks(List, selection=Selection(Pod)))
    clock = HurryingClock(per_look=timedelta(seconds=0.5))
    surveyor = Surveyor(scene.cluster, WELL_KNOWN, read_prices(None), clock)
    for _ in range(100):
        assert surveyor.around() is not None
    assert len(lists) == 1
    clock.sleep(timedelta(minutes=10))
    failing(scene.cluster, UnavailableError("no answer"))
    assert surveyor.around() is not None
    assert len(lists) == 1


def test_a_pause_is_shown(scene: Scene) -> None:
    scene.given(deployment("web"))
    seen = follow(scene)
    pausing.begin(scene.cluster, pausing.planned("ada@ops", scene.clock.now()))
    scene.settle(25)
    assert "by ada@ops" in seen[-1].paused
    assert any(each.bad for each in making.of(seen[-1]).facts if each.name == "paused")


def test_what_cannot_be_read_for_a_while_is_noted(scene: Scene) -> None:
    scene.given(deployment("web"))
    seen = follow(scene)
    failing(scene.cluster, UnavailableError("no answer"), asks(Get))
    scene.settle(25)
    assert seen[-1].note == "nothing newer can be read: no answer"


def test_who_may_not_read_is_told_at_once(scene: Scene) -> None:
    scene.given(deployment("web"))
    failing(scene.cluster, ForbiddenError("you may not"), asks(Get))
    with pytest.raises(ForbiddenError):
        follow(scene)
