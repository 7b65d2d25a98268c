"""``evenkeel simulate`` over small clusters: the same seed, and remedies that are enough."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from math import ceil
from typing import Any, Final, NamedTuple

from hypothesis import assume, given
from hypothesis import strategies as st

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.meta import Reference
from evenkeel_cli.simulate import trial
from evenkeel_cli.simulate.listing import keeps
from evenkeel_cli.simulate.remedies import remedies
from evenkeel_cli.simulate.trial import Ground, Objects, Policy, Setting, Trial
from evenkeel_sandbox import synthetic
from evenkeel_sandbox.storms.shapes import Nodes, OnePool, Share
from tests.property.judging import tries

SHOWN: Final = range(3)
NEW: Final = range(1000, 1003)
"""Seeds: those of the storms that are shown, and others."""

STRATEGIES: Final = ("RollingUpdate", "Recreate")


class Case(NamedTuple):
    """A cluster, its storms, and the share that each workload is to keep."""

    objects: Objects
    setting: Setting
    bound: float

    def storms(self, objects: Objects, seeds: Sequence[int]) -> Sequence[Trial]:
        """What these seeds' storms come to over a cluster."""
        ground = Ground.of(objects)
        return [trial.run(ground, self.setting, seed) for seed in seeds]

    def low(self, trials: Sequence[Trial]) -> Mapping[Reference, int]:
        """The workloads that did not keep their share, and how many pods that is."""
        dips = [dip for each in trials for dip in each.dips if not keeps(dip, self.bound)]
        return {dip.workload: max(1, ceil(round(self.bound * dip.before, 6))) for dip in dips}


def _spreads() -> st.SearchStrategy[timedelta]:
    return st.integers(0, 120).map(lambda seconds: timedelta(seconds=seconds))


def _shapes() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(OnePool, _spreads()),
        st.builds(Nodes, st.integers(1, 4), _spreads()),
        st.builds(Share, st.sampled_from([0.3, 1.0]), _spreads()),
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A made-up cluster of up to ten nodes, whose Deployments have either strategy."""
    objects = synthetic.objects(draw(st.integers(4, 10)), draw(st.integers(4, 25)))
    made = [
        {**each, "spec": {**each["spec"], "strategy": {"type": draw(st.sampled_from(STRATEGIES))}}}
        if each["kind"] == "Deployment"
        else each
        for each in objects
    ]
    setting = Setting(
        shape=draw(_shapes()),
        policy=Policy.EVENKEEL,
        pod_start=(20.0, 20.0),
        node_start=timedelta(seconds=draw(st.sampled_from([30, 90, 600]))),
        labels=WELL_KNOWN,
    )
    return Case(made, setting, draw(st.sampled_from([0.0, 0.5])))


@tries(0.2)
@given(cases())
def test_the_same_seed_gives_the_same_storm(case: Case) -> None:
    assert case.storms(case.objects, SHOWN[:1]) == case.storms(case.objects, SHOWN[:1])


@tries(0.2)
@given(cases())
def test_a_remedy_that_is_enough_is_enough_in_new_storms(case: Case) -> None:
    hurt = case.low(case.storms(case.objects, SHOWN))
    assume(hurt)
    tried = remedies(
        case.objects, hurt, WELL_KNOWN, spares=trial.spares(case.objects, case.setting)
    )
    for each in tried:
        if not case.low(case.storms(each.objects, SHOWN)):
            left = case.low(case.storms(each.objects, NEW))
            assert not left, f"{each.what}: {each.how}; but {left}"
