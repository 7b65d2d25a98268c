"""Requests that a test means, and what it lets happen to them before a simulated API server."""

import itertools
from collections.abc import Callable
from typing import Any

from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, Evict, List, Selection
from evenkeel_sandbox.simulator.cluster import SimulatedCluster

type Concerns = Callable[[Any], bool]


def kind_of(request: Any) -> type[KubernetesObject]:
    """The kind of object that a request is about; an eviction is about a pod."""
    if isinstance(request, List):
        return request.selection.kind
    if isinstance(request, Create):
        return type(request.object)
    return Pod if isinstance(request, Evict) else request.kind


def asks(
    *types: type[Any],
    of: type[KubernetesObject] | None = None,
    name: str = "",
    selection: Selection[Any] | None = None,
) -> Concerns:
    """Whether a request is one of these types, of a kind, about a name, or for a selection."""

    def concerns(request: Any) -> bool:
        return (
            (not types or isinstance(request, types))
            and (of is None or kind_of(request) is of)
            and name in ("", _name(request))
            and (selection is None or getattr(request, "selection", None) == selection)
        )

    return concerns


EVERYTHING = asks()


def failing(
    cluster: SimulatedCluster,
    error: Exception,
    concerns: Concerns = EVERYTHING,
    *,
    times: int = 1_000_000,
    done: bool = False,
) -> Callable[[], None]:
    """Answer requests with an error, so many times; ``done``: carried out all the same.

    Answers what ends it.
    """
    left = itertools.count(times, -1)

    def answer(request: Any, proceed: Callable[[], Any]) -> Any:
        if not concerns(request) or next(left) <= 0:
            return proceed()
        if done:
            proceed()
        raise error

    return cluster.intercept(answer)


def noting(
    cluster: SimulatedCluster,
    concerns: Concerns = EVERYTHING,
    then: Callable[[], object] = lambda: None,
) -> list[Any]:
    """The requests from now on, a list that grows; ``then`` is done before each of them."""
    noted: list[Any] = []

    def note(request: Any, proceed: Callable[[], Any]) -> Any:
        if concerns(request):
            noted.append(request)
            then()
        return proceed()

    cluster.intercept(note)
    return noted


def once(action: Callable[[], object]) -> Callable[[], None]:
    """The same, which is done the first time only."""
    left = iter([action])

    def act() -> None:
        for each in left:
            each()

    return act


def _name(request: Any) -> str:
    return request.reference.name if isinstance(request, Create) else getattr(request, "name", "")
