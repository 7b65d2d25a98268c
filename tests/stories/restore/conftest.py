"""Scenes for the stories of restore."""

from collections.abc import Callable, Iterator

import pytest

from tests.kit.restoring import RestoreScene
from tests.kit.scene import ending

type MakeScene = Callable[..., RestoreScene]


@pytest.fixture
def make_scene() -> Iterator[MakeScene]:
    """Make a scene with settings of its own."""
    with ending(RestoreScene) as made:
        yield made


@pytest.fixture
def scene(make_scene: MakeScene) -> RestoreScene:
    """A scene with the usual settings."""
    return make_scene()
