"""What the admission policy cannot tell of a workload."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.floor.source import floor_of
from evenkeel.decisions.placement.policy import untold
from evenkeel.model import names
from evenkeel.model.affinity import TemplateMetadata, TopologySpread
from evenkeel.model.controllers.stateful_set import Ordinals
from evenkeel.model.workload import Workload
from tests.kit import builders

type Notes = dict[str, str]
NO_NOTES: Notes = {}


def says(floor: str) -> Notes:
    return {names.ON_DEMAND: floor}


def web(own: Notes = NO_NOTES, template: Notes = NO_NOTES) -> Workload:
    made: Workload = templated(builders.deployment(annotations=own), template)
    return made


def db(own: Notes = NO_NOTES, template: Notes = NO_NOTES, start: int = 0) -> Workload:
    made = templated(builders.stateful_set(annotations=own), template)
    spec = msgspec.structs.replace(made.spec, ordinals=Ordinals(start=start))
    numbered: Workload = msgspec.structs.replace(made, spec=spec)
    return numbered


def templated(workload: Any, notes: Notes) -> Any:
    metadata = TemplateMetadata(annotations=notes)
    template = msgspec.structs.replace(workload.spec.template, metadata=metadata)
    spec = msgspec.structs.replace(workload.spec, template=template)
    return msgspec.structs.replace(workload, spec=spec)


def told(workload: Workload, of_namespace: Notes = NO_NOTES, *, in_gang: bool = False) -> list[str]:
    found = floor_of(workload, of_namespace, in_gang=in_gang)
    return [*untold(workload, found, of_namespace, in_gang=in_gang)]


@pytest.mark.parametrize(
    ("workload", "of_namespace"),
    [
        pytest.param(web(), {}, id="none by default"),
        pytest.param(web(template=says("all")), {}, id="all on the pod template"),
        pytest.param(web(), says("none"), id="none of the namespace"),
        pytest.param(db(), {}, id="a default of ordinals"),
        pytest.param(db(template=says("30%")), {}, id="some of them on the pod template"),
        pytest.param(db(says("2")), says("2"), id="its own, which its namespace says as well"),
        pytest.param(db(template=says("all"), start=3), {}, id="all ordinals, from wherever"),
        pytest.param(
            web({**says("2"), names.PLACEMENT: "template"}), {}, id="its template places its pods"
        ),
    ],
)
def test_the_policy_tells_all_of(workload: Workload, of_namespace: Notes) -> None:
    assert told(workload, of_namespace) == []


UNSEEN = "stands on the workload, which the policy does not see: write evenkeel.dev/on-demand into"
COUNTED = "has to be counted, which the policy cannot: all new pods"
WRITE = "write all or none, or evenkeel.dev/placement: template"


@pytest.mark.parametrize(
    ("workload", "of_namespace", "message"),
    [
        (web(says("all")), {}, f"its floor of all {UNSEEN} its pod template"),
        (web(says("none")), says("all"), f"its floor of none {UNSEEN} its pod template"),
        (db(says("majority")), {}, f"its floor of majority {UNSEEN} its pod template"),
        (web(), says("1"), f"a floor of 1 {COUNTED} go to on-demand; {WRITE}"),
        (
            db(start=3),
            {},
            "its ordinals start at 3, and the policy counts its floor from 0",
        ),
        (
            web(template={names.ONE_POOL_AT_MOST: "1"}),
            {},
            "evenkeel.dev/one-pool-at-most is not kept: the policy knows no pools",
        ),
    ],
)
def test_it_cannot_tell(workload: Workload, of_namespace: Notes, message: str) -> None:
    assert told(workload, of_namespace) == [message]


@pytest.mark.parametrize("template", [NO_NOTES, says("none")])
def test_a_floor_that_it_neither_sees_nor_counts_is_told_for_both(template: Notes) -> None:
    unseen, counted = told(web(says("2"), template))
    assert unseen == f"its floor of 2 {UNSEEN} its pod template"
    assert counted == f"a floor of 2 {COUNTED} prefer spot; {WRITE}"


def spread(workload: Any, key: str, when: str) -> Workload:
    constraint = TopologySpread(max_skew=1, topology_key=key, when_unsatisfiable=when)
    template = workload.spec.template
    spec = msgspec.structs.replace(template.spec, topology_spread_constraints=(constraint,))
    template = msgspec.structs.replace(template, spec=spec)
    made: Workload = msgspec.structs.replace(
        workload, spec=msgspec.structs.replace(workload.spec, template=template)
    )
    return made


def test_pods_that_are_spread_hard_over_a_capacity_label_are_left() -> None:
    key = names.KARPENTER_CAPACITY
    left = f"its template spreads its pods over {key}, so the policy leaves them as they are"
    assert told(spread(web(says("2")), key, "DoNotSchedule")) == [left]
    assert told(spread(web(template=says("all")), key, "ScheduleAnyway")) == []
    assert told(spread(web(), names.ZONE, "DoNotSchedule")) == []


def test_a_gang_needs_no_count() -> None:
    assert told(web(template=says("2")), in_gang=True) == []
