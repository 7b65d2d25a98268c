"""What tells one state of the drain's objects apart from another."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Mapping
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from types import FunctionType, MappingProxyType, MethodType
from typing import Any

import msgspec

from evenkeel.model.decision import Decision
from evenkeel.model.meta import KubernetesObject
from tests.property.walk.copies import attributes, changes

A_MOMENT = timedelta(seconds=1)
"""What is older than this is old, for watches, answers about the pause and reads alike."""

DERIVED = frozenset(
    (
        # follows from the cache, as often as that is planned for
        "Plans",
        "ForcedEvictions",
        "NodeReconciler",
        # counts, and how long things took: nothing passes but by a step that says so
        "Answers",
        "Memory",
        "OnceRecorder",
        "Progress",
        # the same in all states, or told by itself
        "Clock",
        "HandoverSettings",
        "Leadership",
        "Server",
        "WalkSession",
    )
)
"""Classes of which nothing tells two states apart."""

UNTOLD: Mapping[str, Collection[str]] = {
    # numbers of which only the order counts, or a difference in the pace of a storm
    "PauseGate": ("_heard", "_number"),
    "Writer": ("_accepted_counts",),
    # how far a watch has come: what it has not shown yet says that, too
    "Stream": ("_shown",),
    # what nobody waits for within the minutes that a world lasts, or only a little longer
    "Watches": ("_look_at",),
    "Facts": ("_began", "_look_at"),
    "Reports": ("_flush_at", "_flushing"),
    "_Rest": ("delay",),
    # found anew at once; when plans change by time follows from them
    "Ways": ("_routes",),
    "Queue": ("_heap", "_least", "_opens_at", "_planned_for", "_times"),
    # follows from the plans
    "Evictions": ("_planned", "_shown", "_unshown"),
    "Releases": ("_counts", "_in_time", "_planned"),
}
"""Attributes that do not either, by class."""

RESTS = "_rests"
"""The attribute of ``Backoff`` of which only the rests count that are still to end."""


class Fingerprint:
    """What tells one graph of objects apart from another, as a sequence of tokens.

    Of the versions of an object only their order is told. ``latest`` is the last of each that
    there was.
    """

    def __init__(
        self,
        versions: Mapping[int, tuple[str, int]],
        now: datetime,
        token: Callable[[KubernetesObject], Hashable],
    ) -> None:
        """``versions``: whose version, and the how manieth, a revision is."""
        self._versions = versions
        self._now = now
        self._token = token
        self._tokens: list[Hashable] = []
        self._places: list[tuple[int, str, int]] = []
        self._seen: dict[int, int] = {}
        self.latest: dict[str, int] = {}

    def of(self, item: Any) -> int:
        """The fingerprint of a graph."""
        self._tell(item)
        present: dict[str, set[int]] = {}
        for _, uid, version in self._places:
            present.setdefault(uid, set()).add(version)
        ranks = {uid: sorted(versions) for uid, versions in present.items()}
        self.latest = {uid: versions[-1] for uid, versions in ranks.items()}
        for place, uid, version in self._places:
            self._tokens[place] = uid, ranks[uid].index(version)
        return hash(tuple(self._tokens))

    def _tell(self, item: Any) -> None:
        kind = type(item)
        how = _TELL.get(kind)
        if how is None:
            how = _TELL[kind] = _way_of(kind)
        how(self, item)

    def _value(self, item: Any) -> None:
        self._tokens.append(item)

    def _number(self, item: int) -> None:
        version = self._versions.get(item)
        if version is not None:
            self._places.append((len(self._tokens), *version))
        self._tokens.append(item)

    def _object(self, item: KubernetesObject) -> None:
        self._number(item.revision)
        self._tokens.append(self._token(item))

    def _time(self, item: datetime) -> None:
        """How far off a time is: all are alike that are a moment ago, and that are long past."""
        away = item - self._now
        past = -A_MOMENT if away < -A_MOMENT else timedelta()
        self._tokens.append(away if away > timedelta() else past)

    def _text(self, item: Any) -> None:
        self._tokens.append(repr(item))

    def _decision(self, item: Decision) -> None:
        self._tokens.append((item.verb, item.subject.uid, item.reason, item.forced))

    def _fields(self, item: Any) -> None:
        for name in item.__dataclass_fields__:
            self._tell(getattr(item, name))

    def _instance(self, item: Any) -> None:
        seen = self._seen.get(id(item))
        if seen is not None:
            self._tokens.append(seen)
            return
        self._seen[id(item)] = len(self._seen)
        untold = UNTOLD.get(type(item).__name__, ())
        for name, value in attributes(item).items():
            if name == RESTS:
                value = self._unended(value)  # noqa: PLW2901
            if name not in untold:
                self._tokens.append(name)
                self._tell(value)

    def _unended(self, rests: dict[str, dict[Any, Any]]) -> dict[str, dict[Any, Any]]:
        """The rests that are not over, by the object's uid and the kind of write."""
        found = {
            uid: {verb: rest for verb, rest in of_one.items() if rest.until > self._now}
            for uid, of_one in rests.items()
        }
        return {uid: of_one for uid, of_one in found.items() if of_one}

    def _sequence(self, item: Any) -> None:
        self._tokens.append(len(item))
        for each in item:
            self._tell(each)

    def _set(self, item: Any) -> None:
        self._sequence(_in_order(item))

    def _dict(self, item: Any) -> None:
        self._tokens.append(len(item))
        for key in _in_order(item):
            self._tokens.append(key)
            self._tell(item[key])

    def _partial(self, item: "partial[Any]") -> None:
        self._tell(item.func)
        self._sequence(item.args)

    def _named(self, item: Any) -> None:
        self._tokens.append(item.__qualname__)

    def _class(self, item: Any) -> None:
        self._tokens.append(type(item).__name__)


def _in_order(items: Any) -> Any:
    if len(items) < 2:
        return items
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=repr)


def _way_of(kind: type) -> Callable[[Fingerprint, Any], None]:
    """How something of a kind is told."""
    if issubclass(kind, KubernetesObject):
        return Fingerprint._object
    if issubclass(kind, msgspec.Struct):
        return Fingerprint._text
    if issubclass(kind, Exception | Future) or kind.__name__ in DERIVED:
        return Fingerprint._class
    if changes(kind):
        return Fingerprint._instance
    if issubclass(kind, tuple):
        return Fingerprint._sequence
    return Fingerprint._fields if hasattr(kind, "__dataclass_fields__") else Fingerprint._value


_TELL: dict[type, Callable[[Fingerprint, Any], None]] = {
    bool: Fingerprint._value,
    int: Fingerprint._number,
    list: Fingerprint._sequence,
    tuple: Fingerprint._sequence,
    deque: Fingerprint._sequence,
    set: Fingerprint._set,
    frozenset: Fingerprint._set,
    dict: Fingerprint._dict,
    defaultdict: Fingerprint._dict,
    Counter: Fingerprint._dict,
    MappingProxyType: Fingerprint._dict,
    partial: Fingerprint._partial,
    MethodType: Fingerprint._named,
    FunctionType: Fingerprint._named,
    Decision: Fingerprint._decision,
    datetime: Fingerprint._time,
    type: Fingerprint._named,
}
