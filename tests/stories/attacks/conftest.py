"""Scenes for attacks: what is set up in a test ends with it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene
from tests.kit.scene import Scene, ending

type MakeScene = Callable[..., Scene]


@pytest.fixture
def make_scene() -> Iterator[MakeScene]:
    """Make an honest cluster: ``web`` runs on the spot nodes s1 and s2, o1 has room."""

    def make(**options: Any) -> Scene:
        scene = Scene(**options)
        scene.given(deployment("web", 4), on="s1 s2", spare="o1")
        return scene

    with ending(make) as made:
        yield made


@pytest.fixture
def scene(make_scene: MakeScene) -> Scene:
    """An honest cluster with the usual settings."""
    return make_scene()


@pytest.fixture
def restoring() -> Iterator[RestoreScene]:
    """A cluster with restore and the webhook, whose namespace ``default`` is managed."""
    scene = RestoreScene()
    yield scene
    scene.close()
