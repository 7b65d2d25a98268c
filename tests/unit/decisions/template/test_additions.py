"""What is added to a template is found again, and taken off without a trace."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.floor.standing import Movable
from evenkeel.decisions.placement.clauses import (
    not_interruptible,
    not_spot,
    rather_on_demand,
    rather_spot,
)
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.template.additions import (
    Aim,
    additions,
    is_intact,
    owners_part,
    template_patch,
)
from evenkeel.decisions.template.form import Form
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.meta import LabelSelector
from evenkeel.model.request import Operation, Patch
from evenkeel.model.template import Rather, Written
from tests.kit import builders
from tests.kit.builders import NOW
from tests.unit.decisions.template.patching import patched

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
KEY = names.CAPACITY_LABELS[2]
LENT = CapacityLabels(names_interruptible=True)
"""There are interruptible reservations."""
ZONE = {"key": "zone", "operator": "In", "values": ["a"]}
ARM = {"key": "arch", "operator": "In", "values": ["arm64"]}
LIKED = {"weight": 5, "preference": {"matchExpressions": [ARM]}}
OWN_SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
FIELD = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
OWN: dict[str, dict[str, Any]] = {
    "nothing": {},
    "empty affinity": {"affinity": {}},
    "two terms, one empty": {
        "affinity": {
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [ZONE]},
                        {"matchExpressions": [ARM]},
                        {},
                        FIELD,
                    ]
                },
                PREFERRED: [LIKED],
            }
        }
    },
    "tolerations": {"tolerations": [{"key": "own", "operator": "Exists"}]},
    "a spot toleration": {"tolerations": [{"key": KEY, "value": "spot"}]},
    "a spread": {"topologySpreadConstraints": [OWN_SPREAD]},
}
FORMS = (Form(Rather.SPOT), Form(Rather.SPOT, 3), Form(Rather.ON_DEMAND, 1))
ALL_FORMS = (*FORMS, Form(Rather.ONLY_ON_DEMAND))


def workload(own: dict[str, Any], *, stateful: bool = False) -> Movable:
    make = builders.stateful_set if stateful else builders.deployment
    made: Movable = make(annotations={names.PLACEMENT: names.BY_TEMPLATE})
    template = msgspec.structs.replace(
        made.spec.template, spec=msgspec.convert(own, NewPodSpec, strict=False)
    )
    spec: Any = msgspec.structs.replace(made.spec, template=template)
    return msgspec.structs.replace(made, spec=spec)


def paths(patch: Patch, *operations: str) -> list[str]:
    """Of some operations."""
    made = [each for each in patch.body if isinstance(each, Operation)]
    return [each.path for each in made if each.op in operations]


def written(of: Movable, form: Form, key: str = KEY) -> Written:
    own = owners_part(of.spec.template.spec, Written.of(of))
    return additions(of, Aim(own, form, WELL_KNOWN, key), "2", NOW)


@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
@pytest.mark.parametrize("form", ALL_FORMS)
def test_what_is_added_is_found_and_taken_off(own: dict[str, Any], form: Form) -> None:
    before = workload(own)
    added = written(before, form)
    assert is_intact(before.spec.template.spec, added) is False
    after = patched(before, template_patch(before, None, added))
    assert Written.of(after) == added
    assert is_intact(after.spec.template.spec, added)
    back = patched(after, template_patch(after, added, None))
    left = {"affinity": {}} if own in ({}, *map(OWN.get, ("tolerations", "a spread"))) else own
    bare = before.spec.template.spec if own != {"affinity": {}} else NewPodSpec()
    assert owners_part(after.spec.template.spec, added) == bare
    assert names.TEMPLATE not in back.metadata.annotations
    assert msgspec.to_builtins(back.spec.template.spec) in (
        msgspec.to_builtins(workload(own | left).spec.template.spec),
        msgspec.to_builtins(workload({"affinity": {}} | own).spec.template.spec),
    )


@pytest.mark.parametrize("first", ALL_FORMS)
@pytest.mark.parametrize("second", ALL_FORMS)
@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_one_form_replaces_another(own: dict[str, Any], first: Form, second: Form) -> None:
    bare = workload(own)
    once = patched(bare, template_patch(bare, None, written(bare, first)))
    anew = written(once, second)
    twice = patched(once, template_patch(once, Written.of(once), anew))
    direct = patched(bare, template_patch(bare, None, written(bare, second)))
    assert is_intact(twice.spec.template.spec, anew)
    assert twice.spec.template == direct.spec.template


@pytest.mark.parametrize(
    ("form", "required", "preferred"),
    [
        (Form(Rather.SPOT), (), rather_spot(WELL_KNOWN)),
        (Form(Rather.SPOT, 3), not_interruptible(LENT), rather_spot(WELL_KNOWN)),
        (Form(Rather.ON_DEMAND, 1), not_interruptible(LENT), rather_on_demand(WELL_KNOWN)),
        (Form(Rather.ONLY_ON_DEMAND), not_spot(LENT), ()),
    ],
)
def test_each_form_has_its_clauses(
    form: Form, required: Sequence[object], preferred: Sequence[object]
) -> None:
    added = additions(workload({}), Aim(NewPodSpec(), form, LENT, KEY), "2", NOW)
    assert (added.required, added.preferred) == (tuple(required), tuple(preferred))
    assert (added.spread is not None) is bool(form.skew)


@pytest.mark.parametrize(
    ("form", "number"), [(Form(Rather.SPOT), 0), (Form(Rather.ON_DEMAND, 1), 1)]
)
def test_spot_is_not_preferred_where_its_owner_prefers_on_demand(form: Form, number: int) -> None:
    clause = {"key": KEY, "operator": "In", "values": ["on-demand"]}
    term = {"weight": 1, "preference": {"matchExpressions": [clause]}}
    own = {"affinity": {"nodeAffinity": {PREFERRED: [term]}}}
    assert len(written(workload(own), form).preferred) == number


def test_dropping_the_spread_changes_nothing_else_and_only_what_was_read() -> None:
    bare = workload({})
    form = Form(Rather.SPOT, 3)
    first = template_patch(bare, None, written(bare, form))
    once = patched(bare, first)
    patch = template_patch(once, Written.of(once), written(once, form, key=""))
    note = "/metadata/annotations/evenkeel.dev~1template"
    read = ["/metadata/uid", "/metadata/generation"]
    assert paths(patch, "remove", "add") == [note, "/spec/template/spec/topologySpreadConstraints"]
    assert (paths(first, "test"), paths(patch, "test")) == (read, [*read, note])


@pytest.mark.parametrize("stateful", [False, True])
def test_the_spread_counts_the_pods_of_one_revision(*, stateful: bool) -> None:
    of = workload({}, stateful=stateful)
    spread = written(of, Form(Rather.SPOT, 3)).spread
    assert msgspec.json.decode(msgspec.json.encode(spread)) == {
        "maxSkew": 3,
        "topologyKey": KEY,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": of.name}},
        "minDomains": 2,
        "nodeTaintsPolicy": "Honor",
        "matchLabelKeys": ["controller-revision-hash" if stateful else "pod-template-hash"],
    }


def test_a_selector_that_names_the_hash_needs_it_not_twice() -> None:
    of = workload({})
    selector = LabelSelector(match_labels={"app": "web", names.TEMPLATE_HASH: "1"})
    spec: Any = msgspec.structs.replace(of.spec, selector=selector)
    spread = written(msgspec.structs.replace(of, spec=spec), Form(Rather.SPOT, 3)).spread
    assert spread is not None
    assert spread.match_label_keys is None


def test_all_on_demand_leaves_a_term_that_matches_nothing_as_it_is() -> None:
    of = workload(OWN["two terms, one empty"])
    after = patched(of, template_patch(of, None, written(of, Form(Rather.ONLY_ON_DEMAND))))
    spec = after.spec.template.spec
    required = spec.node_affinity.required
    assert required is not None
    clauses = [len(term.match_expressions or ()) for term in required.node_selector_terms or ()]
    assert clauses == [4, 4, 0, 3]
    assert allowed_by(spec, WELL_KNOWN) == {Capacity.ON_DEMAND}


@pytest.mark.parametrize("field", ["affinity", "tolerations", "topology_spread_constraints"])
@pytest.mark.parametrize("form", ALL_FORMS)
def test_a_removed_addition_is_noticed_and_the_rest_is_taken_off(form: Form, field: str) -> None:
    bare = workload({})
    added = written(bare, form)
    after = patched(bare, template_patch(bare, None, added))
    spec = msgspec.structs.replace(after.spec.template.spec, **{field: None})
    assert is_intact(spec, added) is (spec == after.spec.template.spec)
    template = msgspec.structs.replace(after.spec.template, spec=spec)
    undone: Any = msgspec.structs.replace(after.spec, template=template)
    undone = msgspec.structs.replace(after, spec=undone)
    back = patched(undone, template_patch(undone, added, None))
    assert msgspec.to_builtins(back.spec.template.spec) in ({}, {"affinity": {}})


def test_a_note_that_is_spoilt_is_none() -> None:
    for text in ("{", "{}", '{"v":1,"at":"2026-11-21T12:00:00","policy":"1","rather":"spot"}'):
        assert Written.of(builders.deployment(annotations={names.TEMPLATE: text})) is None
