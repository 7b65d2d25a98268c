"""What a form adds to a pod template, whether it is still there, and the patches.

Nothing of the owner's is changed: what is added is noted, and only that is taken off again.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from evenkeel.decisions.floor.standing import Movable
from evenkeel.decisions.placement.clauses import (
    bears_spot,
    not_interruptible,
    not_spot,
    rather_on_demand,
    rather_spot,
)
from evenkeel.decisions.placement.rules import preferred_by
from evenkeel.decisions.template.form import Form
from evenkeel.model import names
from evenkeel.model.affinity import (
    DO_NOT_SCHEDULE,
    NewAffinity,
    NewPodSpec,
    NodeAffinity,
    NodeRequirement,
    NodeSelector,
    NodeSelectorTerm,
    TopologySpread,
)
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.deployment import Deployment
from evenkeel.model.request import Operation, Patch, pointer
from evenkeel.model.template import Rather, Written

_SPEC: Final = ("spec", "template", "spec")
_AFFINITY: Final = (*_SPEC, "affinity")
_TOLERATIONS: Final = (*_SPEC, "tolerations")
_SPREADS: Final = (*_SPEC, "topologySpreadConstraints")
_NOTE: Final = ("metadata", "annotations", names.TEMPLATE)


class Aim(msgspec.Struct, frozen=True):
    """What a template that says ``own`` of itself shall become.

    ``key`` is the label that its form spreads over, one of ``labels``, which tell the capacity
    types; empty: the spread is left out.
    """

    own: NewPodSpec
    form: Form
    labels: CapacityLabels
    key: str = ""


def additions(workload: Movable, aim: Aim, policy: str, at: datetime) -> Written:
    """What is added to a template, for a floor as ``policy`` says it."""
    own, form, labels = aim.own, aim.form, aim.labels
    required = _required(form, labels)
    if form.rather is Rather.ONLY_ON_DEMAND:
        return Written(at=at, policy=policy, rather=form.rather, required=required)
    labels = labels.among(())  # what is preferred is worth no rollout when such a node comes
    is_spot = form.rather is Rather.SPOT
    preferred = rather_spot(labels) if is_spot else rather_on_demand(labels)
    if is_spot and preferred_by(own, labels) is Capacity.ON_DEMAND:
        preferred = ()
    return Written(
        at=at,
        policy=policy,
        rather=form.rather,
        skew=form.skew,
        required=required,
        preferred=_missing(own.node_affinity.preferred, preferred),
        tolerations=_missing(own.tolerations, bears_spot(labels)),
        spread=_spread(workload, form, aim.key) if form.skew and aim.key else None,
    )


def narrowed(own: NewPodSpec, form: Form, labels: CapacityLabels) -> NewPodSpec:
    """A template that says ``own`` of itself, with what the form requires of nodes."""
    affinity = _requiring(own.node_affinity, _required(form, labels))
    return msgspec.structs.replace(own, affinity=NewAffinity(node_affinity=affinity))


def _required(form: Form, labels: CapacityLabels) -> tuple[NodeRequirement, ...]:
    """A spread knows two capacity types, by one label: interruptible nodes have another value."""
    if form.rather is Rather.ONLY_ON_DEMAND:
        return not_spot(labels)
    return not_interruptible(labels) if form.skew else ()


def _spread(workload: Movable, form: Form, key: str) -> TopologySpread:
    """The spread: over the pods of one revision, so that a rollout's old pods do not count.

    ``nodeTaintsPolicy: Honor``: a type whose taints the pods do not tolerate is none to wait for.
    https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
    """
    by = names.TEMPLATE_HASH if isinstance(workload, Deployment) else names.REVISION_HASH
    selector = workload.spec.selector
    return TopologySpread(
        max_skew=form.skew,
        topology_key=key,
        when_unsatisfiable=DO_NOT_SCHEDULE,
        label_selector=selector,
        min_domains=2,
        node_taints_policy="Honor",
        match_label_keys=None if selector.mentions(by) else (by,),
    )


def is_intact(spec: NewPodSpec, written: Written) -> bool:
    """Whether all that was added is in a template."""
    affinity = spec.node_affinity
    own = affinity.required.node_selector_terms or () if affinity.required is not None else ()
    terms = [term for term in own if not term.is_empty]
    kept = all(set(written.required) <= set(term.match_expressions or ()) for term in terms)
    return (
        kept
        and (bool(terms) or not written.required)
        and not _missing(affinity.preferred, written.preferred)
        and not _missing(spec.tolerations, written.tolerations)
        and not _missing(spec.topology_spread_constraints, _spreads(written))
    )


def owners_part(spec: NewPodSpec, written: Written | None) -> NewPodSpec:
    """A template's spec without what was added."""
    if written is None:
        return spec
    affinity = _without(spec.node_affinity, written)
    return msgspec.structs.replace(
        spec,
        affinity=NewAffinity(node_affinity=affinity) if affinity != NodeAffinity() else None,
        tolerations=_rest(spec.tolerations, written.tolerations),
        topology_spread_constraints=_rest(spec.topology_spread_constraints, _spreads(written)),
    )


def template_patch(workload: Movable, before: Written | None, after: Written | None) -> Patch:
    """Take off what was added before, and add what is to be added now, in one write.

    Only while the workload's spec is the one that was read.
    """
    metadata, spec = workload.metadata, workload.spec.template.spec
    borne = [each.tolerations if each is not None else () for each in (before, after)]
    spreads = [_spreads(before), _spreads(after)]
    note, there = pointer(*_NOTE), metadata.annotations.get(names.TEMPLATE)
    operations = [
        Operation("test", "/metadata/uid", workload.uid),
        Operation("test", "/metadata/generation", metadata.generation),
        *([Operation("test", note, there)] if there is not None else []),
        Operation("remove", note) if after is None else Operation("add", note, after.encode()),
        *_affinity_changes(spec, before, after),
        *_list_changes(_TOLERATIONS, spec.tolerations, *borne),
        *_list_changes(_SPREADS, spec.topology_spread_constraints, *spreads),
    ]
    return Patch(
        kind=type(workload), name=workload.name, namespace=workload.namespace, body=operations
    )


def _affinity_changes(
    spec: NewPodSpec, before: Written | None, after: Written | None
) -> Iterator[Operation]:
    there = spec.node_affinity
    wanted = _with(_without(there, before), after)
    if wanted == there:
        return
    path = pointer(*_AFFINITY, "nodeAffinity")
    if wanted == NodeAffinity():
        yield Operation("remove", path)
    elif spec.affinity is None:
        yield Operation("add", pointer(*_AFFINITY), {"nodeAffinity": msgspec.to_builtins(wanted)})
    else:
        yield Operation("add", path, msgspec.to_builtins(wanted))


def _with(affinity: NodeAffinity, written: Written | None) -> NodeAffinity:
    if written is None:
        return affinity
    preferred = affinity.preferred
    if written.preferred:
        preferred = (*(preferred or ()), *written.preferred)
    required = _requiring(affinity, written.required).required
    return NodeAffinity(required=required, preferred=preferred)


def _requiring(affinity: NodeAffinity, clauses: Sequence[NodeRequirement]) -> NodeAffinity:
    required = affinity.required
    if not clauses:
        return affinity
    own = (NodeSelectorTerm(),) if required is None else required.node_selector_terms or ()
    terms = tuple(
        term
        if term.is_empty and required is not None
        else msgspec.structs.replace(
            term, match_expressions=(*(term.match_expressions or ()), *clauses)
        )
        for term in own
    )
    return NodeAffinity(
        required=NodeSelector(node_selector_terms=terms), preferred=affinity.preferred
    )


def _without(affinity: NodeAffinity, written: Written | None) -> NodeAffinity:
    if written is None:
        return affinity
    required = affinity.required
    if written.required and required is not None:
        terms = []
        for term in required.node_selector_terms or ():
            left = _rest(term.match_expressions, written.required)
            cut = msgspec.structs.replace(term, match_expressions=left)
            if term.is_empty or not cut.is_empty:  # one that had no others would match no node
                terms.append(term if term.is_empty else cut)
        required = NodeSelector(node_selector_terms=tuple(terms)) if terms else None
    return NodeAffinity(required=required, preferred=_rest(affinity.preferred, written.preferred))


def _spreads(written: Written | None) -> tuple[TopologySpread, ...]:
    return () if written is None or written.spread is None else (written.spread,)


def _missing[T](there: Sequence[T] | None, wanted: Sequence[T]) -> tuple[T, ...]:
    return tuple(each for each in wanted if each not in (there or ()))


def _rest[T](there: tuple[T, ...] | None, taken: Sequence[T]) -> tuple[T, ...] | None:
    """A list without these; None if nothing is left."""
    return tuple(each for each in there or () if each not in taken) or None


def _list_changes(
    path: Sequence[str],
    there: Sequence[object] | None,
    before: Sequence[object],
    after: Sequence[object],
) -> Iterator[Operation]:
    """Replace entries of a list, at their positions; the list goes with its last entry."""
    if before == after:
        return
    gone = [index for index, each in enumerate(there or ()) if each in before]
    left = len(there or ()) - len(gone)
    if not left:
        if after:
            yield Operation("add", pointer(*path), [msgspec.to_builtins(each) for each in after])
        elif there is not None:
            yield Operation("remove", pointer(*path))
        return
    for index in reversed(gone):
        yield Operation("remove", pointer(*path, index))
    for each in after:
        yield Operation("add", pointer(*path, "-"), msgspec.to_builtins(each))
