"""``evenkeel version``: which version this is."""

import platform

import click

import evenkeel
from evenkeel_cli import options, tables


@click.command(short_help="Print the version.")
@options.output("table", "json", "yaml")
def version(output: str) -> None:
    """Print the version of Evenkeel and of what it runs on."""
    facts = {
        "evenkeel": evenkeel.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    if output == "table":
        for name, value in facts.items():
            click.echo(f"{name} {value}")
    else:
        tables.dump(facts, output)
