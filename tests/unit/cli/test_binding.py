from datetime import timedelta

import pytest

from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.node import Node, NodeMetadata, NodeSpec
from evenkeel.model.notice import Concern, Notice, NoticeKind
from evenkeel_cli import binding
from evenkeel_cli.binding import Wish
from evenkeel_cli.errors import BadInputError
from tests.kit.builders import NOW


def node(name: str, instance_id: str = "", *, spot: bool = True) -> Node:
    labels = {"karpenter.sh/capacity-type": "spot" if spot else "on-demand"}
    return Node(
        metadata=NodeMetadata(name=name, labels=labels),
        spec=NodeSpec(provider_id=f"aws:///eu-central-1a/{instance_id}"),
    )


def notice(instance_id: str) -> Notice:
    return Notice(
        kind=NoticeKind.INTERRUPTION,
        concerns=Concern.SPOT,
        event_id="e",
        instance_id=instance_id,
        time=NOW,
        deadline=NOW + timedelta(seconds=120),
    )


NODES = [node("base", "i-0", spot=False), node("a", "i-a"), node("b", "i-b"), node("c", "i-c")]
KNOWN, STRANGE, STRANGER = notice("i-a"), notice("i-x"), notice("i-y")


@pytest.mark.parametrize(
    ("notices", "wish", "bound"),
    [
        pytest.param([KNOWN], Wish({}), {}, id="an instance that is a node"),
        pytest.param([STRANGE], Wish({}), {"i-x": "a"}, id="a strange one gets a spot node"),
        pytest.param([STRANGE, STRANGE], Wish({}), {"i-x": "a"}, id="the same one twice"),
        pytest.param(
            [STRANGE, KNOWN, STRANGER], Wish({}), {"i-x": "b", "i-y": "c"}, id="not another's node"
        ),
        pytest.param(
            [STRANGE, STRANGER], Wish({"i-y": "a"}), {"i-y": "a", "i-x": "b"}, id="as wished"
        ),
        pytest.param([STRANGE], Wish({"i-x": "base"}), {"i-x": "base"}, id="even on-demand"),
        pytest.param([STRANGE], Wish({}, strict=True), {}, id="strictly not"),
    ],
)
def test_instances_are_bound_to_nodes(
    notices: list[Notice], wish: Wish, bound: dict[str, str]
) -> None:
    assert binding.bind(notices, NODES, wish, lend=True) == bound


def test_a_node_is_lent_that_other_labels_call_spot() -> None:
    life = Node(metadata=NodeMetadata(name="life", labels={"lifecycle": "spot"}))
    wish = Wish({}, labels=CapacityLabels(("lifecycle",)))
    assert binding.bind([STRANGE], [*NODES, life], wish, lend=True) == {"i-x": "life"}


def test_no_node_is_lent_when_the_cluster_is_real() -> None:
    wish = Wish({"i-y": "b"})

    assert binding.bind([STRANGE, STRANGER], NODES, wish, lend=False) == {"i-y": "b"}


def test_it_is_said_when_no_spot_node_is_left() -> None:
    with pytest.raises(BadInputError, match="no spot node is left for instance i-x: bind it"):
        binding.bind([STRANGE], NODES[:1], Wish({}), lend=True)


def test_a_node_that_is_not_there_is_bad_input() -> None:
    with pytest.raises(BadInputError, match="i-x=nowhere: there is no node nowhere: check the"):
        binding.bind([STRANGE], NODES, Wish({"i-x": "nowhere"}), lend=True)
    with pytest.raises(BadInputError, match=r"there is no node bas: did you mean base\?"):
        binding.bind([STRANGE], NODES, Wish({"i-x": "bas"}), lend=True)


def test_pairs_are_read_as_they_are_given() -> None:
    assert binding.parse(["i-x=a", "i-y=b", "i-x=a"]) == {"i-x": "a", "i-y": "b"}


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        (["i-x"], "should be INSTANCE=NODE"),
        (["=a"], "should be INSTANCE=NODE"),
        (["i-x="], "should be INSTANCE=NODE"),
        (["i-x=a", "i-x=b"], "binds i-x to two nodes"),
        (["i-x=a", "i-y=a"], "binds i-x and i-y to node a"),
    ],
)
def test_a_pair_that_makes_no_sense_is_bad_input(pairs: list[str], problem: str) -> None:
    with pytest.raises(BadInputError, match=problem):
        binding.parse(pairs)


def test_a_node_may_be_named_by_the_first_part_of_its_name() -> None:
    """The commands print no more of it than that."""
    nodes = [node("ip-10-0-0-1.internal"), node("ip-10-0-0-2.internal")]
    wish = Wish({"i-x": "ip-10-0-0-2"})
    assert binding.bind([STRANGE], nodes, wish, lend=True) == {"i-x": "ip-10-0-0-2.internal"}


@pytest.mark.parametrize(
    ("bound", "problem"),
    [
        ({"i-x": "a"}, "may be a.eu, a.us: give the whole name"),
        ({"i-x": "b", "i-y": "b.eu"}, "binds two instances to node b.eu"),
    ],
)
def test_a_short_name_has_to_mean_one_node_and_a_node_one_instance(
    bound: dict[str, str], problem: str
) -> None:
    nodes = [node("a.eu"), node("a.us"), node("b.eu")]
    with pytest.raises(BadInputError, match=problem):
        binding.bind([STRANGE], nodes, Wish(bound), lend=True)
