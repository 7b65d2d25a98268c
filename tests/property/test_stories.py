"""The random stories are worth telling: what the invariants are about happens in them."""

from hypothesis import given

from evenkeel.model.decision import Verb
from tests.property import strategies
from tests.property.judging import tries
from tests.property.scenes import Scene
from tests.property.world import play

WANTED = {
    (Verb.MARK, "SpotInterruption"),
    (Verb.ACKNOWLEDGE, "UnknownInstance"),
    (Verb.ACKNOWLEDGE, "OtherCluster"),
    (Verb.LEAVE, "AlreadyMarked"),
    (Verb.CORDON, "RebalanceRecommendation"),
    (Verb.LIFT, "HintExpired"),
    (Verb.RELEASE, "NodeDoomed"),
    (Verb.EVICT, "ReplacementAvailable"),
    (Verb.EVICT, "StatefulSet"),
    (Verb.EVICT, "LastMoment"),
    (Verb.DELETE, "BudgetRefusedAtLastMoment"),
    (Verb.ROLL_BACK, "CannotBeReplaced"),
    (Verb.LEAVE, "AtDeadlineLeave"),
    (Verb.TAINT, "InstanceOff"),
}


def test_everything_that_invariants_are_about_happens_in_random_stories() -> None:
    seen: set[tuple[Verb, str]] = set()

    def collect(scene: Scene) -> None:
        if not seen >= WANTED:
            seen.update((each.verb, each.reason) for each in play(scene).recorder.decisions)

    @tries(1)
    @given(strategies.scenes(of=strategies.stateful_sets()))
    def collect_of_stateful_sets(scene: Scene) -> None:
        collect(scene)

    @tries(4)
    @given(strategies.scenes(crash=strategies.rarely(strategies.crashes())))
    def collect_of_all(scene: Scene) -> None:
        collect(scene)

    collect_of_stateful_sets()
    collect_of_all()
    assert sorted(WANTED - seen) == []
