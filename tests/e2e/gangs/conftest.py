"""Gangs are tested where Kubernetes' own groups of pods are switched on."""

import pytest

from tests.fixtures.control_plane import ControlPlane


@pytest.fixture(scope="session")
def control_plane(control_plane_with_gangs: ControlPlane) -> ControlPlane:
    """The control plane of these tests."""
    return control_plane_with_gangs
