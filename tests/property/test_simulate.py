"""``evenkeel simulate`` over small clusters: the same seed, and remedies that are enough."""

from collections.abc import Sequence
from datetime import timedelta
from math import ceil
from typing import Any, Final, NamedTuple

from hypothesis import assume, given
from hypothesis import strategies as st

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.simulate import running, trial, trying
from evenkeel_cli.simulate.listing import below
from evenkeel_cli.simulate.remedies import Hurt, remedies
from evenkeel_cli.simulate.results import Trial
from evenkeel_cli.simulate.trial import Ground, Objects, Policy, Setting
from evenkeel_sandbox import synthetic
from evenkeel_sandbox.storms.shapes import Nodes, OnePool, Share
from tests.property.judging import tries

SHOWN: Final = range(4)
NEW: Final = range(1000, 1004)
"""Seeds: those of the storms that are shown, and others."""

PRICES: Final = read_prices(None)

STRATEGIES: Final = ("RollingUpdate", "Recreate")


class Case(NamedTuple):
    """A cluster, its storms, and the share that each workload is to keep."""

    objects: Objects
    setting: Setting
    bound: float

    def hurt(self) -> Hurt:
        """How many pods each workload is to keep that did not."""
        (trials,) = serially([(self.objects, self.setting)], SHOWN)
        low = below(trials, self.bound)
        dips = [dip for each in trials for dip in each.dips if dip.workload in low]
        return {dip.workload: max(1, ceil(round(self.bound * dip.before, 6))) for dip in dips}


def serially(cases: Sequence[running.Case], seeds: Sequence[int]) -> Sequence[Sequence[Trial]]:
    """The storms in this process, one after the other."""
    return [
        [trial.run(Ground.of(objects), setting, seed) for seed in seeds]
        for objects, setting in cases
    ]


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
    """A made-up cluster of up to eight nodes, whose Deployments have either strategy."""
    objects = synthetic.objects(draw(st.integers(4, 8)), draw(st.integers(4, 16)))
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
    storms = [(case.objects, case.setting)] * 2
    first, second = serially(storms, SHOWN[:1])
    assert first == second


@tries(0.1)
@given(cases())
def test_a_remedy_that_is_enough_is_enough_in_new_storms(case: Case) -> None:
    hurt = case.hurt()
    assume(hurt)
    found = trying.tried(case.objects, hurt, case.setting, case.bound, PRICES, SHOWN, serially)
    tried = remedies(case.objects, hurt, WELL_KNOWN)
    for each, remedy in zip(found, tried, strict=True):
        if each.enough:
            (trials,) = serially([(remedy.objects, case.setting)], NEW)
            assert not below(trials, case.bound), f"{each.what}: {each.how}"
