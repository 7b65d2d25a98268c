"""Gangs are tested where Kubernetes' own groups of pods are switched on."""

import pytest

from tests.kit.control_plane import ControlPlane


@pytest.fixture(scope="session")
def control_plane(control_plane_with_gangs: ControlPlane) -> ControlPlane:
    """The control plane of these tests."""
    if control_plane_with_gangs.pod_groups is None:
        pytest.skip("this Kubernetes has no groups of pods")
    return control_plane_with_gangs
