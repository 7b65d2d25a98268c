"""When a workload's template is written, and when it is left."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.floor.standing import Movable
from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.restore.step import RestoreStep
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.controllers.stateful_set import OrdinalUpdate, StatefulSetStrategy
from evenkeel.model.decision import Verb
from evenkeel.model.node import Taint
from evenkeel.model.request import Create, Delete
from evenkeel.model.template import Rather, Written, new_trace
from tests.kit import builders
from tests.kit.builders import LONG_AGO, NOW
from tests.unit.decisions.restore.candidates import (
    candidate,
    deployment,
    fleet,
    node,
    outcome,
    planned,
    pods_of,
    reason,
    replica_set,
    snapshot,
    stateful_set,
    step,
    with_rules,
)
from tests.unit.decisions.template.patching import patched

BY_TEMPLATE = {names.PLACEMENT: names.BY_TEMPLATE}
NO_SPOT = fleet(node("o1"), node("o2"))
OLD, NEW = "db-1", "db-2"


def web(replicas: int = 4, floor: str = "1", **options: Any) -> Movable:
    return deployment(replicas, floor, notes=BY_TEMPLATE | options.pop("notes", {}), **options)


def db(replicas: int = 3, floor: str = "", **options: Any) -> Movable:
    return stateful_set(replicas, floor, notes=BY_TEMPLATE, **options)


def trace(of: Movable) -> Lease:
    return new_trace(of.reference)


def written(of: Movable, nodes: Fleet | None = None) -> Movable:
    """The workload after restore wrote its template, a good while ago."""
    made = step(candidate(of, "o1", nodes=nodes), nodes=nodes).decision.write
    there = patched(of, made)
    note = Written.of(there)
    assert note is not None
    return noted(there, msgspec.structs.replace(note, at=LONG_AGO))


def noted(of: Movable, note: Written) -> Movable:
    annotations = of.metadata.annotations | {names.TEMPLATE: note.encode()}
    return with_meta(of, annotations=annotations)


def with_meta(of: Movable, **changes: Any) -> Movable:
    return msgspec.structs.replace(of, metadata=msgspec.structs.replace(of.metadata, **changes))


def with_spec(of: Movable, **changes: Any) -> Movable:
    spec: Any = msgspec.structs.replace(of.spec, **changes)
    return msgspec.structs.replace(of, spec=spec)


def with_floor(of: Movable, floor: str) -> Movable:
    return with_meta(of, annotations=of.metadata.annotations | {names.ON_DEMAND: floor})


def held(of: Movable, *places: str, **options: Any) -> Candidate:
    """The workload as it stands when all has been written."""
    return candidate(of, *places, trace=trace(of), **options)


def note_of(made: RestoreStep, of: Movable) -> Written:
    found = Written.of(patched(of, made.decision.write))
    assert found is not None
    return found


def test_a_template_is_written_once_and_then_left() -> None:
    before = web()
    made = step(candidate(before, "s1", "s1", "s2", "s2"))
    assert (made.decision.verb, made.decision.reason) == (Verb.PATCH_TEMPLATE, "TemplateWritten")
    assert made.rolls
    assert not made.moves
    (lease,) = made.after
    assert isinstance(lease, Create)
    note = note_of(made, before)
    assert (note.rather, note.skew, note.policy, note.at) == (Rather.SPOT, 2, "1", NOW)
    after = patched(before, made.decision.write)
    assert reason(held(after, "o1", "s1", "s1", "s2")) == "AsWanted"


@pytest.mark.parametrize(
    ("floor", "rather", "skew", "told"),
    [
        ("none", Rather.SPOT, 0, "0 of 5: all prefer spot"),
        ("2", Rather.SPOT, 1, "2 of 5: all prefer spot, at most 1 more there than on on-demand"),
        ("3", Rather.ON_DEMAND, 1, "3 of 5: all prefer on-demand, spread as evenly as possible"),
        ("4", Rather.ONLY_ON_DEMAND, 0, "4 of 5: all go to on-demand"),
        ("all", Rather.ONLY_ON_DEMAND, 0, "5 of 5: all go to on-demand"),
    ],
)
def test_each_floor_has_its_template(floor: str, rather: Rather, skew: int, told: str) -> None:
    before = web(5, floor)
    made = step(candidate(before, "s1"))
    note = note_of(made, before)
    assert (note.rather, note.skew, note.spread is not None) == (rather, skew, bool(skew))
    assert str(before.metadata.annotations[names.ON_DEMAND]) in (note.policy, "4")
    assert made.decision.message == f"its floor is {told}"


@pytest.mark.parametrize("replicas", [1, 3, 4])
def test_a_default_floor_is_preferred_by_the_template_and_never_required(replicas: int) -> None:
    before = db(replicas)
    made = step(candidate(before, *["s1"] * replicas))
    note = note_of(made, before)
    assert (note.rather, note.skew, note.required, note.policy) == (
        Rather.ON_DEMAND,
        0,
        (),
        "default",
    )
    assert "all prefer on-demand" in made.decision.message
    after = patched(before, made.decision.write)
    assert reason(held(after, *["s1"] * replicas)) == "DefaultFloor"
    assert reason(held(after, *["o1"] * replicas)) == "AsWanted"


def test_a_template_that_requires_what_nobody_asked_for_any_more_is_written_anew() -> None:
    before = db(1, "all")
    required = patched(before, step(candidate(before, "s1")).decision.write)
    notes = dict(required.metadata.annotations)
    del notes[names.ON_DEMAND]
    silent = with_meta(required, annotations=notes)
    made = step(held(silent, "s1"))
    assert made.decision.reason == "TemplateFollowsFloor"
    assert note_of(made, silent).required == ()


def test_no_pod_is_moved_while_the_template_is_good() -> None:
    of = written(web(4, "1"))
    assert reason(held(of, "o1", "o1", "o2", "o2")) == "AsWanted"
    short = outcome(held(of, "s1", "s1", "s2", "s2"))
    assert not isinstance(short, RestoreStep)
    assert (short.reason, short.warning) == ("TemplateFellShort", True)
    waiting = outcome(held(of, "o1", "s1", "s2", ""))
    assert not isinstance(waiting, RestoreStep)
    assert (waiting.reason, waiting.message) == ("PodsWait", "1 of its pods waits for a node")


def test_a_size_that_the_template_does_not_serve_is_followed() -> None:
    of = written(web(10, "30%"))
    smaller = with_spec(of, replicas=9)
    assert reason(held(smaller, *["o1"] * 3)) == "AsWanted"
    small = with_spec(of, replicas=4)
    made = step(held(small, "o1"))
    assert made.decision.reason == "TemplateFollowsSize"
    assert note_of(made, small).skew == 1
    assert made.after == []


def test_a_floor_that_is_changed_is_followed_where_it_needs_another_template() -> None:
    of = written(web(4, "1"))
    assert step(held(with_floor(of, "none"), "o1")).decision.reason == "TemplateFollowsFloor"
    assert reason(held(with_floor(of, "25%"), "o1")) == "AsWanted"


def test_a_floor_of_all_is_written_at_once_and_drops_no_spread_first() -> None:
    """The template that is written next sends no pod to spot: the one that is there does."""
    there = with_floor(written(web()), "all")
    made = step(held(there, "o1", "s1", "s1", "s2"))
    assert made.decision.reason == "TemplateFollowsFloor"
    assert made.rolls
    assert note_of(made, there).rather is Rather.ONLY_ON_DEMAND


def test_a_size_that_needs_no_spread_costs_no_rollout() -> None:
    small = with_spec(written(web(3, "majority")), replicas=1)
    assert reason(held(small, "o1")) == "AsWanted"
    dropped = step(held(small, "o1", nodes=NO_SPOT), nodes=NO_SPOT)
    assert dropped.decision.reason == "SpreadDropped"
    without = with_spec(written(web(3, "majority"), NO_SPOT), replicas=1)
    assert reason(held(without, "o1", nodes=NO_SPOT), nodes=NO_SPOT) == "NoSpot"
    assert reason(held(without, "o1")) == "AsWanted"


def test_the_spread_is_dropped_at_once_while_no_spot_node_takes_pods() -> None:
    of = with_floor(written(web()), "2")
    for nodes in (
        NO_SPOT,
        fleet(node("o1"), node("s1", unschedulable=True)),
        fleet(node("o1"), node("s1", ready=False)),
        fleet(node("o1"), node("s1"), doomed=["s1"]),
    ):
        busy = held(of, "o1", "o1", "", nodes=nodes, replica_sets=[])
        made = step(busy, nodes=nodes)
        assert made.decision.reason == "SpreadDropped"
        assert not made.rolls
        note = note_of(made, of)
        assert (note.skew, note.spread, note.policy) == (2, None, "1")


def test_a_template_without_its_spread_waits_for_spot_and_is_left_in_peace() -> None:
    of = written(web(), NO_SPOT)
    assert reason(held(of, "o1", nodes=NO_SPOT), nodes=NO_SPOT) == "NoSpot"
    small = with_spec(of, replicas=2)
    assert reason(held(small, "o1", nodes=NO_SPOT), nodes=NO_SPOT) == "NoSpot"
    most = with_spec(of, replicas=1)
    made = step(held(most, "o1", nodes=NO_SPOT), nodes=NO_SPOT)
    assert made.decision.reason == "TemplateFollowsSize"


def test_a_spread_is_put_back_some_time_after_spot_is_back() -> None:
    of = written(web(), NO_SPOT)
    note = Written.of(of)
    assert note is not None
    soon = noted(of, msgspec.structs.replace(note, at=NOW - timedelta(minutes=9)))
    early = outcome(held(soon, "o1"))
    assert not isinstance(early, RestoreStep)
    assert (early.reason, early.until) == ("TemplateRests", NOW + timedelta(minutes=1))
    later = noted(of, msgspec.structs.replace(note, at=NOW - timedelta(minutes=10)))
    made = step(held(later, "o1"))
    assert made.decision.reason == "SpreadPutBack"
    assert note_of(made, later).spread is not None


def test_the_spread_is_over_a_label_that_all_nodes_have_which_pods_may_go_to() -> None:
    first, last = names.CAPACITY_LABELS[0], names.CAPACITY_LABELS[2]
    both = {first: "spot"}
    tainted = Taint(key="own", effect="NoSchedule")

    def key(nodes: Fleet) -> str:
        spread = note_of(step(candidate(web(), "s1", nodes=nodes), nodes=nodes), web()).spread
        assert spread is not None
        return spread.topology_key

    assert key(fleet()) == last
    everywhere = fleet(node("o1", labels={first: "on-demand"}), node("s1", labels=both))
    assert key(everywhere) == first
    assert key(fleet(node("o1"), node("s1", labels=both))) == last
    none = msgspec.structs.replace(
        node("o2", taints=[tainted]), metadata=builders.metadata("o2", labels={})
    )
    assert key(fleet(node("o1"), node("s1"), none)) == last


def test_without_a_label_in_common_nothing_is_written_and_a_warning_says_so() -> None:
    bare = msgspec.structs.replace(node("o1"), metadata=builders.metadata("o1", labels={}))
    nodes = fleet(bare, node("s1"))
    left = outcome(candidate(web(), "s1", nodes=nodes), nodes=nodes)
    assert not isinstance(left, RestoreStep)
    assert (left.reason, left.warning) == ("NoCommonLabel", True)
    assert step(candidate(web(4, "all"), "s1", nodes=nodes), nodes=nodes).rolls
    assert reason(held(written(web()), "o1", nodes=nodes), nodes=nodes) == "AsWanted"


def test_another_label_is_taken_where_the_one_that_is_written_is_not_on_all_nodes() -> None:
    first = names.CAPACITY_LABELS[0]
    of = written(web())
    new = msgspec.structs.replace(
        node("o1"), metadata=builders.metadata("o1", labels={first: "on-demand"})
    )
    nodes = fleet(new, node("s1", labels={first: "spot"}))
    made = step(held(of, "o1", nodes=nodes), nodes=nodes)
    assert made.decision.reason == "TemplateFollowsLabel"


@pytest.mark.parametrize("floor", ["1", "all"])
def test_other_capacity_labels_are_followed(floor: str) -> None:
    life = "example.com/life"
    of = written(web(4, floor))
    nodes = [node("o1", labels={life: "normal"}), node("s1", labels={life: "spot"})]
    before, after = (
        msgspec.structs.replace(fleet(*nodes), labels=labels)
        for labels in (WELL_KNOWN, CapacityLabels((life,)))
    )
    assert reason(held(of, "o1", nodes=before), nodes=before) in ("AsWanted", "TemplateFellShort")
    made = step(held(of, "o1", nodes=after), nodes=after)
    assert made.decision.reason == "TemplateFollowsLabels"
    assert {key for key, _ in note_of(made, of).asked} == {life}

    own = CapacityLabels((*WELL_KNOWN.keys, life))
    more = msgspec.structs.replace(fleet(*nodes), labels=own)
    made = step(held(of, "o1", nodes=more), nodes=more)
    assert {key for key, _ in note_of(made, of).asked} == set(own.keys)
    lent = msgspec.structs.replace(
        fleet(*nodes), labels=CapacityLabels((life,), names_interruptible=True)
    )
    as_lent = held(written(web(4, floor), lent), "o1", nodes=lent)
    assert reason(as_lent, nodes=lent) in ("AsWanted", "TemplateFellShort")


def test_another_value_that_means_spot_is_followed() -> None:
    life = "example.com/life"
    nodes = [node("o1", labels={life: "normal"}), node("s1", labels={life: "Ec2Spot"})]
    before, after = (
        msgspec.structs.replace(fleet(*nodes), labels=CapacityLabels((life,), values=values))
        for values in ({life: ("Spot",)}, {life: ("Ec2Spot",)})
    )
    of = written(web(4, "1"), nodes=before)
    made = step(held(of, "o1", nodes=after), nodes=after)
    assert made.decision.reason == "TemplateFollowsLabels"
    assert (life, ("Ec2Spot",)) in note_of(made, of).asked


def test_an_undone_template_is_told_and_never_written_again() -> None:
    of = written(web())
    partly = with_spec(of, template=web().spec.template)
    wholly = web()
    for undone in (partly, wholly):
        left = outcome(held(undone, "s1"))
        assert not isinstance(left, RestoreStep)
        assert (left.reason, left.warning) == ("TemplateUndone", True)


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (with_spec(web(), paused=True), "RolloutPaused"),
        (with_spec(db(), update_strategy=StatefulSetStrategy(type="OnDelete")), "OnDelete"),
        (
            with_spec(
                db(),
                update_strategy=StatefulSetStrategy(rolling_update=OrdinalUpdate(partition=1)),
            ),
            "Partition",
        ),
        (
            with_rules(
                deployment(4, "1", notes=BY_TEMPLATE),
                nodeSelector={names.CAPACITY_LABELS[0]: "spot"},
            ),
            "OwnRules",
        ),
        (
            with_rules(
                deployment(4, "1", notes=BY_TEMPLATE),
                topologySpreadConstraints=[
                    {
                        "maxSkew": 1,
                        "topologyKey": names.CAPACITY_LABELS[2],
                        "whenUnsatisfiable": "DoNotSchedule",
                    }
                ],
            ),
            "OwnSpread",
        ),
    ],
)
def test_what_may_not_be_written_is_left(of: Movable, why: str) -> None:
    assert reason(candidate(of, "s1")) == why


def test_a_template_is_left_whose_floor_cannot_be_read() -> None:
    made = planned(candidate(deployment(4, "two", notes=BY_TEMPLATE), "s1"))
    assert made.steps == []
    assert [each.reason for each in made.left] == ["BadFloor", "BadFloor"]


def test_a_partition_of_zero_is_none() -> None:
    strategy = StatefulSetStrategy(rolling_update=OrdinalUpdate())
    assert step(candidate(with_spec(db(), update_strategy=strategy), "s1")).rolls


def revisions(of: Movable, current: str, update: str, **status: Any) -> Movable:
    made: Any = msgspec.structs.replace(
        of.status, current_revision=current, update_revision=update, **status
    )
    return msgspec.structs.replace(of, status=made)


def ordinals(of: Movable, *places: str, revision: str) -> Sequence[Any]:
    return pods_of(of, *places, labels={names.REVISION_HASH: revision})


def test_what_is_in_a_rollout_waits() -> None:
    of = web()
    two = [replica_set(deployment(4)), replica_set(deployment(4), name="web-2")]
    assert reason(candidate(of, "s1", replica_sets=two)) == "RollingOut"
    assert reason(candidate(revisions(db(), OLD, NEW), "s1")) == "RollingOut"
    unseen = with_meta(revisions(db(), OLD, OLD), generation=3)
    assert reason(candidate(unseen, "s1")) == "RollingOut"
    released = builders.pod("gone", of=replica_set(deployment(4)), released=builders.release())
    assert reason(candidate(of, pods=[released])) == "Moving"


def test_an_ordinal_that_waits_by_an_older_template_is_deleted() -> None:
    of = revisions(db(), OLD, NEW)
    pods = [*ordinals(of, "o1", revision=OLD), *ordinals(of, "", revision=OLD)]
    made = step(candidate(of, pods=pods))
    assert (made.decision.verb, made.decision.reason) == (Verb.DELETE, "MadeByOldTemplate")
    assert not made.rolls
    fresh = ordinals(of, "o1", "", revision=NEW)
    assert reason(candidate(of, pods=fresh)) == "RollingOut"
    unseen = with_meta(of, generation=3)
    assert reason(candidate(unseen, pods=pods)) == "RollingOut"


def test_what_was_added_is_taken_off_when_the_annotation_goes() -> None:
    notes: Mapping[str, str] = {names.ON_DEMAND: "1"}
    of = written(web())
    note = of.metadata.annotations[names.TEMPLATE]
    off = with_meta(of, annotations={**notes, names.TEMPLATE: note})
    made = step(held(off, "o1"))
    assert (made.decision.reason, made.rolls) == ("TemplateTakenOff", True)
    (forget,) = made.after
    assert isinstance(forget, Delete)
    bare = patched(off, made.decision.write)
    assert names.TEMPLATE not in bare.metadata.annotations
    assert bare.spec.template.spec.tolerations is None

    made = step(candidate(off, "o1"))
    assert made.after == []
    made = step(held(with_meta(of, annotations=dict(notes)), "o1"))
    assert made.decision.reason == "TemplateForgotten"
    assert isinstance(made.decision.write, Delete)
    assert reason(held(off, "o1", replica_sets=[])) == "InRollout"


def test_a_note_that_is_spoilt_counts_as_undone_and_can_be_taken_off() -> None:
    of = with_meta(web(), annotations={**web().metadata.annotations, names.TEMPLATE: "{"})
    assert reason(held(of, "s1")) == "TemplateUndone"
    off = with_meta(of, annotations={names.TEMPLATE: "{"})
    assert (
        names.TEMPLATE
        not in patched(off, step(candidate(off, "s1")).decision.write).metadata.annotations
    )


def test_rollouts_are_within_a_runs_budget() -> None:
    candidates = [candidate(web(name=name), "s1") for name in ("a", "b", "c")]
    made = plan(snapshot(*candidates, moves=2))
    assert len(made.steps) == 2
    assert [each.reason for each in made.left] == ["BudgetOfRun"]


def test_additions_of_another_revision_than_noted_count_as_undone() -> None:
    """``kubectl rollout undo`` of a StatefulSet takes its template back, not its annotations."""
    before = written(db(5, "majority"))
    now = written(with_floor(db(5), "1"))
    note = Written.of(now)
    assert note is not None
    back = noted(before, note)
    undone = outcome(held(with_floor(back, "1"), "o1", "o1", "o1", "s1", "s1"))
    assert not isinstance(undone, RestoreStep)
    assert (undone.reason, undone.warning) == ("TemplateUndone", True)
