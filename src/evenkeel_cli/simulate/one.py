"""One storm over a copy of a cluster, as ``--storm`` and ``--seed`` name it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from typing import Any

import click

from evenkeel.model.capacity import CapacityLabels
from evenkeel_cli.simulate import storms, trial
from evenkeel_cli.simulate.trial import Objects, Policy, Setting


@dataclass(frozen=True, slots=True)
class OneStorm:
    """The storm of this shape, see ``storms.FORMS``, that ``seed`` makes."""

    shape: str = "pool"
    seed: int = 0

    def __str__(self) -> str:
        """How to call it in a sentence."""
        return f"a simulated storm ({self.shape}, seed {self.seed})"

    def over(self, objects: Objects, labels: CapacityLabels) -> Setting:
        """It, with Evenkeel at work in the cluster of these objects. Raises BadInputError."""
        shape = storms.read(self.shape, timedelta(seconds=trial.SPREAD))
        setting = Setting(shape=shape, policy=Policy.EVENKEEL, labels=labels)
        trial.check(objects, setting)
        return setting


def option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--storm`` and ``--seed``; the command is called with a ``storm``, None where neither is."""
    usual = OneStorm()

    @wraps(function)
    def command(*, shape: str | None, seed: int | None, **others: Any) -> Any:
        is_named = shape is not None or seed is not None
        named = OneStorm(usual.shape if shape is None else shape, seed or usual.seed)
        return function(storm=named if is_named else None, **others)

    decorated = click.option(
        "--seed",
        metavar="N",
        type=click.IntRange(0),
        help=f"Which of the storms of this shape. [default: {usual.seed}]",
    )(command)
    return click.option(
        "--storm",
        "shape",
        metavar="STORM",
        help=f"The storm that is simulated: {storms.FORMS}. [default: {usual.shape}]",
    )(decorated)
