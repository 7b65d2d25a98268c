"""Placement as a MutatingAdmissionPolicy: what the webhook decides, in the API server's own CEL.

The policy sees the new pod and its namespace, and nothing else: neither the pod's owners, nor its
siblings, nor nodes, nor Evenkeel's objects. ``decisions/placement/policy`` says what follows.
It is written anew from the labels and spellings of this package, so that both say the same.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from textwrap import dedent
from typing import Any, Final

import msgspec

from evenkeel.decisions.placement.clauses import bears_spot, not_spot, rather_spot
from evenkeel.decisions.placement.patch import DELETION_COST
from evenkeel.decisions.placement.scope import BY_AFFINITY
from evenkeel.decisions.placement.spreads import IGNORE
from evenkeel.model import names
from evenkeel.model.affinity import DO_NOT_SCHEDULE
from evenkeel.model.capacity import (
    ON_DEMAND_VALUES,
    WELL_KNOWN,
    Capacity,
    CapacityLabels,
)
from evenkeel.model.controllers.kinds import KINDS
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.floor import MAJORITY
from evenkeel.model.gang import LABELS, SET_NAME
from evenkeel.model.lifecycle import SECONDS
from evenkeel.model.meta import Resource
from evenkeel.model.notes import VERSION
from evenkeel.model.ordinal import MOST_DIGITS
from evenkeel.model.pod import DEFAULT_GRACE_SECONDS
from evenkeel_cli.manifests import Manifest

API: Final = "admissionregistration.k8s.io/v1"
FLOORS: Final = "^(none|all|majority|[0-9]{1,6}|(0?[0-9]{1,2}|100)%)$"
"""The forms of a floor, as ``evenkeel.model.floor`` reads them."""

NODE_AFFINITY: Final = "/spec/affinity/nodeAffinity"
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def policy(
    labels: CapacityLabels = WELL_KNOWN, *, all_namespaces: bool = False
) -> Sequence[Manifest]:
    """The policy and its binding, which says for which namespaces it is.

    ``labels`` tell which nodes are spot. ``all_namespaces``: labelled or not, but for the cluster's
    own.
    """
    kinds = [each.resource for each in KINDS.values()]
    spec = {
        # A pod is never refused because of Evenkeel.
        "failurePolicy": "Ignore",
        # Webhooks may change the affinity afterwards; it adds only what is missing.
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["pods"],
                    "scope": "Namespaced",
                }
            ]
        },
        "matchConditions": _named(_conditions()),
        "variables": _named({**_variables(labels, kinds), **_additions(labels)}),
        "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": each}}
            for each in (_patch(), _sleep())
        ],
    }
    return (
        {**_meta("MutatingAdmissionPolicy"), "spec": spec},
        {
            **_meta("MutatingAdmissionPolicyBinding"),
            "spec": {
                "policyName": names.PLACING,
                "matchResources": {"namespaceSelector": _namespaces(all_namespaces=all_namespaces)},
            },
        },
    )


def _meta(kind: str) -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": "evenkeel", "app.kubernetes.io/part-of": "evenkeel"}
    metadata = {"name": names.PLACING, "labels": labels}
    return {"apiVersion": API, "kind": kind, "metadata": metadata}


def _namespaces(*, all_namespaces: bool) -> dict[str, Any]:
    others = {
        "key": names.NAMESPACE_NAME,
        "operator": "NotIn",
        "values": sorted(names.CLUSTERS_OWN, reverse=True),
    }
    labelled = {} if all_namespaces else {"matchLabels": {names.MANAGED: names.TRUE}}
    return {**labelled, "matchExpressions": [others]}


def _conditions() -> Mapping[str, str]:
    """What has to hold of a pod that is changed at all: see ``left_by_itself``."""
    owner = "object.metadata.?ownerReferences.orValue([])"
    return {
        "has-no-node": "object.spec.?nodeName.orValue('') == ''",
        "is-not-static": f"!object.metadata.?annotations[?{_cel(names.MIRROR_POD)}].hasValue()",
        "is-of-no-node-or-daemon-set": (
            f"!{owner}.exists(o, o.?controller.orValue(false) && o.kind in ['Node', 'DaemonSet'])"
        ),
    }


def _variables(labels: CapacityLabels, kinds: Iterable[Resource]) -> Mapping[str, str]:
    """What the patch goes by, in this order; each is evaluated once, and only if it is needed."""
    on_demand, key = _cel(Capacity.ON_DEMAND), _cel(names.ON_DEMAND)
    sleep = _cel(names.PRE_STOP_SLEEP)
    return {
        # Who made it.
        "owner": """\
            object.metadata.?ownerReferences.orValue([]).filter(o, o.?controller.orValue(false))
                .map(o, o.apiVersion.split('/')[0] + '/' + o.kind + '/' + o.name)""",
        "kind": f"""\
            size(variables.owner) == 0 ? '' :
                {_cel([_kind(each) for each in kinds])}
                .filter(k, variables.owner[0].startsWith(k + '/')).join()""",
        # Its floor: of the pod template, else of the namespace, as far as they can be read; else
        # the default, or all where something is said that cannot be read.
        "said": f"""\
            [?object.metadata.?annotations[?{key}], ?namespaceObject.metadata.?annotations[?{key}]]
                .map(said, said.trim())""",
        "read": f"variables.said.filter(said, said.matches({_cel(FLOORS)}))",
        "isAsked": "size(variables.read) > 0",
        "isUnknown": "size(variables.said) > 0 && !variables.isAsked",
        "floor": f"""\
            variables.isAsked ? variables.read[0] : variables.isUnknown ? 'all' :
                {_cel(MAJORITY)}""",
        "inGang": f"""\
            object.spec.?schedulingGroup.?podGroupName.orValue('') != '' ||
            {_cel([*LABELS, SET_NAME])}
                .exists(l, object.metadata.?labels[?l].orValue('') != '')""",
        "isForAll": f"""\
            size(variables.said) == 0 && !variables.inGang &&
            variables.kind == {_cel(_kind(StatefulSet.resource))} &&
            namespaceObject.metadata.?annotations[?{_cel(names.DEFAULT_FLOORS)}]
                .orValue('').lowerAscii() == {_cel(names.REQUIRED)}""",
        "isNone": """\
            variables.inGang && size(variables.said) == 0 ||
                variables.floor.matches('^(none|0+%?)$')""",
        "isAll": """\
            variables.inGang ? !variables.isNone : variables.floor.matches('^(all|100%)$')""",
        # The ordinal of a StatefulSet's pod, by its label, else by its name; none if neither tells.
        "index": f"""\
            [object.metadata.?labels[?{_cel(names.POD_INDEX)}].orValue(
                object.metadata.?name.orValue('').startsWith(variables.owner[0].split('/')[2] + '-')
                ? object.metadata.name.substring(size(variables.owner[0].split('/')[2]) + 1) : '')]
                .filter(n, n.matches('^[0-9]{{1,{MOST_DIGITS}}}$')).map(n, int(n))""",
        "isInFloor": """\
            size(variables.index) == 0 ||
            (variables.isAll ? true : variables.isNone ? false :
            variables.floor == 'majority' ? variables.index[0] == 0 || variables.index[0] % 2 == 1 :
            variables.floor.endsWith('%') ?
                ((variables.index[0] + 1) * int(variables.floor.split('%')[0]) + 99) / 100 >
                (variables.index[0] * int(variables.floor.split('%')[0]) + 99) / 100 :
                variables.index[0] < int(variables.floor))""",
        # Its own rules.
        "keys": _cel(labels.keys),
        "lent": _cel(names.INTERRUPTIBLE),
        "selector": "object.spec.?nodeSelector.orValue({})",
        "isBound": f"object.spec.?affinity.?nodeAffinity.?{REQUIRED}.hasValue()",
        "terms": f"""\
            object.spec.?affinity.?nodeAffinity.?{REQUIRED}.?nodeSelectorTerms.orValue([])""",
        "preferred": f"object.spec.?affinity.?nodeAffinity.?{PREFERRED}",
        **_own_rules(labels),
        "isOfOneNode": f"""\
            variables.selector[?{_cel(names.HOSTNAME)}].orValue('') != '' ||
            [variables.terms.map(t,
                (t.?matchFields.orValue([]).filter(c, c.key == 'metadata.name') +
                 t.?matchExpressions.orValue([]).filter(c, c.key == {_cel(names.HOSTNAME)}))
                .filter(c, c.operator == 'In' && size(c.?values.orValue([])) == 1)
                .map(c, c.values[0]) + [''])
                .map(each, each[0]).distinct()]
                .exists(nodes, size(nodes) == 1 && nodes[0] != '')""",
        # Whether its template places it, or a scheduler that does not go by node affinity.
        "isElsewhere": f"""\
            object.spec.?schedulerName.orValue('') == {_cel(names.FARGATE_SCHEDULER)} ||
            object.spec.?topologySpreadConstraints.orValue([]).exists(s,
                s.whenUnsatisfiable == {_cel(DO_NOT_SCHEDULE)} &&
                s.topologyKey in variables.keys)""",
        # Where it goes: 'on-demand', 'spot', or '' if it is left as it is.
        "wanted": f"""\
            variables.kind == '' ? (
                !variables.isAsked || variables.isOfOneNode ? '' :
                variables.isNone ? 'spot' :
                variables.isAll ? {on_demand} : '') :
            (variables.kind == {_cel(_kind(StatefulSet.resource))} ?
                variables.isInFloor : size(variables.said) > 0 && !variables.isNone) ?
                {on_demand} : 'spot'""",
        "capacity": f"""\
            variables.isElsewhere || !variables.mayBeSpot || !variables.mayBeOnDemand ? '' :
            variables.isAsked || variables.isForAll || variables.inGang ||
            object.spec.?schedulerName.orValue('') in {_cel(sorted(BY_AFFINITY))} ?
                variables.wanted : ''""",
        "isRequired": f"""\
            variables.capacity == {on_demand} && (variables.isAsked || variables.isForAll)""",
        "note": f"""\
            '{{"v":{VERSION},"as":"' + variables.capacity +
            (variables.capacity == {on_demand} && !variables.isRequired ?
                '","preferred":true}}' : '"}}')""",
        "isAgain": f"""\
            object.metadata.?annotations[?{_cel(names.PLACED)}].orValue('') == variables.note""",
        # How many seconds its containers sleep before their SIGTERM.
        "sleep": f"""\
            [([?object.metadata.?annotations[?{sleep}],
                ?namespaceObject.metadata.?annotations[?{sleep}]]
                .filter(said, said.matches({_cel(SECONDS)}))
                .map(said, int(said.split('s')[0])) + [0])[0],
             object.spec.?terminationGracePeriodSeconds.orValue({DEFAULT_GRACE_SECONDS}) / 2]
                .min()""",
    }


def _own_rules(labels: CapacityLabels) -> Mapping[str, str]:
    """Which capacity types its node selector and required affinity allow: see ``allowed_by``.

    And which its preferred affinity is for: see ``preferred_by``.
    """
    is_spot, is_on_demand = _meant(labels)
    off_spot = is_spot.replace("KEY", "c.key")
    off_on_demand = f"v.lowerAscii() in {_cel(sorted(ON_DEMAND_VALUES))}"

    def term(value: str, meant: str, kept_off: str) -> str:
        """Whether a term ``t`` allows a type."""
        return f"""\
            (t.?matchExpressions.orValue([])
                    .exists(c, c.key == variables.lent && c.operator == 'In') ?
                t.matchExpressions.filter(c, c.key == variables.lent && c.operator == 'In')[0]
                    .values.exists(v, (v == 'true') == {value}) :
                t.?matchExpressions.orValue([]).filter(c, c.key in variables.keys).all(c,
                    c.operator == 'In' ? c.values.exists(v,
                        {meant.replace("KEY", "c.key")}) :
                    c.operator == 'NotIn' ? !c.values.exists(v, {kept_off}) : true))"""

    def allows(value: str, meant: str, each: str) -> str:
        return f"""\
            (variables.lent in variables.selector ?
                (variables.selector[variables.lent] == 'true') == {value} :
                variables.keys.all(k, !(k in variables.selector) ||
                    [variables.selector[k]].exists(v,
                        {meant.replace("KEY", "k")}))) &&
            (!variables.isBound || variables.terms.exists(t,
                size(t.?matchExpressions.orValue([])) + size(t.?matchFields.orValue([])) > 0 &&
                {_inside(each, 16)}))"""

    spot = term("true", is_spot, off_spot)
    on_demand = term("false", is_on_demand, off_on_demand)
    return {
        "mayBeSpot": allows("true", is_spot, spot),
        "mayBeOnDemand": allows("false", is_on_demand, on_demand),
        # How much more its preferences are for on-demand than for spot.
        "liking": f"""\
            variables.preferred.orValue([]).map(p, [p.preference].map(t,
                ({_inside(on_demand, 16)} ? p.weight : 0) -
                ({_inside(spot, 16)} ? p.weight : 0)).sum()).sum()""",
    }


def _inside(expression: str, column: int) -> str:
    """An expression within another one that begins its lines so many columns further right."""
    return dedent(expression).replace("\n", "\n" + " " * column)


def _meant(labels: CapacityLabels) -> tuple[str, str]:
    """Whether a value ``v`` of the label KEY means spot, and on-demand: see ``CapacityLabels``."""
    is_spot = f"v.lowerAscii() == {_cel(names.SPOT)}"
    sure = [key for key in labels.keys if labels.all_else_is_on_demand(key)]
    if labels.values:
        own = _cel(dict(labels.values))
        is_spot = f"({is_spot} || KEY in {own} && v in {own}[KEY])"
    values = _cel(sorted(ON_DEMAND_VALUES))
    is_on_demand = f"!({is_spot}) && (KEY in {_cel(sure)} || v.lowerAscii() in {values})"
    return is_spot, is_on_demand


def _additions(labels: CapacityLabels) -> Mapping[str, str]:
    """What a pod is given, and which of its preferred terms and tolerations it lacks."""
    allowed = _cel(names.TOLERATIONS_ALLOWED)
    return {
        "notSpot": _cel(msgspec.to_builtins(not_spot(labels))),
        "ratherSpot": _cel(msgspec.to_builtins(rather_spot(labels))),
        "spotTaints": _cel(msgspec.to_builtins(bears_spot(labels))),
        "rather": f"""\
            (variables.isRequired ||
                (variables.capacity == {_cel(Capacity.SPOT)} ? variables.liking > 0 :
                    variables.liking < 0) ? [] :
                variables.capacity == {_cel(Capacity.SPOT)} ? variables.ratherSpot :
                [{{'weight': dyn(100),
                   'preference': dyn({{'matchExpressions': variables.notSpot}})}}])
                .filter(t, !variables.preferred.orValue([]).exists(there, there == t))""",
        "tolerations": "object.spec.?tolerations",
        "bears": f"""\
            (variables.isRequired || namespaceObject.metadata.?annotations[?{allowed}].hasValue() ?
                [] : variables.spotTaints)
                .filter(t, !variables.tolerations.orValue([]).exists(there,
                    there.?operator.orValue('') == 'Exists' && there.?effect.orValue('') == '' &&
                    there.?key.orValue('') in ['', t.key] || variables.isAgain && there == t))""",
    }


def _patch() -> str:
    """The JSON patch: see ``placement_patch``."""
    cost = _cel(names.POD_DELETION_COST)
    notes = f"""\
        {_made("has(object.metadata.annotations)", "/metadata/annotations")}
        {_made("has(object.metadata.labels)", "/metadata/labels")}
        [{_entry("annotations", names.PLACED, "variables.note")},
         {_entry("labels", names.CAPACITY, "variables.capacity")}] +
        (variables.kind == {_cel(_kind(ReplicaSet.resource))} &&
            variables.capacity == {_cel(Capacity.ON_DEMAND)} &&
            !object.metadata.?annotations[?{cost}].hasValue() ?
            [{_entry("annotations", names.POD_DELETION_COST, _cel(DELETION_COST))}] : []) +"""
    terms = f"{NODE_AFFINITY}/{REQUIRED}/nodeSelectorTerms/"
    required = f"""\
        (!variables.isRequired ? [] : !variables.isBound ?
            [JSONPatch{{op: 'add', path: '{NODE_AFFINITY}/{REQUIRED}',
                value: {{'nodeSelectorTerms': [{{'matchExpressions': variables.notSpot}}]}}}}] :
            variables.terms.transformList(i, t,
                size(t.?matchExpressions.orValue([])) > 0 ?
                    variables.notSpot.map(c, JSONPatch{{op: 'add', value: c,
                        path: '{terms}' + string(i) + '/matchExpressions/-'}}) :
                size(t.?matchFields.orValue([])) > 0 ?
                    [JSONPatch{{op: 'add', value: variables.notSpot,
                        path: '{terms}' + string(i) + '/matchExpressions'}}] : []).flatten()) +"""
    return "\n".join(
        (
            "variables.capacity == '' ? [] :",
            dedent(notes),
            _made("has(object.spec.affinity)", "/spec/affinity"),
            _made("object.spec.?affinity.?nodeAffinity.hasValue()", NODE_AFFINITY),
            dedent(required),
            _list("preferred", "rather", f"{NODE_AFFINITY}/{PREFERRED}") + " +",
            _list("tolerations", "bears", "/spec/tolerations") + " +",
            dedent(_soft()),
        )
    )


def _soft() -> str:
    """Has soft spreads count nodes of both types: see ``soft_operations``."""
    return f"""\
        (!variables.isRequired || variables.isBound || size(variables.selector) > 0 ? [] :
            object.spec.?topologySpreadConstraints.orValue([]).transformList(i, s,
                s.whenUnsatisfiable == {_cel(DO_NOT_SCHEDULE)} || has(s.nodeAffinityPolicy) ? [] :
                    [JSONPatch{{op: 'add', value: {_cel(IGNORE)},
                        path: '/spec/topologySpreadConstraints/' + string(i) +
                            '/nodeAffinityPolicy'}}]).flatten())"""


def _sleep() -> str:
    """Has containers sleep before their SIGTERM: see ``sleep_operations``."""
    hook = "{'sleep': {'seconds': variables.sleep}}"
    return dedent(f"""\
        variables.sleep <= 0 ? [] :
            object.spec.containers.transformList(i, c, c.?lifecycle.?preStop.hasValue() ? [] :
                has(c.lifecycle) ?
                    [JSONPatch{{op: 'add', value: {hook},
                        path: '/spec/containers/' + string(i) + '/lifecycle/preStop'}}] :
                    [JSONPatch{{op: 'add', value: {{'preStop': {hook}}},
                        path: '/spec/containers/' + string(i) + '/lifecycle'}}]).flatten()""")


def _made(is_there: str, path: str) -> str:
    """Makes what others are written into, where it is not there."""
    return f"({is_there} ? [] : [JSONPatch{{op: 'add', path: '{path}', value: {{}}}}]) +"


def _entry(part: str, key: str, value: str) -> str:
    path = f"/metadata/{part}/{key.replace('~', '~0').replace('/', '~1')}"
    return f"JSONPatch{{op: 'add', path: {_cel(path)}, value: {value}}}"


def _list(there: str, wanted: str, path: str) -> str:
    """Appends to a list, or makes it."""
    return dedent(f"""\
        (size(variables.{wanted}) == 0 ? [] : !variables.{there}.hasValue() ?
            [JSONPatch{{op: 'add', path: '{path}', value: variables.{wanted}}}] :
            variables.{wanted}.map(t, JSONPatch{{op: 'add', path: '{path}/-', value: t}}))""")


def _kind(resource: Resource) -> str:
    return f"{resource.group}/{resource.kind}"


def _named(expressions: Mapping[str, str]) -> Sequence[Mapping[str, str]]:
    return [{"name": name, "expression": dedent(each)} for name, each in expressions.items()]


def _cel(value: object) -> str:
    """A literal. CEL's maps and lists have values of one type, unless each is ``dyn``.

    Of a list of objects each is a line.
    """
    match value:
        case [{}, *_]:
            return f"[{',\n '.join(map(_cel, value))}]"
        case Mapping():
            pairs = (f"{_cel(key)}: {_dyn(value, each)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
        case str():
            return "'" + json.dumps(value)[1:-1].replace("'", "\\'") + "'"
        case int():
            return str(value)
        case Iterable():
            return f"[{', '.join(map(_cel, value))}]"
    raise TypeError(value)


def _dyn(whole: Mapping[Any, Any], each: object) -> str:
    is_mixed = len({type(value) for value in whole.values()}) > 1
    return f"dyn({_cel(each)})" if is_mixed else _cel(each)
