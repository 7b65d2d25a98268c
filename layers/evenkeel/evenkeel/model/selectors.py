"""Label selectors as text, no longer than an address can be.

A selector is part of a request's address, and tenants write its labels and values. What is longer
than 8 kB is refused by proxies and load balancers before it reaches an API server.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final
from urllib.parse import quote_plus

from evenkeel.model.meta import LabelSelector, LabelSelectorRequirement

LONGEST: Final = 7_000
"""Bytes of a selector as an address has it; the rest of the 8 kB is for path and parameters."""


def size(text: str) -> int:
    """How many bytes a text takes in an address."""
    return len(quote_plus(text))


def item_size(value: str) -> int:
    """How many bytes a value takes in an address as one of several."""
    return size(f"{value},")


def chunks(
    values: Iterable[str],
    limit_bytes: int = LONGEST,
    size_of: Callable[[str], int] = item_size,
) -> Iterator[tuple[str, ...]]:
    """The values, sorted and each once, in as many parts as ``any_of`` needs for each to fit.

    A value that is longer than the limit by itself is a part of its own. ``size_of``: how many
    bytes one takes, where more than itself is asked for.
    """
    part: list[str] = []
    used = 0
    for value in sorted(set(values)):
        needed = size_of(value)
        if part and used + needed > limit_bytes:
            yield tuple(part)
            part, used = [], 0
        part.append(value)
        used += needed
    if part:
        yield tuple(part)


def any_of(key: str, values: Iterable[str]) -> str:
    """The clause that a label has one of these values."""
    return f"{key} in ({','.join(sorted(set(values)))})"


def fitting(selector: LabelSelector) -> str:
    """A label selector in the API's syntax, without the clauses that find no room in an address.

    It selects what the selector does, and more if a clause is left out: the caller drops these.
    Raises ValueError for an unknown operator.
    """
    kept: list[str] = []
    left = LONGEST
    equal = (f"{key}={value}" for key, value in sorted(selector.match_labels.items()))
    for clause in chain(equal, map(_clause, selector.match_expressions)):
        needed = size(f"{clause},")
        if needed <= left:
            kept.append(clause)
            left -= needed
    return ",".join(kept)


def _clause(clause: LabelSelectorRequirement) -> str:
    match clause.operator:
        case "In":
            return any_of(clause.key, clause.values)
        case "NotIn":
            return f"{clause.key} notin ({','.join(clause.values)})"
        case "Exists":
            return clause.key
        case "DoesNotExist":
            return f"!{clause.key}"
    message = f"unknown label selector operator {clause.operator!r}"
    raise ValueError(message)
