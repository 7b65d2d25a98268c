"""Scenes for what others do: what is set up in a test ends with it."""

from collections.abc import Iterator

import pytest

from tests.kit.scene import Scene, ending
from tests.property import levels
from tests.stories.gate.gated import Gated


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    """Whatever a story tells: a plan that is made anew without news is the plan that is kept."""
    with levels.held(5):
        yield


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A scene with the usual settings."""
    with ending(Scene) as make:
        yield make()


@pytest.fixture
def gated() -> Iterator[Gated]:
    """A gated namespace, the gate, and the reconciler on its schedule."""
    with ending(Gated) as make:
        yield make()
