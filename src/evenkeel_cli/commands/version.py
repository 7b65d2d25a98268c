"""``evenkeel version``: which version this is, and what it is made of."""

import platform
import zipfile
from collections.abc import Iterator, Sequence
from email.message import Message
from email.parser import HeaderParser
from typing import ClassVar

import click

import evenkeel
from evenkeel_cli import options
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.command import Command
from evenkeel_cli.output import Item, Listing, Output
from evenkeel_hosting import files


class Component(Item, frozen=True, kw_only=True):
    """Something that runs: of this ``command``, or a library of the functions' ``layer``."""

    name: str
    version: str
    part: str
    licence: str


class ComponentList(Listing, frozen=True, kw_only=True):
    """What Evenkeel is made of, each with its version: what ``evenkeel version`` prints."""

    columns: ClassVar[Columns[Component]] = (
        Column("NAME", lambda each: each.name),
        Column("VERSION", lambda each: each.version),
        Column("PART", lambda each: each.part, wide=True),
        Column("LICENCE", lambda each: each.licence, wide=True),
    )

    items: Sequence[Component]


@click.command(cls=Command)
@options.output()
def version(output: Output) -> None:
    """Print the version of Evenkeel and of what it runs on.

    -o wide, json and yaml have the libraries of the functions' layer, too, with their licences.

    Examples:
        evenkeel version -o json
    """
    found = list(_of_command())
    if output.form != "table":
        found += _libraries()
    output.show(ComponentList(items=found))


def _of_command() -> Iterator[Component]:
    for name, told in (
        ("evenkeel", evenkeel.__version__),
        ("python", platform.python_version()),
        ("platform", f"{platform.system()} {platform.machine()}"),
    ):
        yield Component(name=name, version=told, part="command", licence="")


def _libraries() -> Iterator[Component]:
    """What the layer of this installation has, if it has one."""
    if not files.LAYER.exists():
        return
    with zipfile.ZipFile(files.LAYER) as layer:
        for name in sorted(layer.namelist()):
            if name.endswith(".dist-info/METADATA"):
                told = HeaderParser().parsestr(layer.read(name).decode())
                yield Component(
                    name=told["Name"],
                    version=told["Version"],
                    part="layer",
                    licence=_licence(told),
                )


def _licence(told: Message) -> str:
    """As a package says it: an SPDX expression, or the classifiers that were there before."""
    classifiers = (each.split(" :: ") for each in told.get_all("Classifier", ()))
    named = [parts[-1] for parts in classifiers if parts[0] == "License"]
    return told["License-Expression"] or ", ".join(named) or told["License"] or "not said"
