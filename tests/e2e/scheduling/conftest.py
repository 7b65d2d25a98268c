"""The fixtures of the scheduler's end-to-end tests."""

from collections.abc import Iterator

import pytest

from tests.e2e.placement.webhook import Ground
from tests.e2e.scheduling.scheduler import (
    Scheduler,
    answering,
    asking,
    extender_applied,
    profile_applied,
    running,
)


@pytest.fixture
def profile(ground: Ground) -> Iterator[Scheduler]:
    """The scheduler of manifests/scheduler/profile."""
    plane = ground.control_plane
    with profile_applied(plane) as config, running(plane, config, ground.folder) as scheduler:
        yield scheduler


@pytest.fixture
def in_cluster(ground: Ground, rights: None) -> Iterator[None]:
    """What docs/placement.md applies for the extender: accounts and rights are those of users."""
    del rights
    with extender_applied(ground):
        yield


@pytest.fixture
def extended(ground: Ground, in_cluster: None) -> Iterator[Scheduler]:
    """The scheduler of manifests/scheduler/extender, answered by ``evenkeel serve``."""
    del in_cluster
    config = asking(ground, answering(ground))
    with running(ground.control_plane, config, ground.folder) as scheduler:
        yield scheduler
