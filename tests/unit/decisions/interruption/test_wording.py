"""How an interruption is told of."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.interruption import wording
from evenkeel.model.interruption import Dip, Interruption, Tally, Untold
from tests.kit.builders import NOW, seconds

ABOUT = Interruption(
    began_at=NOW,
    active_at=NOW + seconds(65),
    to_move=12,
    deadline=NOW + seconds(120),
    until=NOW + seconds(130),
    nodes=2,
    named=("ip-10-0-1-2.eu-central-1.compute.internal", "ip-10-0-3-4"),
)


def dip(name: str, lowest: int, wanted: int, available: int) -> Dip:
    return Dip(
        kind="Deployment",
        namespace="shop",
        name=name,
        lowest=lowest,
        wanted=wanted,
        available=available,
    )


def began(**changed: Any) -> str:
    about = msgspec.structs.replace(ABOUT, **changed)
    return wording.of(Untold(at=NOW, is_over=False, about=about), "prod", "act").text


def over(tally: Tally) -> str:
    about = msgspec.structs.replace(ABOUT, tallies={0: tally})
    return wording.of(Untold(at=NOW, is_over=True, about=about), "prod", "act").text


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (
            {},
            (
                "prod: an interruption began: 2 nodes (ip-10-0-1-2, ip-10-0-3-4) have 12 pods to"
                " move, the first node by 2026-11-21T06:02:00Z."
            ),
        ),
        (
            {"nodes": 1, "named": ("a",), "to_move": 1, "deadline": None},
            "prod: an interruption began: 1 node (a) has 1 pod to move.",
        ),
        (
            {"nodes": 30, "named": ("a", "b"), "deadline": None},
            "prod: an interruption began: 30 nodes (a, b and 28 more) have 12 pods to move.",
        ),
    ],
)
def test_one_that_begins(changed: dict[str, Any], text: str) -> None:
    assert began(**changed) == text


@pytest.mark.parametrize(
    ("tally", "text"),
    [
        (Tally(), "0 pods went, none late; no workload had fewer pods than wanted."),
        (
            Tally(pods=12),
            "12 pods went, none of them late; no workload had fewer pods than wanted.",
        ),
        (
            Tally(pods=1, late=1, below=1, worst=(dip("web", 1, 3, 3),)),
            "1 pod went, 1 of them late; 1 workload had fewer pods than wanted: shop/web 1 of 3.",
        ),
        (
            Tally(pods=9, below=3, at_zero=1, worst=(dip("a", 0, 2, 1), dip("b", 1, 3, 3))),
            (
                "9 pods went, none of them late; 3 workloads had fewer pods than wanted, 1 of them"
                " none: shop/a 0 of 2, now 1, shop/b 1 of 3 and 1 more."
            ),
        ),
    ],
)
def test_one_that_is_over(tally: Tally, text: str) -> None:
    begins = "prod: the interruption of 2026-11-21T06:00:00Z is over: 2 nodes"
    assert over(tally) == f"{begins} (ip-10-0-1-2, ip-10-0-3-4), {text}"


def test_in_observe_mode_it_says_that_nothing_is_done() -> None:
    told = wording.of(Untold(at=NOW, is_over=False, about=ABOUT), "prod", "observe")
    assert told.text.endswith(" Nothing is done about it: the mode is observe.")


def test_both_documents_have_the_same_id() -> None:
    documents = [
        wording.of(Untold(at=NOW, is_over=is_over, about=ABOUT), "prod", "act")
        for is_over in (False, True)
    ]
    assert {each.id for each in documents} == {"prod/2026-11-21T06:00:00.000000Z"}
    assert [each.phase for each in documents] == ["began", "over"]
    assert [each.pods for each in documents] == [12, 0]
    assert [each.ended_at for each in documents] == [None, NOW + seconds(65)]
