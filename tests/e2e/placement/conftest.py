"""The fixtures of placement's end-to-end tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.placement.webhook import Ground, opened
from tests.fixtures.control_plane import ControlPlane


@pytest.fixture
def ground(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Ground]:
    """A managed namespace; at the end no webhook is left, nor a claim."""
    with opened(control_plane, namespace, tmp_path) as made:
        yield made
