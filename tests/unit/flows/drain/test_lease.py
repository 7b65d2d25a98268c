"""The writes to a Lease, applied to what is there."""

import json
from typing import Any

import pytest

from evenkeel.adapters.kubernetes import wire
from evenkeel.adapters.kubernetes.objects import FEW_ANNOTATIONS, read_object
from evenkeel.flows.drain.lease.wire import LeaseWrites, ServerTime
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel_sandbox.simulator.api.patches import json_patch
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW

OF_LATER = {"evenkeel.dev/of-a-later-version": "x" * (FEW_ANNOTATIONS + 1)}
"""Too much to be kept of what this version does not know."""


@pytest.mark.parametrize("noted", [OF_LATER, {names.WAKE_UP_AT: ""} | OF_LATER, {}, None])
def test_who_takes_it_keeps_what_it_cannot_read(noted: dict[str, str] | None) -> None:
    metadata = {"name": names.HANDOVER_LEASE, "uid": "u", "resourceVersion": "7"}
    lease: dict[str, Any] = {
        "metadata": metadata | ({} if noted is None else {"annotations": noted})
    }
    read = read_object(Lease, json.dumps(lease).encode(), "read")

    taking = LeaseWrites("me", ServerTime(SimulatedClock(NOW))).take(0, read, {names.SHARES: "d"})
    taken = json_patch(lease, json.loads(wire.patch(taking).body or b""))

    assert taken["metadata"]["annotations"] == (noted or {}) | {names.SHARES: "d"}
    assert taken["spec"]["holderIdentity"] == "me"
