"""Fixtures of the commands' tests."""

from collections.abc import Iterator

import pytest

from tests.kit.scene import Scene


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A simulated cluster with Evenkeel beside it."""
    made = Scene()
    yield made
    made.close()
