"""The one storm that ``--storm`` and ``--seed`` name, and the shapes of storms."""

from collections.abc import Sequence
from datetime import timedelta

import click
import pytest
from click.testing import CliRunner

from evenkeel_cli.errors import BadInputError
from evenkeel_cli.simulate import one, storms
from evenkeel_cli.simulate.one import OneStorm
from evenkeel_sandbox.storms.shapes import Nodes, OnePool, Shape, Share

SPREAD = timedelta(seconds=10)


@click.command()
@one.option
def told(storm: OneStorm | None) -> None:
    click.echo(repr(storm))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], None),
        (["--storm", "all"], OneStorm("all", 0)),
        (["--seed", "0"], OneStorm("pool", 0)),
        (["--seed", "7"], OneStorm("pool", 7)),
        (["--storm", "share=30%", "--seed", "3"], OneStorm("share=30%", 3)),
    ],
)
def test_a_storm_is_named_by_its_shape_or_its_seed_or_both(
    arguments: Sequence[str], named: OneStorm | None
) -> None:
    done = CliRunner().invoke(told, arguments)
    assert done.exit_code == 0
    assert done.stdout.strip() == repr(named)


def test_no_seed_is_below_zero() -> None:
    assert CliRunner().invoke(told, ["--seed", "-1"]).exit_code == 2


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("all", Share(1.0, SPREAD)),
        ("pool", OnePool(SPREAD)),
        ("share=30%", Share(0.3, SPREAD)),
        ("share=1%", Share(0.01, SPREAD)),
        ("share=100%", Share(1.0, SPREAD)),
        ("node=1", Nodes(1, SPREAD)),
        ("node=100000", Nodes(100_000, SPREAD)),
    ],
)
def test_a_shape_is_read_of_its_words(text: str, shape: Shape) -> None:
    assert storms.read(text, SPREAD) == shape


@pytest.mark.parametrize(
    "text", ["", "some", "all=1", "pool=1", "share=0%", "share=101%", "share=30", "node=0"]
)
def test_what_is_no_shape_is_bad_input(text: str) -> None:
    with pytest.raises(BadInputError, match="is none of all, pool"):
        storms.read(text, SPREAD)
