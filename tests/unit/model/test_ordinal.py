"""Which of a StatefulSet's replicas a pod is, as its label or its name tells."""

import msgspec
import pytest

from evenkeel.model import names
from evenkeel.model.controllers.stateful_set import Ordinals
from evenkeel.model.ordinal import index_of, ordinal_of
from tests.kit.builders import pod, replica_set, stateful_set
from tests.unit.decisions.placement.pods import new_pod

DB = stateful_set("db")


@pytest.mark.parametrize(
    ("name", "label", "ordinal"),
    [
        ("db-12", None, 12),
        ("db-0", None, 0),
        ("db-x", "7", 7),
        ("db-3", "7", 7),
        ("db-3", "", None),
        ("db-3", "x", None),
        ("db-3", "-1", None),
        ("db-3", "٣", None),
        ("db-3", "9" * 11, None),
        ("db", None, None),
        ("db-x-12", None, None),
        ("other-1", None, None),
    ],
)
def test_the_label_tells_the_ordinal_and_without_it_the_name(
    name: str, label: str | None, ordinal: int | None
) -> None:
    labels = {} if label is None else {names.POD_INDEX: label}
    assert ordinal_of(pod(name, of=DB, labels=labels)) == ordinal
    assert ordinal_of(new_pod(DB, name=name, labels=labels)) == ordinal


def test_pods_of_others_have_none() -> None:
    assert ordinal_of(pod("web-abc-x7k2p", of=replica_set())) is None
    assert ordinal_of(pod("solo-1")) is None
    assert ordinal_of(new_pod()) is None


@pytest.mark.parametrize(
    ("name", "index"), [("db-3", 0), ("db-5", 2), ("db-2", None), ("db", None)]
)
def test_replicas_are_counted_from_the_first_ordinal(name: str, index: int | None) -> None:
    spec = msgspec.structs.replace(DB.spec, ordinals=Ordinals(start=3))
    assert index_of(pod(name, of=DB), msgspec.structs.replace(DB, spec=spec)) == index
