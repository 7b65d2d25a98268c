"""The fixtures of the eviction gate's end-to-end tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import Site
from tests.e2e.placement.webhook import Ground, opened
from tests.kit.control_plane import ControlPlane


@pytest.fixture
def ground(site: Site, control_plane: ControlPlane, tmp_path: Path) -> Iterator[Ground]:
    """The site's namespace, whose evictions can be gated; at the end no webhook is left."""
    with opened(control_plane, site.namespace, tmp_path) as made:
        yield made


@pytest.fixture
def gated(ground: Ground) -> Ground:
    """The site's namespace, with evictions gated by one process."""
    ground.start()
    ground.gate()
    return ground
