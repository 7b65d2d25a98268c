"""The fixtures of placement's end-to-end tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.placement.webhook import Ground, opened
from tests.e2e.test_rights import MANIFESTS
from tests.fixtures.control_plane import ControlPlane


@pytest.fixture
def ground(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Ground]:
    """A managed namespace; at the end no webhook is left, nor a claim."""
    with opened(control_plane, namespace, tmp_path) as made:
        yield made


@pytest.fixture
def rights(control_plane: ControlPlane) -> Iterator[None]:
    """The rights of all functions."""
    control_plane.kubectl("apply", "-k", str(MANIFESTS))
    yield
    for kind in ("clusterrolebinding", "clusterrole"):
        control_plane.kubectl("delete", kind, "-l", "app.kubernetes.io/name=evenkeel")
