"""The pool that a node belongs to."""

from collections.abc import Mapping

import pytest

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.pool import Pool, pools_of
from tests import builders

M5: Mapping[str, str] = {names.INSTANCE_TYPE: "m5.large", names.ZONE: "eu-central-1a"}


def test_only_spot_nodes_have_a_pool() -> None:
    nodes = [builders.node("s", labels=M5), builders.node("o", spot=False, labels=M5)]
    assert pools_of(nodes, WELL_KNOWN) == {"s": Pool("m5.large", "eu-central-1a"), "o": None}


def test_nodes_without_the_labels_are_one_pool() -> None:
    found = pools_of([builders.node("a"), builders.node("b")], WELL_KNOWN)
    assert found == {"a": Pool(), "b": Pool()}


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        (Pool("m5.large", "eu-central-1a"), "m5.large in eu-central-1a"),
        (Pool(), "no type in no zone"),
    ],
)
def test_a_pool_is_called_by_type_and_zone(pool: Pool, said: str) -> None:
    assert str(pool) == said
