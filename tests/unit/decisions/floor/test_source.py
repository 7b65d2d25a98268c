"""Where a workload's floor comes from, and what becomes of one that cannot be read."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.floor.source import FloorOf, Source, floor_of, floor_of_any, noted
from evenkeel.model import names
from evenkeel.model.affinity import TemplateMetadata
from evenkeel.model.floor import ALL, MAJORITY_OF_ALL, NONE, Floor, Unit
from evenkeel.model.workload import Workload
from tests.kit import builders

TWO = Floor(Unit.REPLICAS, 2)
REQUIRED = {names.DEFAULT_FLOORS: "required"}


def says(text: str) -> dict[str, str]:
    return {names.ON_DEMAND: text}


def templated(workload: Any, text: str) -> Any:
    """The workload with a floor on its pod template."""
    spec = workload.spec
    metadata = TemplateMetadata(annotations=says(text))
    template = msgspec.structs.replace(spec.template, metadata=metadata)
    spec = msgspec.structs.replace(spec, template=template)
    return msgspec.structs.replace(workload, spec=spec)


WORKLOADS = [builders.deployment, builders.replica_set, builders.stateful_set]


@pytest.mark.parametrize("make", WORKLOADS)
def test_the_workload_s_own_floor_comes_first_then_its_namespace_s(make: object) -> None:
    assert callable(make)
    own, silent = make(annotations=says("2")), make()
    assert floor_of(own, says("all"), in_gang=False) == FloorOf(TWO, Source.WORKLOAD)
    assert floor_of(silent, says("all"), in_gang=False) == FloorOf(ALL, Source.NAMESPACE)


@pytest.mark.parametrize("make", WORKLOADS)
def test_the_pod_template_s_floor_counts_between_the_workload_s_and_the_namespace_s(
    make: Any,
) -> None:
    own, silent = templated(make(annotations=says("2")), "1"), templated(make(), "2")
    assert floor_of(own, says("all"), in_gang=False) == FloorOf(TWO, Source.WORKLOAD)
    assert floor_of(silent, says("all"), in_gang=False) == FloorOf(TWO, Source.TEMPLATE)
    spoilt = floor_of(templated(make(), "half"), says("all"), in_gang=False)
    assert "='half' on the pod template of " in spoilt.problem
    assert spoilt.problem.endswith(": all counts, of its namespace")
    assert (spoilt.floor, spoilt.source) == (ALL, Source.NAMESPACE)
    assert spoilt.is_asked
    assert not spoilt.is_unknown


@pytest.mark.parametrize(
    ("workload", "floor"),
    [
        (builders.deployment(), NONE),
        (builders.replica_set(), NONE),
        (builders.stateful_set(), MAJORITY_OF_ALL),
    ],
)
def test_without_a_word_the_kind_decides(workload: Workload, floor: Floor) -> None:
    assert floor_of(workload, {}, in_gang=False) == FloorOf(floor, Source.DEFAULT)


def test_a_default_is_no_floor_that_somebody_asked_for() -> None:
    """Not even where somebody wrote what cannot be read: that is said instead."""
    db, spoilt = builders.stateful_set(), builders.stateful_set(annotations=says("half"))
    assert not floor_of(db, {}, in_gang=False).is_asked
    assert not floor_of(spoilt, {}, in_gang=False).is_asked
    assert floor_of(db, says("none"), in_gang=False).is_asked


@pytest.mark.parametrize("text", ["half", "two", "+2", "30 %", "2.0", "", "-1", "101%"])
def test_where_nothing_can_be_read_the_floor_is_unknown_and_all_prefer_on_demand(text: str) -> None:
    found = floor_of(builders.deployment(annotations=says(text)), says("x"), in_gang=False)
    assert (found.floor, found.source, found.is_unknown) == (ALL, Source.DEFAULT, True)
    assert found.problem == (
        f"evenkeel.dev/on-demand={text!r} on deployment default/web is not none, all, majority, "
        "a number such as 2, or a percentage such as 30%: new pods prefer on-demand until it is,"
        " and none moves"
    )
    found = floor_of(builders.stateful_set(), says("x" * 9_000), in_gang=False)
    assert (found.floor, found.is_unknown) == (ALL, True)
    assert "on namespace default is not" in found.problem
    assert len(found.problem) < 250
    gang = floor_of(builders.deployment(annotations=says(text)), {}, in_gang=True)
    assert (gang.floor, gang.is_unknown) == (ALL, True)


@pytest.mark.parametrize("make", WORKLOADS)
@pytest.mark.parametrize(
    ("text", "floor"),
    [
        ("none", NONE),
        ("0", NONE),
        ("0%", NONE),
        ("1%", ALL),
        ("1", ALL),
        ("2", ALL),
        ("majority", ALL),
    ],
)
def test_a_gang_has_all_or_none(make: Any, text: str, floor: Floor) -> None:
    found = floor_of(make(annotations=says(text)), {}, in_gang=True)
    assert found == FloorOf(floor, Source.WORKLOAD)


@pytest.mark.parametrize("make", WORKLOADS)
def test_a_gang_of_whose_floor_nobody_says_anything_goes_to_spot(make: Any) -> None:
    assert floor_of(make(), {}, in_gang=True) == FloorOf(NONE, Source.DEFAULT)


def test_a_job_that_says_so_is_a_gang() -> None:
    job = builders.job(annotations=says("30%") | {names.GANG: "true"})
    assert floor_of(job, {}, in_gang=False).floor == ALL
    assert floor_of(builders.job(annotations=says("30%")), {}, in_gang=False).floor != ALL


@pytest.mark.parametrize(
    ("own", "in_gang", "floor"),
    [
        (says("30%"), False, FloorOf(Floor(Unit.PERCENT, 30), Source.TEMPLATE)),
        (says("30%"), True, FloorOf(ALL, Source.TEMPLATE)),
        ({}, False, FloorOf(TWO, Source.NAMESPACE)),
        (None, False, FloorOf(TWO, Source.NAMESPACE)),
    ],
)
def test_a_pod_of_no_known_workload_has_its_own_floor_or_its_namespace_s(
    own: dict[str, str] | None, floor: FloorOf, *, in_gang: bool
) -> None:
    assert floor_of_any(own, "ml", says("2"), in_gang=in_gang) == floor


@pytest.mark.parametrize(
    ("annotations", "is_asked"),
    [({}, False), ({names.DEFAULT_FLOORS: "preferred"}, False), (REQUIRED, True)],
)
def test_a_namespace_may_require_the_defaults_of_its_stateful_sets(
    annotations: dict[str, str], *, is_asked: bool
) -> None:
    db = floor_of(builders.stateful_set(), annotations, in_gang=False)
    assert (db.floor, db.is_asked) == (MAJORITY_OF_ALL, is_asked)
    assert db.source is (Source.NAMESPACE if is_asked else Source.DEFAULT)
    assert floor_of(builders.deployment(), annotations, in_gang=False).source is Source.DEFAULT
    assert floor_of(builders.stateful_set(), annotations, in_gang=True).floor == NONE
    written = floor_of(builders.stateful_set(annotations=says("1")), annotations, in_gang=False)
    assert written.source is Source.WORKLOAD
    assert floor_of(
        builders.stateful_set(annotations=says("x")), annotations, in_gang=False
    ).problem


def test_a_setting_requires_defaults_where_a_namespace_says_nothing() -> None:
    assert noted({}, defaults_required=True) == REQUIRED
    assert noted({}, defaults_required=False) == {}
    own = {names.DEFAULT_FLOORS: "preferred"}
    assert noted(own, defaults_required=True) == own
