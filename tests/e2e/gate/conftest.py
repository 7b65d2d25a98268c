"""The fixtures of the eviction gate's end-to-end tests."""

import pytest

from tests.e2e.placement.webhook import Ground


@pytest.fixture
def gated(ground: Ground) -> Ground:
    """The site's namespace, with evictions gated by one process."""
    ground.start()
    ground.gate()
    return ground
