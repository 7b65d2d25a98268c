"""When a plan changes although nothing else does."""

from datetime import datetime

import pytest

from evenkeel.model.times import earliest, next_due
from tests.kit.builders import NOW, seconds

SOON, LATER, PAST = NOW + seconds(1), NOW + seconds(2), NOW - seconds(1)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ((), None),
        ((None, None), None),
        ((LATER, None, SOON), SOON),
        ((LATER, PAST), PAST),
    ],
)
def test_the_earliest_of_the_times_that_are_set_counts(
    times: tuple[datetime | None, ...], expected: datetime | None
) -> None:
    assert earliest(*times) == expected


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ((), None),
        ((None, LATER, SOON), SOON),
        ((PAST, LATER), LATER),
        ((NOW, PAST, None), None),
    ],
)
def test_a_time_is_not_waited_for_when_it_has_passed(
    times: tuple[datetime | None, ...], expected: datetime | None
) -> None:
    assert next_due(NOW, *times) == expected
