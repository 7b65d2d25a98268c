"""Groups of pods as a real API server serves them, and a kind that it does not serve."""

import pytest

from evenkeel.errors import NotFoundError
from evenkeel.model.gang import CoschedulingPodGroup, PodGroup
from evenkeel.model.metrics import Metric
from evenkeel.model.request import List, Listing, Selection
from evenkeel_runtime.kubeconfig import from_kubeconfig
from tests.e2e.gangs.test_gangs import group
from tests.e2e.harness import Site
from tests.unit.adapters.kubernetes.making import Lines

pytestmark = pytest.mark.controlplane


def test_a_group_is_read_and_a_kind_that_is_not_served_is_said(site: Site) -> None:
    site.apply(group(site, 3))
    journal = Lines()
    kubeconfig = str(site.control_plane.kubeconfig)
    with from_kubeconfig(kubeconfig=kubeconfig, journal=journal) as cluster:
        own, other = cluster.perform(
            [List(Selection(kind, site.namespace)) for kind in (PodGroup, CoschedulingPodGroup)]
        )
    assert isinstance(own.result, Listing), own.error
    (found,) = own.result.items
    assert isinstance(found, PodGroup)
    assert (found.name, found.minimum, found.is_one) == ("train", 3, False)
    assert isinstance(other.error, NotFoundError)
    assert journal.counts == {Metric.KINDS_NOT_SERVED: 1}
    assert "scheduling.x-k8s.io/v1alpha1" in journal.told[0]
