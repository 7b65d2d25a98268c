"""What the value of an option or argument can be: asked of the kubeconfig and the cluster.

A shell waits while it is asked, and a person has not begun anything yet: what does not answer in
``LIMIT`` offers nothing, and no failure is told.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from evenkeel.flows.reads import list_all
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.job import Job
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel_cli import words
from evenkeel_cli.targets import Target

LIMIT: Final = timedelta(seconds=1)
"""The kubeconfig's credentials, which a plugin may fetch, and all requests together."""

type Source = Callable[[click.Context], Iterable[str]]
type Offer = Callable[[click.Context, click.Parameter, str], list[str]]
"""click's ``shell_complete`` of a parameter."""


def offered(source: Source) -> Offer:
    """The values of a source that begin with what was typed."""

    def offer(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        del parameter
        return [value for value in _in_time(source, context) if value.startswith(incomplete)]

    return offer


@offered
def contexts(context: click.Context) -> Iterable[str]:
    """The contexts of the kubeconfig."""
    return _target(context).contexts()


@offered
def namespaces(context: click.Context) -> Iterable[str]:
    """The cluster's namespaces."""
    return [each.name for each in _listed(context, [Namespace])]


@offered
def nodes(context: click.Context) -> Iterable[str]:
    """The cluster's nodes by their whole names, but for those that are on the line already."""
    named = context.params.get("nodes") or ()
    return [each.name for each in _listed(context, [Node]) if each.name not in named]


@offered
def workloads(context: click.Context) -> Iterable[str]:
    """Workloads as ``deploy/web``; of all namespaces as ``shop/deploy/web``."""
    parameters = context.params
    namespace = parameters.get("namespace") or _target(context).look().namespace
    if parameters.get("all_namespaces"):
        namespace = ""
    found = _listed(context, [Deployment, StatefulSet, Job], namespace)
    name = words.short_name if namespace else words.workload_name
    return [name(each.reference) for each in found]


def files(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Files, which the shell finds by itself."""
    del context, parameter
    return [CompletionItem(incomplete, type="file")]


def _target(context: click.Context) -> Target:
    """The cluster that the line names so far."""
    return Target(context.params.get("context"), context.params.get("kubeconfig"))


def _listed(
    context: click.Context, kinds: Sequence[type[KubernetesObject]], namespace: str = ""
) -> Sequence[KubernetesObject]:
    """All objects of some kinds, sorted by name; of a file or the built-in cluster none.

    Raises CommandError and ClusterError.
    """
    if context.params.get("snapshot") or context.params.get("built_in"):
        return ()
    requests: list[List[Any]] = [
        List(Selection(kind, namespace), fresh=False, metadata_only=True) for kind in kinds
    ]
    with _target(context).connect(budget=LIMIT) as cluster:
        return [each for listed in list_all(cluster, requests) for each in listed]


def _in_time(source: Source, context: click.Context) -> Iterable[str]:
    """What a source answers within the limit. The thread that asks ends with the process."""
    found: SimpleQueue[Iterable[str]] = SimpleQueue()

    def ask() -> None:
        values: Iterable[str] = ()
        with suppress(Exception):
            values = source(context)
        found.put(values)

    asking = Thread(target=ask, name="evenkeel-values", daemon=True)
    asking.start()
    try:
        return found.get(timeout=LIMIT.total_seconds())
    except Empty:
        return ()
