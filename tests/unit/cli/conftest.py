"""Fixtures of the commands' tests."""

from collections.abc import Iterator

import pytest

from tests.kit import built_in
from tests.kit.scene import Scene


@pytest.fixture(autouse=True)
def _built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    built_in.keep(monkeypatch)


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A simulated cluster with Evenkeel beside it."""
    made = Scene()
    yield made
    made.close()
