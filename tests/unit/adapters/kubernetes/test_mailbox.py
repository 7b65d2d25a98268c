"""The mailbox of a session: arrivals that come shortly after each other are taken together."""

from datetime import timedelta

import pytest

from evenkeel.adapters.kubernetes.mailbox import GATHERING, Mailbox
from evenkeel.model.node import Node
from evenkeel.model.request import Get
from evenkeel.ports import Reply

FIRST, SECOND = Reply(Get(Node, "first")), Reply(Get(Node, "second"))
A_SECOND = timedelta(seconds=1)


def test_what_arrives_shortly_after_another_is_taken_with_it() -> None:
    rests: list[float] = []

    def rest(seconds: float) -> None:
        rests.append(seconds)
        mailbox.put(SECOND)

    mailbox = Mailbox(rest)
    mailbox.put(FIRST)
    assert mailbox.take(A_SECOND) == (FIRST, SECOND)
    assert rests == [GATHERING]


@pytest.mark.parametrize(
    ("arrived", "timeout"),
    [
        pytest.param([FIRST], timedelta(), id="the owner cannot wait"),
        pytest.param([], timedelta(microseconds=1), id="nothing has arrived"),
    ],
)
def test_nothing_else_is_waited_for_when(arrived: list[Reply], timeout: timedelta) -> None:
    mailbox = Mailbox(lambda _: pytest.fail("it rests"))
    for reply in arrived:
        mailbox.put(reply)
    assert list(mailbox.take(timeout)) == arrived
