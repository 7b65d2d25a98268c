"""Scenes for the stories of restore."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.kit.restoring import RestoreScene

type MakeScene = Callable[..., RestoreScene]


@pytest.fixture
def make_scene() -> Iterator[MakeScene]:
    """Make a scene with settings of its own."""
    made: list[RestoreScene] = []

    def make(**options: Any) -> RestoreScene:
        made.append(RestoreScene(**options))
        return made[-1]

    yield make
    for scene in made:
        scene.close()


@pytest.fixture
def scene(make_scene: MakeScene) -> RestoreScene:
    """A scene with the usual settings."""
    return make_scene()
