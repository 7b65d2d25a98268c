"""``evenkeel scheduler-config``: the scheduler's configuration with the profile ``evenkeel``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import yaml

from evenkeel_cli import capacity, schedulers, webhooks
from evenkeel_cli.command import Command
from evenkeel_cli.errors import BadInputError


@click.command("scheduler-config", cls=Command)
@click.option("--url", metavar="URL", help="Where serve --extender answers: https://HOST/v1/TOKEN.")
@click.option(
    "--certificate-authority",
    "ca",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The authority of its certificate, PEM; without it the scheduler's own are trusted.",
)
def scheduler_config(*, url: str | None, ca: Path | None) -> None:
    """Print a KubeSchedulerConfiguration with the profile "evenkeel", which prefers spot.

    Pods choose it by their schedulerName. With --url the scheduler asks the extender, too, about
    every pod that it schedules, by any profile. The URL holds the token: everybody who may read
    the configuration can call the webhook.
    The labels that tell the capacity type are those of EVENKEEL_CAPACITY_LABELS.

    Examples:
        evenkeel scheduler-config > scheduler.yaml
    """
    found: Mapping[str, Any] = schedulers.configuration(capacity.labels())
    if url is not None:
        found = schedulers.with_extender(found, url, webhooks.authority_in(ca))
    elif ca is not None:
        raise BadInputError("--certificate-authority goes with --url: without it nobody is called")
    click.echo(yaml.dump(found, Dumper=_Plain, sort_keys=False), nl=False)


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice."""

    def ignore_aliases(self, data: object) -> bool:
        """Whether no alias is written for it."""
        del data
        return True
