"""The Lease of a move as strangers may have spoilt it, and quantities as they are written."""

from typing import Any

import msgspec
import pytest

from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.meta import Reference
from evenkeel.model.move import move_of, new_move
from evenkeel.model.quantity import number
from tests.kit.builders import NOW, seconds

OWNER = Reference(kind="ReplicaSet", namespace="shop", name="web-1", uid="owner")
POD = Reference(kind="Pod", namespace="shop", name="web-1-a", uid="pod")


def lease(**spec: Any) -> Lease:
    made = new_move(OWNER, POD, Capacity.SPOT, NOW, NOW + seconds(300))
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, **spec))


def test_what_is_written_is_read() -> None:
    move = move_of(lease())
    assert move is not None
    assert (move.pod_uid, move.pod_name, move.target) == ("pod", "web-1-a", Capacity.SPOT)
    assert (move.since, move.until, move.taken_by) == (NOW, NOW + seconds(300), "")
    assert move.is_open(NOW + seconds(299))
    assert not move.is_open(NOW + seconds(300))


@pytest.mark.parametrize(
    "spec",
    [
        {"holder_identity": None},
        {"holder_identity": ""},
        {"renew_time": None},
        {"renew_time": "yesterday"},
        {"renew_time": "2026-11-21T06:00:00"},
        {"renew_time": "9999-12-31T23:59:59Z"},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_no_move(spec: dict[str, Any]) -> None:
    assert move_of(lease(**spec)) is None


def test_another_capacity_type_is_none_either() -> None:
    made = lease()
    notes = made.metadata.annotations | {names.CAPACITY: "moon"}
    spoilt = msgspec.structs.replace(
        made, metadata=msgspec.structs.replace(made.metadata, annotations=notes)
    )
    assert move_of(spoilt) is None


@pytest.mark.parametrize("lasts", [None, -(10**12), 10**12])
def test_however_long_it_claims_to_last_it_ends_within_a_day(lasts: int | None) -> None:
    made = move_of(lease(lease_duration_seconds=lasts))
    assert made is None or made.until <= NOW + seconds(86_400)


@pytest.mark.parametrize(
    ("quantity", "meant"),
    [
        ("1", 1.0),
        ("0.5", 0.5),
        ("500m", 0.5),
        ("1e3", 1000.0),
        ("2k", 2000.0),
        ("1Ki", 1024.0),
        ("1.5Gi", 1.5 * 2**30),
        ("100n", 1e-7),
        ("-1", -1.0),
        ("", 0.0),
        ("much", 0.0),
        ("1.2.3", 0.0),
        ("1Xi", 0.0),
    ],
)
def test_quantities(quantity: str, meant: float) -> None:
    assert number(quantity) == pytest.approx(meant)
