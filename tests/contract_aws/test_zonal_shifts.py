"""Zonal shifts of the cluster: nothing that simulates AWS elsewhere knows them.

What is asked and answered is checked against botocore's model of the service.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.parsers import ResponseParserError
from botocore.stub import Stubber

from evenkeel.adapters.aws.zonal_shift import ArcZonalShifts
from evenkeel.errors import ZonalShiftError
from evenkeel.model.zonal_shift import ZonalShift
from evenkeel.ports import ZonalShifts
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.zonal_shifts import SimulatedZonalShifts

REGION = "eu-central-1"
ARN = f"arn:aws:eks:{REGION}:123456789012:cluster/prod"
NOW = datetime(2026, 11, 21, 6, tzinfo=UTC)
LATER = NOW + timedelta(hours=3)


def zonal(zone: str, status: str = "APPLIED") -> Mapping[str, Any]:
    """A shift that somebody started, or a practice run."""
    return {
        "appliedStatus": status,
        "zonalShiftId": "9f0f0f0f-1111-2222-3333-444444444444",
        "resourceIdentifier": ARN,
        "awayFrom": zone,
        "expiryTime": LATER,
        "startTime": NOW,
        "comment": "packets are lost",
    }


def auto(zone: str, status: str = "APPLIED") -> Mapping[str, Any]:
    """A shift that AWS started."""
    return {"appliedStatus": status, "awayFrom": zone, "startTime": NOW}


def stubbed() -> tuple[ArcZonalShifts, Stubber]:
    """The adapter, and what its client is to be answered."""
    session = boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION
    )
    client: Any = session.client("arc-zonal-shift")
    stub = Stubber(client)
    stub.activate()
    return ArcZonalShifts(ARN, REGION, client), stub


def simulated() -> ZonalShifts:
    made = SimulatedZonalShifts(SimulatedClock(NOW))
    made.shift("euc1-az2", LATER)
    made.shift("euc1-az3")
    made.shift("euc1-az1", NOW)
    return made


def answered() -> ZonalShifts:
    made, stub = stubbed()
    answer: Mapping[str, Any] = {
        "appliedWeights": {"euc1-az1": 1.0, "euc1-az2": 0.0, "euc1-az3": 0.0},
        "arn": ARN,
        "zonalShifts": [zonal("euc1-az2"), zonal("euc1-az1", "NOT_APPLIED")],
        "autoshifts": [auto("euc1-az3"), auto("euc1-az1", "NOT_APPLIED")],
    }
    stub.add_response("get_managed_resource", answer, {"resourceIdentifier": ARN})
    return made


@pytest.mark.parametrize("make", [simulated, answered])
def test_those_that_are_in_effect_are_told(make: Callable[[], ZonalShifts]) -> None:
    found = make().under_way()
    assert [*found] == [ZonalShift("euc1-az2", LATER), ZonalShift("euc1-az3")]


def test_a_cluster_that_has_no_autoshifts_tells_its_shifts() -> None:
    made, stub = stubbed()
    answer: Mapping[str, Any] = {"appliedWeights": {}, "zonalShifts": []}
    stub.add_response("get_managed_resource", answer, {"resourceIdentifier": ARN})
    assert [*made.under_way()] == []
    stub.assert_no_pending_responses()


def test_a_cluster_that_is_not_managed_is_shifted_away_from_no_zone() -> None:
    made, stub = stubbed()
    stub.add_client_error("get_managed_resource", "ResourceNotFoundException", http_status_code=404)
    assert [*made.under_way()] == []


def refused() -> ZonalShifts:
    made, stub = stubbed()
    stub.add_client_error("get_managed_resource", "AccessDeniedException", http_status_code=403)
    return made


def unreachable() -> ZonalShifts:
    return failing(EndpointConnectionError(endpoint_url="https://arc-zonal-shift"))


def garbled() -> ZonalShifts:
    """A proxy answers with a page."""
    return failing(ResponseParserError("no JSON"))


def failing(error: Exception) -> ZonalShifts:
    made, _ = stubbed()

    def fail(**_: Any) -> None:
        raise error

    made._connected().meta.events.register("before-call.arc-zonal-shift", fail)
    return made


def away() -> ZonalShifts:
    made = SimulatedZonalShifts(SimulatedClock(NOW))
    made.fail(ZonalShiftError("away"))
    return made


@pytest.mark.parametrize("make", [refused, unreachable, garbled, away])
def test_what_is_refused_or_not_answered_is_an_error(make: Callable[[], ZonalShifts]) -> None:
    with pytest.raises(ZonalShiftError):
        make().under_way()
