"""What the property tests share: how much is tried, and how a story is held to an invariant."""

from collections.abc import Callable, Sequence

from hypothesis import event, note, settings

from evenkeel.model.decision import Verb
from tests.property.invariants import (
    dips,
    left_behind,
    released_for_ever,
    touched_without_notice,
    written_after_the_end,
    written_by_two,
)
from tests.property.scenes import Scene
from tests.property.world import Story, play

type Invariant = Callable[[Story], Sequence[str]]

ALL: Sequence[Invariant] = (
    dips,
    left_behind,
    released_for_ever,
    touched_without_notice,
    written_after_the_end,
    written_by_two,
)
"""What holds of every story in which Evenkeel is neither paused nor only observes."""

TOLD = (Verb.RELEASE, Verb.EVICT, Verb.DELETE, Verb.ROLL_BACK, Verb.LIFT)


IS_DEEP = settings().max_examples > 100
"""Whether there is time for large stories where each is told again and again."""


def tries(share: float = 1.0) -> settings:
    """A share of the examples that the profile allows."""
    most = settings().max_examples
    return settings(max_examples=max(1, round(most * share)))


def hold(scene: Scene, *invariants: Invariant) -> Story:
    """Play a scene; fails with what did not hold, and with whatever a handler raised."""
    note(f"play({scene!r})")
    story = play(scene)
    for decision in story.recorder.with_verb(*TOLD):
        event(f"{decision.verb} {decision.reason}")
    assert not story.errors
    assert not story.forgotten, "; ".join(story.forgotten)
    for invariant in invariants:
        broken = invariant(story)
        assert not broken, f"{invariant.__name__}: {'; '.join(broken)}"
    return story
