"""What a person may have meant who names something that is not there."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MOST: Final = 3


def did_you_mean(name: str, known: Iterable[tuple[str, str]], otherwise: str) -> str:
    """A question that names what is called alike, else ``otherwise``.

    ``known`` are the names that there are, each with how it is told.
    """
    told = dict[str, list[str]]()
    for each, called in known:
        told.setdefault(each, []).append(called)
    alike = get_close_matches(name, told, n=MOST)
    near = list(dict.fromkeys(called for each in alike for called in told[each]))
    return f"did you mean {' or '.join(near[:MOST])}?" if near else otherwise
