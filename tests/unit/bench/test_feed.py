"""Which notices are sent when."""

from collections.abc import Sequence
from typing import Any

import pytest

from bench.storm.aws import Aws
from bench.storm.feed import Dispatch, Feed, evenly


class Sqs:
    """Takes batches and numbers their messages."""

    def __init__(self) -> None:
        self.batches: list[Sequence[str]] = []

    def send_message_batch(self, **call: Any) -> dict[str, Any]:
        self.batches.append([entry["MessageBody"] for entry in call["Entries"]])
        number = len(self.batches)
        return {
            "Successful": [{"MessageId": f"{number}-{entry['Id']}"} for entry in call["Entries"]]
        }


def sent_by(plan: Sequence[Dispatch], nodes: dict[str, str]) -> tuple[Feed, Sqs]:
    sqs = Sqs()
    feed = Feed(Aws("", "notices", "wake-ups", None, sqs), plan, nodes)
    feed.run()
    return feed, sqs


def test_notices_come_at_once_or_evenly() -> None:
    assert evenly(["a", "b"], 0.0) == [Dispatch(0.0, "a"), Dispatch(0.0, "b")]
    assert [each.after for each in evenly(["a", "b", "c"], 60.0)] == [0.0, 30.0, 60.0]
    assert evenly(["a"], 60.0) == [Dispatch(0.0, "a")]


def test_a_burst_goes_out_ten_at_a_time() -> None:
    ids = [f"i-{number}" for number in range(12)]
    feed, sqs = sent_by(evenly(ids, 0.0), {each: f"node-{each}" for each in ids})
    assert [len(batch) for batch in sqs.batches] == [10, 2]
    assert len(set(feed.sent)) == 12
    assert set(feed.noticed) == {f"node-{each}" for each in ids}


def test_what_is_spread_goes_out_one_by_one() -> None:
    _, sqs = sent_by(evenly(["a", "b"], 0.001), {})
    assert [len(batch) for batch in sqs.batches] == [1, 1]


def test_only_nodes_of_this_cluster_are_noticed_and_the_first_notice_counts() -> None:
    feed, _ = sent_by(evenly(["a", "foreign", "a"], 0.02), {"a": "node-a"})
    assert list(feed.noticed) == ["node-a"]
    later, _ = sent_by(evenly(["a"], 0.0), {"a": "node-a"})
    assert feed.noticed["node-a"] + 0.01 <= later.noticed["node-a"]


def test_every_notice_is_a_warning_of_its_instance() -> None:
    _, sqs = sent_by(evenly(["i-1"], 0.0), {})
    assert '"instance-id": "i-1"' in sqs.batches[0][0]
    assert "Interruption Warning" in sqs.batches[0][0]


@pytest.mark.parametrize("count", [0, 1])
def test_a_plan_of_nothing_or_one_is_no_spread(count: int) -> None:
    assert [each.after for each in evenly(["a"] * count, 10.0)] == [0.0] * count
