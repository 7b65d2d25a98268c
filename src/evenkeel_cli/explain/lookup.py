"""Finding the object that a person means: ``node/x``, ``shop/deploy/web``, or a bare name."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import ask_for_one, list_all
from evenkeel.model.controllers.job import Job
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Selection
from evenkeel.model.workload import WORKLOADS
from evenkeel.ports import Cluster
from evenkeel_cli import node_names, words
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.suggesting import did_you_mean

_NAMED: Final[tuple[type[KubernetesObject], ...]] = (Node, Pod, *WORKLOADS)

ALIASES: Final = {
    alias: kind
    for kind in _NAMED
    for alias in (kind.resource.short, kind.resource.kind.lower(), kind.resource.plural)
    if alias
}

SEARCHED: Final = (Deployment, StatefulSet, Job, Pod, ReplicaSet)
"""The kinds of which a bare name may be, before it is looked for among the nodes."""


SUGGESTED: Final = (Deployment, StatefulSet, Job)
"""The kinds whose names are compared with a bare one that is not found: pods' are made up."""

UNKNOWN: Final = "check the name, the kind and -n"


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked for. Without a kind all are searched, without a namespace all of them."""

    name: str
    kind: type[KubernetesObject] | None = None
    namespace: str = ""

    def __str__(self) -> str:
        """As a person would write it."""
        kind = f"{words.kind_word(self.kind.resource.kind)} " if self.kind else ""
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{kind}{self.name}{where}"


def parse(text: str, namespace: str) -> Question:
    """``NAME``, ``KIND/NAME`` or ``NAMESPACE/KIND/NAME``. Raises BadInputError.

    A kind may have its API group behind it, as ``-o name`` prints it: ``deployment.apps``.
    """
    *before, name = text.split("/")
    if not name or len(before) > 2:
        raise BadInputError(f"{text!r}: should be NAME, KIND/NAME or NAMESPACE/KIND/NAME")
    if not before:
        return Question(name, None, namespace)
    word, _, group = before[-1].lower().partition(".")
    kind = ALIASES.get(word)
    if kind is None or group not in ("", kind.resource.group):
        known = "node, pod, deploy, sts, job or rs"
        raise BadInputError(f"{text!r}: {before[-1]!r} is no kind that explain knows: use {known}")
    if len(before) == 2:
        if namespace not in ("", before[0]):
            raise BadInputError(f"{text!r} and -n {namespace} name two namespaces: keep one")
        return Question(name, kind, before[0])
    return Question(name, kind, namespace if kind.resource.namespaced else "")


def find(cluster: Cluster, question: Question) -> KubernetesObject:
    """The object that is meant. Raises BadInputError if there is none, or more than one.

    A name without a kind is a node's if nothing in the namespace has it: nodes are in none.
    """
    kinds: Iterable[type[KubernetesObject]] = [question.kind] if question.kind else SEARCHED
    found = _search(cluster, question, [kind for kind in kinds if kind is not Node])
    if not found and question.kind in {None, Node}:
        found = _nodes(cluster, question.name)
    if not found:
        raise BadInputError(f"there is no {question}: {_remedy(cluster, question)}")
    if len(found) > 1:
        which = ", ".join(words.workload_name(item.reference) for item in found[:5])
        raise BadInputError(f"{question} may be {which}: name one of them like that")
    return found[0]


def _remedy(cluster: Cluster, question: Question) -> str:
    """What may be meant: also what is called so in another namespace, and the nodes."""
    kinds = [question.kind] if question.kind else [*SUGGESTED, Node]
    requests: list[List[Any]] = [
        List(Selection(kind), fresh=False, metadata_only=True) for kind in kinds
    ]
    with suppress(ForbiddenError):
        there = [item for listed in list_all(cluster, requests) for item in listed]
        there.sort(key=lambda item: item.namespace != question.namespace)
        return did_you_mean(question.name, chain.from_iterable(map(_names, there)), UNKNOWN)
    return UNKNOWN


def _names(item: KubernetesObject) -> Iterable[tuple[str, str]]:
    """What an object may be called, each with how to write it."""
    if isinstance(item, Node):
        return node_names.known([item.name])
    return [(item.name, words.workload_name(item.reference))]


def _search(
    cluster: Cluster, question: Question, kinds: Sequence[type[KubernetesObject]]
) -> list[KubernetesObject]:
    selector = f"metadata.name={question.name}"
    requests: list[List[Any]] = [
        List(Selection(kind, question.namespace, fields=selector)) for kind in kinds
    ]
    return [item for listed in list_all(cluster, requests) for item in listed]


def _nodes(cluster: Cluster, named: str) -> list[KubernetesObject]:
    name = node_names.find(cluster, named)
    node = ask_for_one(cluster, Get(Node, name)) if name is not None else None
    return [node] if node is not None else []
