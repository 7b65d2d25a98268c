"""The prices that the command comes with, and a file of one's own beside or instead of them."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from evenkeel_cli.completing import values
from evenkeel_cli.decisions.prices import WINDOWS, Prices, PriceSource
from evenkeel_cli.errors import BadInputError

NEEDED: Final = "see docs/cost.md for what belongs into it"

TYPE: Final = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+")
POOL: Final = re.compile(rf"(?:{TYPE.pattern}|\*)/(?:[a-z0-9-]+|\*)")


class PriceFile(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """What a file of prices holds.

    ``on_demand``: US dollars an hour by instance type, or ``TYPE/windows``. ``spot``: what spot
    costs of that, from 0 to 1, by ``TYPE/ZONE``; either may be ``*``. ``region``: empty means that
    of the built-in prices.
    """

    region: str = ""
    date: str = ""
    source: str = ""
    on_demand: Mapping[str, float] = {}
    spot: Mapping[str, float] = {}

    @property
    def wrong(self) -> Iterator[str]:
        """What is not as it should be."""
        for type_, price in self.on_demand.items():
            if not TYPE.fullmatch(type_.removesuffix(f"/{WINDOWS}")):
                yield f"onDemand names {type_!r}, which is no instance type such as m7g.large"
            if not (0 < price < math.inf):
                yield f"onDemand of {type_} is {price}, and not some US dollars an hour"
        for pool, share in self.spot.items():
            if not POOL.fullmatch(pool):
                yield f"spot names {pool!r}, which is no TYPE/ZONE such as m7g.large/* or */*"
            if not 0 < share <= 1:
                yield f"spot of {pool} is {share}, and not a share from 0 to 1, such as 0.35"


def option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--prices``: a file of one's own."""
    return click.option(
        "--prices",
        metavar="FILE",
        shell_complete=values.files,
        help="Prices and spot's shares of one's own, as JSON.",
    )(function)


def read(name: str | None) -> Prices:
    """The built-in prices, with those of a file. Raises BadInputError.

    A file of the same region, or without one, adds to the built-in prices. One of another region
    stands for itself.
    """
    package = resources.files("evenkeel_cli.cost")
    built_in = msgspec.json.decode(package.joinpath("prices.json").read_bytes(), type=PriceFile)
    ours = _source(built_in)
    if name is None:
        return Prices(sources=[ours], on_demand=built_in.on_demand, spot=built_in.spot)
    own = _parsed(name)
    theirs = PriceSource(
        region=own.region or ours.region, date=own.date, source=own.source or Path(name).name
    )
    if theirs.region != ours.region:
        if not own.on_demand:
            raise BadInputError(
                f"{name}: has no onDemand prices, and the built-in ones are of {ours.region}:"
                f" name those of {theirs.region}"
            )
        return Prices(sources=[theirs], on_demand=own.on_demand, spot=own.spot)
    return Prices(
        sources=[theirs, ours],
        on_demand={**built_in.on_demand, **own.on_demand},
        spot={**built_in.spot, **own.spot},
    )


def _parsed(name: str) -> PriceFile:
    try:
        found = msgspec.json.decode(Path(name).read_bytes(), type=PriceFile)
    except OSError as error:
        raise BadInputError(f"{name}: cannot be read ({error.strerror}): {NEEDED}") from None
    except msgspec.ValidationError as error:
        raise BadInputError(f"{name}: holds no prices ({error}): {NEEDED}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInputError(f"{name}: is no JSON ({error}): {NEEDED}") from None
    for wrong in found.wrong:
        raise BadInputError(f"{name}: {wrong}: {NEEDED}")
    return found


def _source(file: PriceFile) -> PriceSource:
    return PriceSource(region=file.region, date=file.date, source=file.source)
