"""``evenkeel version``: which version this is."""

import platform
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import HeaderParser

import click

import evenkeel
from evenkeel_cli import options, tables
from evenkeel_cli.command import Command
from evenkeel_hosting import files


@click.command(cls=Command)
@options.formats("table", "json", "yaml")
def version(output: str) -> None:
    """Print the version of Evenkeel and of what it runs on.

    -o json has the libraries of the functions' layer, too, each with its version and licence.

    Examples:
        evenkeel version -o json
    """
    facts = {
        "evenkeel": evenkeel.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    if output == "table":
        for name, value in facts.items():
            click.echo(f"{name} {value}")
    else:
        tables.dump({**facts, "layer": list(_libraries())}, output)


def _libraries() -> Iterator[dict[str, str]]:
    """What the layer of this installation has, if it has one."""
    if not files.LAYER.exists():
        return
    with zipfile.ZipFile(files.LAYER) as layer:
        for name in sorted(layer.namelist()):
            if name.endswith(".dist-info/METADATA"):
                told = HeaderParser().parsestr(layer.read(name).decode())
                yield {"name": told["Name"], "version": told["Version"], "licence": _licence(told)}


def _licence(told: Message) -> str:
    """As a package says it: an SPDX expression, or the classifiers that were there before."""
    classifiers = (each.split(" :: ") for each in told.get_all("Classifier", ()))
    named = [parts[-1] for parts in classifiers if parts[0] == "License"]
    return told["License-Expression"] or ", ".join(named) or told["License"] or "not said"
