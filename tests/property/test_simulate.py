"""``evenkeel simulate`` over small clusters: the same seed gives the same storm."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel_cli.simulate import running, trial
from evenkeel_cli.simulate.results import Trial
from evenkeel_cli.simulate.trial import Ground, Objects, Policy, Setting
from evenkeel_sandbox import synthetic
from evenkeel_sandbox.storms.shapes import Nodes, OnePool, Share
from tests.property.judging import tries

SEEDS: Final = range(1)

STRATEGIES: Final = ("RollingUpdate", "Recreate")


class Case(NamedTuple):
    """A cluster, and its storms."""

    objects: Objects
    setting: Setting


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
    return Case(made, setting)


@tries(0.2)
@given(cases())
def test_the_same_seed_gives_the_same_storm(case: Case) -> None:
    storms = [(case.objects, case.setting)] * 2
    first, second = serially(storms, SEEDS)
    assert first == second
