"""Who asked ministack for what, as CloudTrail would tell it: rights that were used or refused."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kit.iam import Right


@dataclass(frozen=True, slots=True)
class Trail:
    """What ``recorded.py`` has written so far."""

    path: Path

    def used(self, principal: str) -> set[Right]:
        """The rights that a user or a role, by its name, was given by its policies."""
        return {_right(each) for each in self._of(principal) if each["allowed"]}

    def refused(self, principal: str) -> set[Right]:
        """Those that its policies did not give."""
        return {_right(each) for each in self._of(principal) if each["allowed"] is False}

    def unjudged(self, agent: str) -> set[str]:
        """Requests of who calls itself so, of which no right was asked."""
        return {
            each["action"]
            for each in self._lines()
            if each["allowed"] is None and agent in each["principal"]
        }

    def _of(self, principal: str) -> Iterator[Mapping[str, Any]]:
        for each in self._lines():
            if principal in each["principal"].split("/"):
                yield each

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        yield from map(json.loads, self.path.read_text().splitlines())


def _right(line: Mapping[str, Any]) -> Right:
    return Right(line["action"], line["resource"])
