"""Copies of what changes in a world, above all of the drain's own objects.

Values stay what they are: two copies share them. What may change is copied, whatever class of the
drain it belongs to, so that the walk need not know the drain's insides.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import msgspec

OURS = ("evenkeel.flows.", "tests.property.walk.")
"""Where the classes live whose instances change."""


def attributes(item: object) -> dict[str, Any]:
    """The attributes of an instance, wherever it keeps them."""
    found = dict(getattr(item, "__dict__", ()))
    for each in type(item).__mro__:
        for name in getattr(each, "__slots__", ()):
            if name not in ("__dict__", "__weakref__") and hasattr(item, name):
                found[name] = getattr(item, name)
    return found


def changes(kind: type) -> bool:
    """Whether instances of a class change: it is the drain's or the walk's, and no frozen value."""
    if issubclass(kind, Exception | Enum | msgspec.Struct | tuple):
        return False
    parameters = getattr(kind, "__dataclass_params__", None)
    return kind.__module__.startswith(OURS) and not (parameters and parameters.frozen)


class Copier:
    """One copy of a graph of objects; what it refers to twice is copied once."""

    def __init__(self, instead: Mapping[int, Any] | None = None) -> None:
        """``instead``: what is to be in place of a copy, by the id of what it is for."""
        self._copies: dict[int, Any] = dict(instead or {})

    def copy(self, item: Any) -> Any:
        kind = type(item)
        how = _HOW.get(kind)
        if how is None:
            how = _HOW[kind] = Copier._instance if changes(kind) else _SAME
        if how is _SAME:
            return item
        found = self._copies.get(id(item))
        return found if found is not None else how(self, item)

    def _instance(self, item: Any) -> Any:
        made = object.__new__(type(item))
        self._copies[id(item)] = made
        own = getattr(item, "__dict__", None)
        if own is not None and not hasattr(type(item), "__slots__"):
            copy, target, how = self.copy, made.__dict__, _HOW.get
            target.update(own)
            for name, value in own.items():
                if how(type(value)) is not _SAME:
                    target[name] = copy(value)
            return made
        for name, value in attributes(item).items():
            object.__setattr__(made, name, self.copy(value))
        return made

    def _dict(self, item: dict[Any, Any]) -> Any:
        made = self._copies[id(item)] = item.copy()
        copy, how = self.copy, _HOW.get
        for key, value in item.items():
            if how(type(value)) is not _SAME:
                made[key] = copy(value)
        return made

    def _list(self, item: Any) -> Any:
        made = self._copies[id(item)] = item.copy()
        made.clear()
        made.extend(map(self.copy, item))
        return made

    def _set(self, item: set[Any]) -> Any:
        made = self._copies[id(item)] = item.copy()
        return made

    def _tuple(self, item: tuple[Any, ...]) -> Any:
        copied = [self.copy(each) for each in item]
        if all(new is old for new, old in zip(copied, item, strict=True)):
            return item
        return tuple(copied)

    def _partial(self, item: "partial[Any]") -> Any:
        return partial(self.copy(item.func), *map(self.copy, item.args))

    def _method(self, item: MethodType) -> Any:
        return MethodType(item.__func__, self.copy(item.__self__))

    def _function(self, item: FunctionType) -> Any:
        for cell in item.__closure__ or ():
            if self.copy(cell.cell_contents) is not cell.cell_contents:
                raise TypeError(f"{item.__qualname__} holds what changes: make it a partial")
        return item


def _SAME(_copier: Copier, item: Any) -> Any:  # noqa: N802 - a marker
    return item


_HOW: dict[type, Callable[[Copier, Any], Any]] = {
    dict: Copier._dict,
    defaultdict: Copier._dict,
    Counter: Copier._dict,
    list: Copier._list,
    deque: Copier._list,
    set: Copier._set,
    tuple: Copier._tuple,
    partial: Copier._partial,
    MethodType: Copier._method,
    FunctionType: Copier._function,
}
