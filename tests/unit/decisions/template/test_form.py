"""Which form keeps a floor, whatever the order in which the scheduler places the pods."""

from random import Random

import pytest

from evenkeel.decisions.template.form import Form, form_of, least_on_demand, serves
from evenkeel.model.floor import read
from evenkeel.model.template import Rather

SPOT, ON_DEMAND, ONLY = Rather.SPOT, Rather.ON_DEMAND, Rather.ONLY_ON_DEMAND
FLOORS = ("none", "all", "majority", "1", "2", "3", "7", "30%", "50%", "51%", "80%", "99%")


@pytest.mark.parametrize(
    ("floor", "size", "form"),
    [
        (0, 5, Form(SPOT)),
        (1, 5, Form(SPOT, 3)),
        (2, 5, Form(SPOT, 1)),
        (2, 4, Form(SPOT, 1)),
        (3, 5, Form(ON_DEMAND, 1)),
        (2, 3, Form(ON_DEMAND, 1)),
        (3, 4, Form(ONLY)),
        (4, 5, Form(ONLY)),
        (5, 5, Form(ONLY)),
        (1, 1, Form(ONLY)),
        (1, 2, Form(SPOT, 1)),
        (0, 0, Form(SPOT)),
    ],
)
def test_each_floor_has_its_form(floor: int, size: int, form: Form) -> None:
    assert form_of(floor, size) == form


@pytest.mark.parametrize(("floor", "size"), [(1, 1), (2, 3), (3, 4)])
def test_a_default_floor_is_preferred_alone(floor: int, size: int) -> None:
    assert form_of(floor, size, is_asked=False) == Form(ON_DEMAND)
    assert form_of(0, size, is_asked=False) == Form(SPOT)


def place(form: Form, size: int, chance: Random, whims: float) -> int:
    """How many of ``size`` pods the scheduler puts on on-demand, where both types have room.

    It goes by the spread, and by the preference but for its ``whims``.
    """
    counts = {SPOT: 0, ON_DEMAND: 0}
    for _ in range(size):
        open_to = [
            where
            for where in counts
            if not form.skew or counts[where] + 1 - min(counts.values()) <= form.skew
        ]
        assert open_to, "no pod waits while both types take pods"
        liked = form.rather if form.rather in open_to else open_to[0]
        counts[liked if chance.random() >= whims else chance.choice(open_to)] += 1
    return counts[ON_DEMAND]


@pytest.mark.parametrize("text", FLOORS)
def test_every_size_has_its_floor(text: str) -> None:
    chance = Random(text)  # noqa: S311 - a play of dice
    policy = read(text)
    assert policy is not None
    for size in range(51):
        floor = policy.of(size)
        form = form_of(floor, size)
        assert least_on_demand(form, size) >= floor
        if form.rather is ONLY:
            continue
        assert place(form, size, chance, whims=0) == floor
        for _ in range(5):
            placed = place(form, size, chance, whims=0.5)
            assert placed >= floor - (form.rather is ON_DEMAND)


@pytest.mark.parametrize("text", FLOORS)
def test_a_form_that_serves_another_size_keeps_its_floor_too(text: str) -> None:
    policy = read(text)
    assert policy is not None
    for made_for in range(1, 31):
        form = form_of(policy.of(made_for), made_for)
        assert serves(form, policy.of(made_for), made_for)
        for size in range(1, 31):
            floor = policy.of(size)
            if serves(form, floor, size):
                assert least_on_demand(form, size) >= floor


def test_a_size_that_goes_up_and_down_settles_on_one_form() -> None:
    policy = read("30%")
    assert policy is not None
    form, rollouts = form_of(policy.of(10), 10), 0
    for size in [*range(10, 21), *range(20, 9, -1)] * 5:
        if not serves(form, policy.of(size), size):
            form, rollouts = form_of(policy.of(size), size), rollouts + 1
    assert rollouts <= 3


@pytest.mark.parametrize(
    ("form", "size", "least"),
    [
        (Form(SPOT), 5, 0),
        (Form(SPOT, 3), 5, 1),
        (Form(SPOT, 9), 5, 0),
        (Form(SPOT, 1), 4, 2),
        (Form(ON_DEMAND, 1), 5, 3),
        (Form(ONLY), 5, 5),
    ],
)
def test_so_many_are_on_on_demand_at_least(form: Form, size: int, least: int) -> None:
    assert least_on_demand(form, size) == least


@pytest.mark.parametrize(
    ("form", "floor", "size", "does"),
    [
        (Form(SPOT, 1), 0, 4, True),
        (Form(SPOT, 1), 0, 6, False),
        (Form(SPOT, 2), 2, 12, True),
        (Form(SPOT, 2), 1, 12, False),
        (Form(SPOT), 1, 10, False),
    ],
    ids=["two more", "three more", "a quarter more", "more than a quarter more", "too few"],
)
def test_a_form_serves_that_keeps_the_floor_and_not_many_more(
    form: Form, floor: int, size: int, *, does: bool
) -> None:
    assert serves(form, floor, size) is does
