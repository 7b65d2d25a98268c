"""The fixture of all end-to-end tests."""

from collections.abc import Iterator

import pytest

from tests.e2e.harness import Site
from tests.fixtures.control_plane import ControlPlane


@pytest.fixture
def site(control_plane: ControlPlane, namespace: str) -> Iterator[Site]:
    """A part of the real control plane of its own; at the end nothing of it is left."""
    with Site.open(control_plane, namespace) as opened:
        yield opened
