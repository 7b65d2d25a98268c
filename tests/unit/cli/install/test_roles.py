"""aws-auth: lines are added and taken away, and what others wrote stays as it is written."""

import pytest
import yaml

from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install.roles import added, removed

ARN = "arn:aws:iam::123456789012:role/evenkeel-prod-HandoverRole-1"
OURS = {ARN: "evenkeel-handover"}
LINE = f"- rolearn: {ARN}\n  username: evenkeel-handover\n  groups: [evenkeel-handover]\n"
NODES = """\
# the nodes' role; ask ops before you change it
- groups:
  - system:bootstrappers
  - system:nodes
  rolearn: arn:aws:iam::123456789012:role/nodes
  username: system:node:{{EC2PrivateDNSName}}
"""


@pytest.mark.parametrize("text", ["", "[]", "null", "[]\n", "# none yet"])
def test_the_first_line_stands_alone(text: str) -> None:
    assert added(text, OURS) == LINE
    assert removed(LINE) == ""


@pytest.mark.parametrize("text", [NODES, NODES.rstrip("\n")])
def test_a_line_is_added_behind_what_is_there(text: str) -> None:
    joined = added(text, OURS)
    assert joined == NODES + LINE
    assert removed(joined) == NODES


@pytest.mark.parametrize(
    "text",
    [
        "[{rolearn: a, groups: [b]}]",
        "  - rolearn: a\n    groups: [b]\n",
        "- rolearn: a\n  groups: [b]\n...\n",
    ],
)
def test_another_way_to_write_a_list_is_read_and_written_anew(text: str) -> None:
    others = [{"rolearn": "a", "groups": ["b"]}]
    joined = added(text, OURS)
    assert yaml.safe_load(joined) == [*others, *yaml.safe_load(LINE)]
    assert yaml.safe_load(removed(joined)) == others


def test_lines_that_were_written_otherwise_are_taken_away_too() -> None:
    by_hand = f"{NODES}- groups:\n  - evenkeel-handover\n  rolearn: {ARN}\n"
    assert yaml.safe_load(removed(by_hand)) == yaml.safe_load(NODES)


@pytest.mark.parametrize("text", ["a: b", "- just a text", "- [", "text"])
def test_what_is_no_list_of_roles_is_left_to_its_owner(text: str) -> None:
    with pytest.raises(UnmetError, match="mend it first"):
        added(text, OURS)
    with pytest.raises(UnmetError, match="mend it first"):
        removed(text)
