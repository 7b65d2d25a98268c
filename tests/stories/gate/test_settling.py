"""Drains behind the gate: a pod passes once what sends it requests knows its replacement."""

import pytest

from evenkeel.model.reasons import Reason
from tests.kit.manifests import Manifest, balanced, deployment, service
from tests.stories.gate.gated import Gated


@pytest.mark.parametrize(
    ("leading", "earliest"), [((), 2), ((service("web"),), 4), ((balanced("web"),), 22)]
)
def test_a_drain_waits_for_the_balancer(
    leading: tuple[Manifest, ...], earliest: float, gated: Gated
) -> None:
    gated.given(deployment("web", 3), *leading, spare="o1")
    assert earliest <= gated.drain("s1", within=60) <= earliest + 10
    assert gated.lowest("web") == 3


def test_what_is_waited_for_is_said(gated: Gated) -> None:
    gated.given(deployment("web", 1), balanced("web"), spare="o1")
    gated.drain("s1", within=60)
    assert gated.told(Reason.REPLACEMENT_SETTLES)
