"""What a command shows, and in which format: one place for all commands.

A result is a ``Listing``: frozen items of one type. People get a row for each; programs get
``{apiVersion, kind, items}``, as they know it of kubectl, as JSON or YAML. docs/reference has
the schema of every kind, made of the same types.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal

import click
import msgspec
import yaml
from rich.console import Console
from rich.text import Text

from evenkeel.model.meta import Reference
from evenkeel_cli import columns, words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.console import wrapped
from evenkeel_cli.lines import Line

TABLES: Final = ("table", "wide")
FORMATS: Final = (*TABLES, "json", "yaml")


class Item(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing of a listing."""


class ObjectItem(Item, frozen=True, kw_only=True):
    """One thing of a listing, which is about a Kubernetes object."""

    subject: Reference


class Listing(Item, frozen=True, kw_only=True, tag_field="kind", tag=True):
    """Everything that a command found, of one kind, which is the class's name.

    ``columns`` are how people see the items. ``summary`` are the sentences that they read beside
    them.
    """

    columns: ClassVar[Columns[Any]] = ()

    api_version: Literal["evenkeel.dev/v1"] = "evenkeel.dev/v1"
    items: Sequence[Any]
    summary: Sequence[str] = ()


NAMESPACE: Final = Column[ObjectItem]("NAMESPACE", lambda item: item.subject.namespace)
WORKLOAD: Final = Column[ObjectItem]("WORKLOAD", lambda item: words.short_name(item.subject))


@dataclass(frozen=True, slots=True)
class Output:
    """Where a result goes, and the format that ``-o`` names.

    Tables and lines are for people, and not printed where a program wants data; what is dumped is
    for programs alone, with the sentences that were said before.
    """

    form: str
    console: Console
    said: list[str] = field(default_factory=list)

    @property
    def is_for_people(self) -> bool:
        """Whether tables and sentences are wanted, and not data."""
        return self.form in TABLES

    def show(
        self,
        listing: Listing,
        sentences: Iterable[str] = (),
        *,
        headline: str = "",
        rows: Sequence[Any] | None = None,
        namespace: str = "",
    ) -> None:
        """Print a result: a headline, a table and sentences below it, or data.

        Each item has a row, unless ``rows`` are others; without one there is no table.
        ``namespace``: the only one that is shown, which then has no column.
        """
        rows = listing.items if rows is None else rows
        above = [headline] if headline else []
        for sentence in above:
            self.say(sentence, hang=2)
        if rows:
            if above:
                self.say()
            self.table(listing.columns, rows, namespace=namespace)
        for i, sentence in enumerate(sentences):
            if i == 0 and rows:
                self.say()
            self.say(sentence, hang=2)
        self.dump(listing, of_all=not namespace)

    def table[T](self, shown: Columns[T], things: Iterable[T], *, namespace: str = "") -> None:
        """Print a row for each thing."""
        if not self.is_for_people:
            return
        has_edge = self.console.is_terminal and self.form != "wide"
        room = self.console.width if has_edge else None
        for line in self.rows(shown, things, room, namespace=namespace):
            self.console.print(line, soft_wrap=True)

    def rows[T](
        self, shown: Columns[T], things: Iterable[T], room: int | None, *, namespace: str = ""
    ) -> Sequence[Text]:
        """The titles and a line for each thing, in ``room`` cells; None: as many as they take."""
        chosen = [column for column in shown if self.form == "wide" or not column.wide]
        if namespace:
            chosen = [column for column in chosen if column is not NAMESPACE]
        return columns.lines(chosen, things, room)

    def say(self, sentence: str = "", style: str = "", *, hang: int = 0) -> None:
        """Print a sentence, on a terminal over as many lines as it takes.

        The lines after the first begin ``hang`` blanks further right. A program reads it in the
        result that is dumped next.
        """
        if not self.is_for_people:
            self.said.extend(filter(None, [sentence]))
        else:
            for line in wrapped(self.console, sentence, hang):
                self.console.print(line, style=style, soft_wrap=True)

    def tell(self, line: Line) -> None:
        """Print what happens while it does."""
        if self.is_for_people:
            line.show(self.console)

    def dump(self, listing: Listing, *, is_one_of_many: bool = False, of_all: bool = False) -> None:
        """Print a result as data, or the names of its objects.

        ``is_one_of_many``: others follow, of JSON one a line. ``of_all``: its objects may be of
        several namespaces, which their names begin with then.
        """
        whole = msgspec.structs.replace(listing, summary=[*listing.summary, *self.said])
        self.said.clear()
        data = {"apiVersion": listing.api_version, **msgspec.to_builtins(whole)}
        match self.form:
            case "json":
                click.echo(json.dumps(data, indent=None if is_one_of_many else 2))
            case "yaml":
                if is_one_of_many:
                    click.echo("---")
                click.echo(yaml.safe_dump(data, sort_keys=False, allow_unicode=True).rstrip())
            case "name":
                for item in listing.items:
                    where = f"{item.subject.namespace}/" if of_all else ""
                    click.echo(f"{where.lstrip('/')}{words.resource_name(item.subject)}")


def schema(listings: Iterable[type[Listing]]) -> dict[str, Any]:
    """The JSON schema of all these kinds."""
    references, components = msgspec.json.schema_components(listings)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What the commands of evenkeel print with -o json",
        "oneOf": list(references),
        "$defs": components,
    }
