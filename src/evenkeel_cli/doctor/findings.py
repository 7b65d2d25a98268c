"""What is found about one link of the chain."""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Final

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


type Findings = Iterable[Finding]

ASK_WITH_MORE: Final = "ask again with the rights that docs/troubleshoot.md lists"


def fine(link: str, reason: str) -> Finding:
    """The link holds."""
    return Finding(link, Verdict.FINE, reason)


def broken(link: str, reason: str, remedy: str) -> Finding:
    """The link does not hold."""
    return Finding(link, Verdict.BROKEN, reason, remedy)


def unknown(link: str, reason: str, remedy: str) -> Finding:
    """Whether the link holds cannot be seen from here, or not yet."""
    return Finding(link, Verdict.UNKNOWN, reason, remedy)


def not_looked(link: str, reason: str, remedy: str = "") -> Finding:
    """Nobody asked for this link, or there is none."""
    return Finding(link, Verdict.NOT_LOOKED, reason, remedy)


def of_error(link: str, error: ClusterError | AwsError) -> Finding:
    """A link that could not be looked at: what hides it is no proof that it holds."""
    refused = (
        error.is_refusal
        if isinstance(error, AwsError)
        else isinstance(error, ForbiddenError | UnauthenticatedError)
    )
    remedy = ASK_WITH_MORE if refused else "ask again; if it stays so, see why there is no answer"
    return unknown(link, str(error), remedy)


def looked[**P](
    link: str, look: Callable[P, Finding | Findings], *args: P.args, **kwargs: P.kwargs
) -> Iterator[Finding]:
    """What a look finds, with these arguments; as unknown what it could not find.

    ``link`` is what could not be looked at then.
    """
    try:
        found = look(*args, **kwargs)
        yield from (found,) if isinstance(found, Finding) else found
    except (ClusterError, AwsError) as error:
        yield of_error(link, error)
