"""The fixtures of all end-to-end tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.accounts import held
from tests.e2e.harness import Site
from tests.e2e.placement.webhook import Ground, opened
from tests.e2e.rights import GATE_RIGHTS, granted
from tests.kit.control_plane import ControlPlane


@pytest.fixture
def site(control_plane: ControlPlane, namespace: str) -> Iterator[Site]:
    """A part of the real control plane of its own; at the end nothing of it is left."""
    with Site.open(control_plane, namespace) as opened:
        yield opened


@pytest.fixture
def ground(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Ground]:
    """A managed namespace; at the end no webhook is left, nor a claim."""
    with opened(control_plane, namespace, tmp_path) as made:
        made.kubeconfig = held(control_plane)
        yield made


@pytest.fixture
def gated(ground: Ground) -> Ground:
    """The site's namespace, with evictions gated by one process."""
    ground.start()
    ground.gate()
    return ground


@pytest.fixture
def rights(control_plane: ControlPlane) -> Iterator[None]:
    """The rights of all functions."""
    with granted(control_plane):
        yield


@pytest.fixture
def gate_rights(control_plane: ControlPlane) -> Iterator[None]:
    """What the function placement may do besides where it gates evictions."""
    control_plane.kubectl("apply", "-k", str(GATE_RIGHTS.parent))
    yield
    control_plane.kubectl("delete", "-k", str(GATE_RIGHTS.parent))
