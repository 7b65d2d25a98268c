"""What is said of prices: where they are from, and what they do not tell."""

from collections.abc import Iterator
from typing import Final

from evenkeel_cli import words
from evenkeel_cli.decisions.prices import HOURS, Gaps, Prices

MOST_TYPES: Final = 5
"""So many types without a price are named."""


def told(prices: Prices, gaps: Gaps) -> Iterator[str]:
    """What the dollars of a table mean, what is assumed, and what is not known."""
    sources = ", else ".join(
        f"{each.source} ({each.date})" if each.date else each.source for each in prices.sources
    )
    yield (
        f"US dollars a month of {HOURS:.0f} hours, for instances alone. On-demand prices are of"
        f" {prices.region}: {sources}."
    )
    if gaps.elsewhere:
        there = ", ".join(gaps.elsewhere)
        yield f"The nodes are in {there}, where prices differ: name them with --prices FILE."
    if gaps.assumed:
        nodes = words.counted(gaps.assumed, "node")
        yield (
            f"Spot is taken as a third of on-demand for {nodes}, {gaps.assumed_spot} of them spot,"
            " which is a rule of thumb: name your pools' shares with --prices FILE."
        )
    if gaps.unknown:
        named = [each or "no type" for each in sorted(gaps.unknown)]
        more = ["..."] if len(named) > MOST_TYPES else []
        nodes = words.counted(sum(gaps.unknown.values()), "node has", "nodes have")
        yield (
            f"{nodes} no known price ({', '.join([*named[:MOST_TYPES], *more])}): what runs there"
            " is not counted. Name it with --prices FILE."
        )
