"""What helps where the scheduler has a node for no replacement."""

import pytest

from evenkeel.decisions.drain.remedies import LOOSER_RULES, ROOM, for_place

OTHERS = "2 node(s) didn't match Pod's node affinity/selector"


@pytest.mark.parametrize(
    ("refused", "remedy"),
    [
        ("0/3 nodes are available: 3 Insufficient cpu.", ROOM),
        ("0/3 nodes are available: 3 node(s) were unschedulable.", ROOM),
        (
            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
            LOOSER_RULES,
        ),
        (f"0/3 nodes are available: 1 node(s) had untolerated taint(s), {OTHERS}.", LOOSER_RULES),
        (f"0/3 nodes are available: 1 node(s) were unschedulable, {OTHERS}.", LOOSER_RULES),
        (f"0/3 nodes are available: 1 Insufficient cpu, {OTHERS}.", ROOM),
        ("no nodes available to schedule pods", ROOM),
        ("0/3 nodes are available: 3 Too many pods.", ROOM),
    ],
)
def test_free_room_helps_unless_no_open_node_has_what_the_pods_own_rules_ask_for(
    refused: str, remedy: str
) -> None:
    assert for_place(refused) == remedy
