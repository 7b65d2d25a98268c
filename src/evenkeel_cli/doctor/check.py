"""A check of ``evenkeel doctor``: what is looked at, what is said of it, and what mends it.

A table has one line for each check. Facts are read when a check asks for them first, and once.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import wraps
from typing import Any, Final

import msgspec

from evenkeel.errors import ClusterError, ForbiddenError, UnauthenticatedError
from evenkeel_cli.aws.asking import AwsError
from evenkeel_cli.output import Item


class Verdict(StrEnum):
    """How a link is, worst first."""

    BROKEN = "broken"
    UNKNOWN = "unknown"
    NOT_LOOKED = "not looked at"
    FINE = "fine"


class Finding(Item, frozen=True):
    """A link, how it is, why that is said, and what mends it (empty where nothing is to do)."""

    link: str
    verdict: Verdict
    reason: str
    remedy: str = ""


SAID_IN_FULL: Final = (Verdict.BROKEN, Verdict.UNKNOWN)
"""Where something is to be done."""

ASK_WITH_MORE: Final = "ask again with the rights that docs/troubleshoot.md lists"


def fine(reason: str, *, link: str = "") -> Finding:
    """The link holds. Here and below: without ``link`` it is the check's own."""
    return Finding(link, Verdict.FINE, reason)


def broken(reason: str, remedy: str = "", *, link: str = "") -> Finding:
    """The link does not hold. Here and below: without ``remedy`` it is the check's."""
    return Finding(link, Verdict.BROKEN, reason, remedy)


def unknown(reason: str, remedy: str = "", *, link: str = "") -> Finding:
    """Whether the link holds cannot be seen from here, or not yet."""
    return Finding(link, Verdict.UNKNOWN, reason, remedy)


def not_looked(reason: str, remedy: str = "", *, link: str = "") -> Finding:
    """Nobody asked for this link, or there is none. What is to be done it says by itself."""
    return Finding(link, Verdict.NOT_LOOKED, reason, remedy)


@dataclass(eq=False)
class Facts:
    """What is read of the cluster or of AWS when a check asks for it first."""

    kept: dict[tuple[Any, ...], Any] = field(default_factory=dict, init=False)


def once[F: Facts, *Of, T](read: Callable[[F, *Of], T]) -> Callable[[F, *Of], T]:
    """A method of facts that reads each thing once.

    An error is kept, too: each check that needs the fact raises it, and nothing is asked twice.
    """

    @wraps(read)
    def kept(facts: F, *of: *Of) -> T:
        key = (read.__name__, *of)
        if key not in facts.kept:
            try:
                facts.kept[key] = read(facts, *of)
            except (ClusterError, AwsError) as error:
                facts.kept[key] = error
        found: T | Exception = facts.kept[key]
        if isinstance(found, Exception):
            raise found
        return found

    return kept


@dataclass(frozen=True, slots=True)
class Check[F]:
    """One check: the link that it looks at, what it finds, and what mends that.

    ``find`` judges facts. It may find more than one thing, of links that it names, or nothing.
    ``remedy`` stands where a broken or unknown link is found and no other one is named. ``when`` is
    a fact without which there is nothing to look at; if that cannot be read, another check tells
    so.
    """

    link: str
    find: Callable[[F], Finding | Iterable[Finding]]
    remedy: str = ""
    when: Callable[[F], object] = lambda _: True

    def look(self, facts: F) -> Iterator[Finding]:
        """What it finds; what could not be read is unknown."""
        try:
            found = self.find(facts)
            found = (found,) if isinstance(found, Finding) else tuple(found)
        except (ClusterError, AwsError) as error:
            found = (of_error(error),)
        for each in found:
            remedy = self.remedy if each.verdict in SAID_IN_FULL else ""
            yield msgspec.structs.replace(
                each, link=each.link or self.link, remedy=each.remedy or remedy
            )


def look[F](checks: Iterable[Check[F]], facts: F) -> Iterator[Finding]:
    """What a table of checks finds, in its order."""
    for check in checks:
        try:
            if not check.when(facts):
                continue
        except (ClusterError, AwsError):
            continue
        yield from check.look(facts)


def if_told[**P, T](read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """What a fact says; None where it cannot be read, which a check of its own tells."""
    try:
        return read(*args, **kwargs)
    except (ClusterError, AwsError):
        return None


def reads[F](fact: Callable[[F], object]) -> Callable[[F], Finding | Iterable[Finding]]:
    """Finds nothing but that a fact cannot be read, for all checks that need it."""

    def find(facts: F) -> Iterable[Finding]:
        fact(facts)
        return ()

    return find


def of_error(error: ClusterError | AwsError, *, link: str = "") -> Finding:
    """A link that could not be looked at: what hides it is no proof that it holds."""
    is_refused = (
        error.is_refusal
        if isinstance(error, AwsError)
        else isinstance(error, ForbiddenError | UnauthenticatedError)
    )
    again = "ask again; if it stays so, see why there is no answer"
    return unknown(str(error), ASK_WITH_MORE if is_refused else again, link=link)
