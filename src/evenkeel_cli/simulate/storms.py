"""Which storm ``--storm`` names."""

from datetime import timedelta
from pathlib import Path
from typing import Final

from evenkeel_cli.errors import BadInputError
from evenkeel_sandbox.storms.shapes import Nodes, OnePool, Shape, Share
from evenkeel_sandbox.storms.trace import SAMPLES, Trace, TraceError
from evenkeel_sandbox.storms.weather import PoolTrace, Weather

FORMS: Final = "all, pool, share=30%, node=2 or trace=FILE"


def read(text: str, spread: timedelta) -> Shape:
    """The shape of the storms. Raises BadInputError."""
    name, _, value = text.partition("=")
    match name, value:
        case "all", "":
            return Share(1.0, spread)
        case "pool", "":
            return OnePool(spread)
        case "share", value if value.endswith("%") and _is_from_1(value[:-1], 100):
            return Share(int(value[:-1]) / 100, spread)
        case "node", value if _is_from_1(value, 100_000):
            return Nodes(int(value), spread)
        case "trace", value if value:
            try:
                return Trace.read(SAMPLES.get(value, Path(value)))
            except TraceError as error:
                there = (
                    "" if Path(value).exists() else f"; samples are {', '.join(sorted(SAMPLES))}"
                )
                raise BadInputError(f"{error}{there}") from None
    raise BadInputError(f"--storm {text}: is none of {FORMS}")


def weather(text: str, spread: timedelta) -> Weather | None:
    """Days of spot weather, if ``--storm`` names those: ``trace=`` and files of JSON, with commas.

    Raises BadInputError.
    """
    name, _, value = text.partition("=")
    files = value.split(",")
    if name != "trace" or not all(each.endswith(".json") for each in files):
        return None
    try:
        return Weather(tuple(PoolTrace.read(Path(each)) for each in files), spread)
    except TraceError as error:
        raise BadInputError(str(error)) from None


def _is_from_1(text: str, most: int) -> bool:
    return text.isascii() and text.isdigit() and 1 <= int(text) <= most
