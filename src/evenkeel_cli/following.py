"""Following what a command shows: a picture on a terminal, elsewhere a line for each change."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, NoReturn, Protocol

import click
from rich.console import Group
from rich.live import Live
from rich.text import Text

from evenkeel.errors import ClusterError
from evenkeel.model.times import in_words
from evenkeel.ports import Clock
from evenkeel_cli import console
from evenkeel_cli.output import Listing, Output
from evenkeel_cli.visible import visible

BETWEEN: Final = timedelta(seconds=2)
REST: Final = 4
"""A pause is so many times as long as the look before it: an API server in a storm is busy."""

MARGIN: Final = 4
"""Lines besides rows and sentences: an empty one, titles, what was left out, and a note."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen at one look: what ``Output.show`` takes, and what there is to follow.

    ``headline`` is the whole in one line. ``told`` is what is said of each thing, by its name: it
    changes where something happened. ``gone`` is said of a thing that is not there any more.
    """

    listing: Listing
    headline: str
    told: Mapping[str, str]
    gone: str
    sentences: Sequence[str] = ()
    namespace: str = ""


def follow(output: Output, clock: Clock, look: Callable[[], Seen]) -> NoReturn:
    """Look again and again, until it is interrupted.

    Raises ClusterError where the first look fails; what a later one meets is noted, and it goes on.
    """
    began = clock.now()
    seen = look()
    with _shower(output) as shower:
        shower.show(seen, in_words(clock.now()))
        while True:
            took = max(timedelta(), clock.now() - began)
            clock.sleep(max(BETWEEN, REST * took))
            began = clock.now()
            try:
                shower.show(look(), in_words(clock.now()))
            except ClusterError as error:
                shower.note(f"nothing newer can be read: {error}")


class _Shower(Protocol):
    def show(self, seen: Seen, time: str) -> None:
        """Show what was seen."""

    def note(self, note: str) -> None:
        """Say what went wrong."""


@contextmanager
def _shower(output: Output) -> Iterator[_Shower]:
    if not output.is_for_people:
        yield _Documents(output=output)
    elif console.can_show_live(output.console):
        with Live(console=output.console, auto_refresh=False) as live:
            yield _Picture(output, live)
    else:
        yield _Lines()


@dataclass(slots=True)
class _Picture:
    """The whole, painted anew each time in the same place, as much of it as there is room for."""

    output: Output
    live: Live
    shown: Sequence[Text] = ()

    def show(self, seen: Seen, time: str) -> None:
        out, listing = self.output.console, seen.listing
        top = self._wrapped(f"{time}  {seen.headline}", "bold")
        top += [line for each in seen.sentences for line in self._wrapped(each)][: out.height // 3]
        titles, *rows = self.output.rows(
            listing.columns, listing.items, out.width, namespace=seen.namespace
        )
        room = max(1, out.height - len(top) - MARGIN)
        more = [Text(f"and {len(rows) - room} more", "dim")] if len(rows) > room else []
        self.shown = [*top, Text(""), *([titles, *rows[:room]] if rows else []), *more]
        self._paint(self.shown)

    def note(self, note: str) -> None:
        self._paint([*self._wrapped(note, "red"), *self.shown])

    def _wrapped(self, text: str, style: str = "") -> list[Text]:
        return [Text(line, style) for line in console.wrapped(self.output.console, text, 2)]

    def _paint(self, lines: Sequence[Text]) -> None:
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        self.live.update(Group(*lines), refresh=True)


@dataclass(slots=True)
class _Lines:
    """What is new, a line for each thing."""

    told: Mapping[str, str] = field(default_factory=dict)
    noted: str = ""

    def show(self, seen: Seen, time: str) -> None:
        told = seen.told
        gone = {name: seen.gone for name in self.told if name not in told}
        for name, text in {**told, **gone}.items():
            if self.told.get(name) != text:
                click.echo(visible(f"{time} {name}: {text}"))
        self.told, self.noted = told, ""

    def note(self, note: str) -> None:
        if note != self.noted:
            click.echo(f"note: {visible(note)}", err=True)
        self.noted = note


@dataclass(slots=True)
class _Documents(_Lines):
    """The whole as data, each time that something is new."""

    output: Output = field(kw_only=True)

    def show(self, seen: Seen, time: str) -> None:
        del time
        if seen.told != self.told:
            self.output.dump(seen.listing, is_one_of_many=True)
        self.told, self.noted = seen.told, ""
