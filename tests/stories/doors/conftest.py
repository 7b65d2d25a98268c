"""The doors by which somebody has pods leave."""

from collections.abc import Iterator

import pytest

from tests.stories.doors.doors import Door, EvictionRequests, Gate, Notice

DOORS: tuple[type[Door], ...] = (Gate, EvictionRequests, Notice)


@pytest.fixture(params=DOORS, ids=[each.__name__ for each in DOORS])
def door(request: pytest.FixtureRequest) -> Iterator[Door]:
    """Each of them."""
    made: Door = request.param()
    yield made
    made.scene.close()


@pytest.fixture
def requests() -> Iterator[EvictionRequests]:
    """That of EvictionRequests alone."""
    made = EvictionRequests()
    yield made
    made.scene.close()
