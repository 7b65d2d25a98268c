"""Label and field selectors, in the API's own syntax and as objects carry them."""

import functools
import re
from collections.abc import Callable, ItemsView, Mapping

from evenkeel.errors import ClusterError
from evenkeel_sandbox.simulator.api.objects import Obj, at, labels_of

type Labels = Mapping[str, str]
type Predicate = Callable[[Obj], bool]

CLAUSE = re.compile(
    r"""\s*(?:
        (?P<absent>!)\s*(?P<absent_key>[^\s,=!()]+)
      | (?P<set_key>[^\s,=!()]+)\s+(?P<set_op>in|notin)\s*\((?P<set_values>[^()]*)\)
      | (?P<key>[^\s,=!()]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s,=!()]*)
      | (?P<present_key>[^\s,=!()]+)
    )\s*(?:,|$)""",
    re.VERBOSE,
)

FIELDS: Mapping[str, tuple[str, ...]] = {
    "metadata.name": ("metadata", "name"),
    "metadata.namespace": ("metadata", "namespace"),
    "spec.nodeName": ("spec", "nodeName"),
    "spec.schedulerName": ("spec", "schedulerName"),
    "spec.unschedulable": ("spec", "unschedulable"),
    "status.phase": ("status", "phase"),
    "involvedObject.kind": ("involvedObject", "kind"),
    "involvedObject.name": ("involvedObject", "name"),
    "involvedObject.namespace": ("involvedObject", "namespace"),
    "involvedObject.uid": ("involvedObject", "uid"),
    "reason": ("reason",),
    "type": ("type",),
}


@functools.lru_cache(maxsize=4096)
def clauses(text: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """A label selector's clauses as (key, operator, values); ClusterError (400) if it is none."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    position = 0
    while position < len(text):
        match = CLAUSE.match(text, position)
        if match is None:
            raise ClusterError(f"unable to parse the label selector {text!r}")
        position = match.end()
        part = match.groupdict()
        if part["absent"]:
            found.append((part["absent_key"], "DoesNotExist", ()))
        elif part["set_key"]:
            values = tuple(value.strip() for value in part["set_values"].split(","))
            operator = "In" if part["set_op"] == "in" else "NotIn"
            found.append((part["set_key"], operator, values))
        elif part["key"]:
            operator = "NotIn" if part["op"] == "!=" else "In"
            found.append((part["key"], operator, (part["value"],)))
        else:
            found.append((part["present_key"], "Exists", ()))
    return tuple(found)


def holds(key: str, operator: str, values: tuple[str, ...] | list[str], labels: Labels) -> bool:
    """Whether one clause holds; ClusterError for an operator that there is not."""
    match operator:
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case "Gt" | "Lt":
            try:
                mine, bound = int(labels[key]), int(values[0])
            except (KeyError, ValueError, IndexError):
                return False
            return mine > bound if operator == "Gt" else mine < bound
    raise ClusterError(f"{operator!r} is not a valid operator of a selector")


@functools.lru_cache(maxsize=4096)
def label_predicate(text: str) -> Predicate | None:
    """Whether an object's labels satisfy a selector; None when every object does."""
    parsed = clauses(text)
    if not parsed:
        return None
    wanted = {key: values[0] for key, op, values in parsed if op == "In" and len(values) == 1}
    if len(wanted) == len(parsed):
        return functools.partial(_carries, wanted.items())

    def matches(obj: Obj) -> bool:
        labels = labels_of(obj)
        return all(holds(*clause, labels) for clause in parsed)

    return matches


def _carries(wanted: ItemsView[str, str], obj: Obj) -> bool:
    return wanted <= labels_of(obj).items()


@functools.lru_cache(maxsize=4096)
def field_clauses(text: str) -> tuple[tuple[tuple[str, ...], str, bool], ...]:
    """A field selector's clauses as (path, value, whether it is to be that or not to be).

    ClusterError (400) if it is none.
    """
    found: list[tuple[tuple[str, ...], str, bool]] = []
    for clause in filter(None, (part.strip() for part in text.split(","))):
        name, operator, value = [*re.split(r"(!=|==|=)", clause, maxsplit=1), "", ""][:3]
        if name not in FIELDS or not operator:
            raise ClusterError(f"field label not supported: {name}")
        found.append((FIELDS[name], value, operator != "!="))
    return tuple(found)


@functools.lru_cache(maxsize=4096)
def field_predicate(text: str) -> Predicate | None:
    """Whether an object satisfies a field selector; None when every object does."""
    wanted = field_clauses(text)
    if not wanted:
        return None
    if len(wanted) == 1:
        return functools.partial(_compares, *wanted[0])

    def matches(obj: Obj) -> bool:
        return all(_compares(*clause, obj) for clause in wanted)

    return matches


def _compares(path: tuple[str, ...], value: str, equal: bool, obj: Obj) -> bool:  # noqa: FBT001
    return (text_at(obj, path) == value) is equal


def node_wanted(text: str) -> str:
    """The node on which a field selector wants its pods; empty where it says nothing of it."""
    path = FIELDS["spec.nodeName"]
    return next(
        (value for field, value, equal in field_clauses(text) if field == path and equal), ""
    )


def text_at(obj: Obj, path: tuple[str, ...]) -> str:
    """A field as a field selector compares it."""
    value = at(obj, *path, default="")
    if path == ("spec", "unschedulable"):
        return "true" if value else "false"
    return str(value)


def selects(selector: Obj | None, labels: Labels) -> bool:
    """Whether a LabelSelector object selects these labels; without one nothing is selected."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels")
    if wanted and not wanted.items() <= labels.items():
        return False
    expressions = selector.get("matchExpressions")
    return not expressions or all(
        holds(clause["key"], clause["operator"], clause.get("values") or (), labels)
        for clause in expressions
    )
