"""What helps where the scheduler has a node for no replacement."""

import pytest

from evenkeel.decisions.drain.remedies import LOOSER_RULES, ROOM, for_place


@pytest.mark.parametrize(
    ("refused", "remedy"),
    [
        ("0/3 nodes are available: 3 Insufficient cpu.", ROOM),
        ("0/3 nodes are available: 3 node(s) were unschedulable.", ROOM),
        (
            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
            LOOSER_RULES,
        ),
    ],
)
def test_free_room_helps_unless_all_nodes_fail_by_the_pods_own_rules(
    refused: str, remedy: str
) -> None:
    assert for_place(refused) == remedy
