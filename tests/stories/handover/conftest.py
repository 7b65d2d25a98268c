"""Scenes for the stories: what is set up in a test ends with it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.node import doomed_node
from evenkeel.decisions.notice import rebalance_recommendation
from tests.kit.scene import Scene, ending
from tests.property import levels

type MakeScene = Callable[..., Scene]


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    """Whatever a story tells: a plan that is made anew without news is the plan that is kept."""
    with levels.held(5):
        yield


@pytest.fixture
def make_scene(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeScene]:
    """Make a scene with settings of its own.

    ``rebalance_expiry`` and ``load_balancer_lead`` are no settings: a story that has others than
    the usual ones sees more clearly what depends on them.
    """

    def make(
        rebalance_expiry: timedelta = rebalance_recommendation.EXPIRY,
        load_balancer_lead: timedelta = doomed_node.LOAD_BALANCER_LEAD,
        **options: Any,
    ) -> Scene:
        monkeypatch.setattr(rebalance_recommendation, "EXPIRY", rebalance_expiry)
        monkeypatch.setattr(doomed_node, "LOAD_BALANCER_LEAD", load_balancer_lead)
        return Scene(**options)

    with ending(make) as made:
        yield made


@pytest.fixture
def scene(make_scene: MakeScene) -> Scene:
    """A scene with the usual settings."""
    return make_scene()
