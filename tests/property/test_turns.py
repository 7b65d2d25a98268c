"""Where a quota allows no second pod, pods go in turns.

Never more at a time than have to for all to be replaced in time, and none of a single replica.
The spectator knows how many that may be. Whatever happens to their places, no pod is left behind.
"""

from hypothesis import example, given
from hypothesis import strategies as st

from tests.property import strategies
from tests.property.judging import ALL, hold, tries
from tests.property.scenes import THREE, Disturbance, News, NoticePlan, Scene, Trouble, WorkloadPlan

SLOWLY = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=4, stop=20, spare=0),),
    notices=(NoticePlan(), NoticePlan(node=1)),
    age=100,
)
"""The controller of pods that stop slowly rests when they are gone."""

TAKEN = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=6, max_unavailable=1, stop=8, spare=0),),
    notices=(NoticePlan(), NoticePlan(node=1)),
    disturbances=(Disturbance(trouble=Trouble.CROWD, number=1),),
    age=100,
)
"""The place of the first pod goes to a neighbour."""

ALONE = WorkloadPlan(max_unavailable=0, stop=20, spare=0)
ENDING = Scene(
    nodes=THREE,
    workloads=(ALONE, ALONE),
    notices=(NoticePlan(), NoticePlan(), NoticePlan(news=News.STATE)),
    age=100,
)
"""A node is gone while a single replica on it stops: its pod is not waited for any more."""


@tries()
@example(SLOWLY)
@example(TAKEN)
@example(ENDING)
@given(
    strategies.scenes(
        of=strategies.tight(),
        most_workloads=2,
        disturbances=st.one_of(st.just(()), strategies.crowds()),
        staleness=strategies.rarely(strategies.stalenesses()),
        crash=strategies.rarely(strategies.crashes()),
    )
)
def test_no_more_pods_are_missing_than_have_to_and_none_is_left_behind(scene: Scene) -> None:
    hold(scene, *ALL)
