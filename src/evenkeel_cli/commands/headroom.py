"""``evenkeel headroom``: what keeps room free on on-demand nodes."""

import json
from collections.abc import Sequence
from typing import Final

import click
import yaml

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.restore.snapshot import Snapshot, Terms
from evenkeel.flows.reads import ask
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model.node import Node
from evenkeel.model.quantity import number
from evenkeel.model.request import List, Selection
from evenkeel_cli import console, options
from evenkeel_cli.command import Command
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.headroom import printed, sizing
from evenkeel_cli.headroom.present import CapacityBuffer
from evenkeel_cli.headroom.sizing import Kept, Room
from evenkeel_cli.install.objects import Objects
from evenkeel_cli.manifests import Manifest
from evenkeel_cli.reading import reading
from evenkeel_cli.source import Source
from evenkeel_cli.targets import Target

KIND: Final = CapacityBuffer.resource
VERSIONS: Final = (KIND.version, *KIND.earlier)
NONE: Final = "none"
SINGLES: Final = "singles"
POOL: Final = "pool"


@click.command(cls=Command)
@options.source
@click.option(
    "--for",
    "whose",
    type=click.Choice([SINGLES, POOL]),
    help=f"Whose pods are to find room.  [default: {SINGLES}]",
)
@click.option(
    "--reserved",
    is_flag=True,
    help="Keep it on nodes that only pods of single replicas tolerate: see docs/headroom.md.",
)
@click.option("--replicas", type=click.IntRange(1), metavar="N", help="So many placeholders.")
@click.option("--cpu", metavar="QUANTITY", help="What each of them asks for, such as 500m.")
@click.option("--memory", metavar="QUANTITY", help="What each of them asks for, such as 1Gi.")
@click.option(
    "--buffer",
    type=click.Choice([*VERSIONS, NONE]),
    help="The version of CapacityBuffer, or none for pause pods; else what the cluster serves.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="How to print the manifests.",
)
def headroom(  # noqa: PLR0913 - one for each option
    *,
    source: Source,
    whose: str | None,
    reserved: bool,
    replicas: int | None,
    cpu: str | None,
    memory: str | None,
    buffer: str | None,
    output: str,
) -> None:
    """Print manifests that keep room free on on-demand nodes, for kubectl apply -f -.

    The room is kept by placeholders, each as large as the largest pod that may need one. By default
    they are for the Deployments and StatefulSets of one replica that are on spot or may go there:
    nothing else serves while such a pod waits for a node. Every pod that waits may take it, the
    first one first. --for pool keeps room for all pods of the largest spot pool, a type in a zone,
    so that they need not compete. --replicas, --cpu and --memory say the room instead.

    Pods that need nodes of a kind, by a selector, affinity or a device, have placeholders of their
    own there, with their rules.

    --reserved keeps the room for single replicas alone: on nodes with the taint and the label
    evenkeel.dev/headroom, for those of the largest pool.

    Where the cluster serves CapacityBuffer that is a PodTemplate and a buffer, which the autoscaler
    has to heed: evenkeel doctor says whether it does. Elsewhere, and for a snapshot, it is a
    Deployment of pause pods whose priority is below all others.

    Examples:
        evenkeel headroom | kubectl apply -f -
        evenkeel headroom --for pool --buffer none
        evenkeel headroom --reserved
        evenkeel headroom --replicas 4 --cpu 500m --memory 1Gi
    """
    told = _told(whose, replicas, cpu, memory)
    if reserved and whose == POOL:
        raise BadInputError("--reserved is for single replicas: leave --for pool away")
    labels = source.labels()
    with reading(source) as cluster:
        labels = labels.among(ask(cluster, List(Selection(Node), fresh=False)).items)
        found = read(cluster, SystemClock(), Terms(), Scope(capacity_labels=labels))
        rooms = [Kept(told)] if told else _needed(found, whose or SINGLES, reserved=reserved)
    if buffer is None:
        buffer = NONE if source.real is None else _served(source.real)
    documents = list[Manifest]()
    for kept in rooms:
        if buffer == NONE:
            made = printed.pause_pods(kept, labels, reserved=reserved)
        else:
            made = printed.buffer(buffer, kept, labels, reserved=reserved)
        documents += [each for each in made if each not in documents]
    if output == "json":
        click.echo(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}, indent=2))
    else:
        click.echo(yaml.safe_dump_all(documents, sort_keys=False), nl=False)
    console.note("; ".join(map(str, rooms)))


def _told(
    whose: str | None, replicas: int | None, cpu: str | None, memory: str | None
) -> Room | None:
    """The room that was named; None where none was. Raises BadInputError."""
    if (replicas, cpu, memory) == (None, None, None):
        return None
    if whose is not None:
        raise BadInputError("--for and a size contradict each other: keep one of them")
    if replicas is None or cpu is None or memory is None:
        raise BadInputError("--replicas, --cpu and --memory go together: name all three")
    size = sizing.size_of({"cpu": number(cpu), "memory": number(memory)})
    if min(size) <= 0:
        raise BadInputError("--cpu and --memory are quantities, such as 500m and 1Gi")
    return Room(replicas, size)


def _needed(found: Snapshot, whose: str, *, reserved: bool) -> Sequence[Kept]:
    """Raises UnmetError where nothing is needed."""
    if reserved:
        pool = sizing.of_largest_pool(found, singles=True)
        need = pool[1] if pool is not None else sizing.Need.of(())
        none = "no single replica in a managed namespace that asks for CPU or memory is on spot"
    elif whose == SINGLES:
        need = sizing.of_singles(found)
        none = "no single replica that asks for CPU or memory is on spot, or may go there"
    else:
        pool = sizing.of_largest_pool(found)
        need = pool[1] if pool is not None else sizing.Need.of(())
        none = "no pod that asks for CPU or memory, and that is replaced elsewhere, is on spot"
    beside = f" ({need.beside})" if need.others else ""
    if not need.kept:
        raise UnmetError(f"{none}{beside}: name the room by --replicas, --cpu and --memory")
    if need.others:
        console.note(need.beside)
    return need.kept


def _served(target: Target) -> str:
    """The newest version of CapacityBuffer that the cluster serves, by its discovery."""
    with target.connect() as opened:
        objects = Objects(opened.transport, SystemClock())
        served = (v for v in VERSIONS if objects.serves(f"{KIND.group}/{v}", KIND.kind))
        return next(served, NONE)
