"""What storms came to, beside what a plain eviction of the same nodes left."""

from io import StringIO

import pytest
from rich.console import Console

from evenkeel.model.meta import Reference
from evenkeel_cli.output import Output
from evenkeel_cli.simulate.listing import listing, result, show
from evenkeel_cli.simulate.results import Dip, Trial

WEB = Reference(kind="Deployment", namespace="shop", name="web")


def trials(*lowest: int | None) -> list[Trial]:
    """Storms in which a workload of three had so few pods at least; None: it kept all."""
    return [
        Trial(nodes=1, made=0, lost=0, dips=[] if each is None else [_dip(each)]) for each in lowest
    ]


def _dip(lowest: int) -> Dip:
    return Dip(
        workload=WEB,
        before=3,
        lowest=lowest,
        below=1,
        at_zero=0,
        recovered=True,
        because="no room",
        pool="",
    )


@pytest.mark.parametrize(
    ("own", "plain", "fewest", "worse"),
    [
        ([2, 2], [0, 2], 0, 0),
        ([2, None], [2, 1], 1, 0),
        ([1, 2], [2, 0], 0, 1),
        ([1, 2], [None, None], 3, 2),
    ],
)
def test_each_storm_is_held_to_the_same_one_with_a_plain_eviction(
    own: list[int | None], plain: list[int | None], fewest: int, worse: int
) -> None:
    (risk,) = listing(trials(*own), [], trials(*plain)).items
    assert (risk.plain, risk.worse) == (fewest, worse)


@pytest.mark.parametrize("left", [1, 3])
def test_that_it_left_more_is_said_as_an_error_of_evenkeel(
    left: int,
) -> None:
    own, printed = trials(2), StringIO()
    policies = [result("evenkeel", own, None)]
    output = Output("table", Console(file=printed, width=200))
    show(output, listing(own, policies, trials(left)), 1, ["Dollars."])
    said = "A plain eviction left more, an error of Evenkeel: deployment shop/web (1 storm)."
    assert (said in printed.getvalue()) == (left > 2)


def test_without_a_plain_eviction_nothing_is_told_of_it() -> None:
    (risk,) = listing(trials(2), []).items
    assert (risk.plain, risk.worse) == (None, None)
