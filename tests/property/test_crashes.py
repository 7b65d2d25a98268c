"""Every write in turn is an invocation's last. All invariants hold when another takes over."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import Phase, assume, example, given, settings

from evenkeel.model.decision import Verb
from tests.property import strategies
from tests.property.invariants import REACTION, SCHEDULE
from tests.property.judging import ALL, IS_DEEP, hold, tries
from tests.property.scenes import THREE, Crash, NoticePlan, Recovery, Scene, WorkloadPlan
from tests.property.world import play

MOST_ON_LEASE = 8
"""Among so many first writes those to the Lease are tried, too; later ones are as these."""

MOST_REFUSED = 3
"""Of the refusals of one request so many first ones are tried; later ones are as these."""

LONG_ENOUGH = (SCHEDULE + REACTION).total_seconds()
"""Seconds before a deadline from which on the schedule alone is in time."""

SLOW = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=2, ready=15),),
    notices=(NoticePlan(), NoticePlan(node=1, at=3)),
)
"""Replacements are long under way while writes are made."""


def crashed_at_every_write(scene: Scene, *ways: Crash) -> Iterator[Scene]:
    """The scene with the invocation dying at each write that the undisturbed story has.

    It dies in one of these ways at one write, in the next way at the next.
    """
    story = play(scene)
    assume(story.recorder.with_verb(Verb.RELEASE))
    deadlines = [notice.deadline for notice in scene.notices if notice.deadline is not None]
    last = min(deadlines, default=scene.end) - LONG_ENOUGH
    refusals = Counter[str]()
    for number, (deed, crash) in enumerate(zip(story.deeds, itertools.cycle(ways), strict=False)):
        late = crash.recovery is Recovery.SCHEDULE and story.seconds(deed.at) >= last
        refusals[str(deed)] += deed.error is not None
        again = deed.error is not None and refusals[str(deed)] > MOST_REFUSED
        if not late and not again and (not deed.on_lease or number < MOST_ON_LEASE):
            yield dataclasses.replace(scene, crash=dataclasses.replace(crash, write=number))


@pytest.mark.parametrize("recovery", list(Recovery))
@pytest.mark.parametrize("carried_out", [False, True], ids=["write-lost", "write-done"])
@settings(tries(0.06), phases=[Phase.explicit, Phase.generate])  # told, not shrunk
@example(scene=SLOW)
@given(scene=strategies.scenes(told="warnings", most_workloads=3 if IS_DEEP else 1))
def test_all_invariants_hold_when_an_invocation_dies_at_any_write(
    scene: Scene, recovery: Recovery, *, carried_out: bool
) -> None:
    for crashed in crashed_at_every_write(scene, Crash(carried_out=carried_out, recovery=recovery)):
        hold(crashed, *ALL)


@settings(tries(0.02), phases=[Phase.generate])
@given(scene=strategies.given_up())
def test_a_handover_that_is_given_up_leaves_nothing_when_an_invocation_dies_at_any_write(
    scene: Scene,
) -> None:
    ways = [Crash(carried_out=done, recovery=each) for each in Recovery for done in (False, True)]
    for crashed in crashed_at_every_write(scene, *ways):
        hold(crashed, *ALL)
