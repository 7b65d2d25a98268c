"""``evenkeel lint``: are Evenkeel's labels and annotations in these manifests as they should be?"""

import click

from evenkeel_cli import capacity, words
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.lint import files, manifests
from evenkeel_cli.lint.balancing import Surroundings
from evenkeel_cli.lint.checks import check
from evenkeel_cli.lint.manifests import Manifest
from evenkeel_cli.visible import visible


@click.command(cls=Command)
@click.argument("names", metavar="FILE...", nargs=-1, required=True, shell_complete=values.files)
@click.option("-R", "--recursive", is_flag=True, help="Of a folder, its folders as well.")
@click.option(
    "--policy", "by_policy", is_flag=True, help="Also find what the admission policy cannot tell."
)
def lint(*, names: tuple[str, ...], recursive: bool, by_policy: bool) -> int:
    """Check Evenkeel's labels and annotations in manifests, without a cluster.

    FILE holds YAML or JSON; - is standard input. Of a folder the files are read that end in .json,
    .yaml or .yml. Each finding is a line, FILE:LINE: kind/name: what to write. Exit code 1 if there
    is one. A remark, which goes to standard error, is about a hard topology spread that a drain may
    leave uneven, about an annotation on an object that Evenkeel does not read: it counts if a
    controller copies it to the ReplicaSet, StatefulSet or Job that it makes, about a floor that
    is more than all replicas, or about pods that a load balancer has as targets and that are Ready
    before it knows them, or may end while it sends to them (docs/balancers.md).

    Templates are checked when they are rendered.

    Examples:
        evenkeel lint deploy/
        kustomize build . | evenkeel lint -
    """
    found, labels = 0, capacity.labels()
    objects: list[tuple[str, Manifest]] = []
    unread: list[str] = []
    for file in (file for name in names for file in files.named(name, recursive=recursive)):
        try:
            objects += ((file, each) for each in manifests.parse(file, files.read(file)))
        except UnmetError as error:
            unread.append(str(error))
    around = Surroundings(manifest for _, manifest in objects)
    for file, manifest in objects:
        findings = check(manifest, by_policy=by_policy, labels=labels)
        for finding in (*findings, *around.remarks(manifest)):
            found += not finding.is_remark
            text = f"{file}:{finding.line}: {manifest}: {finding.message}"
            click.echo(visible(text), err=finding.is_remark)
    if unread:
        raise UnmetError("; ".join(unread))
    if not objects:
        raise UnmetError(f"there is no object in {' '.join(names)}: name files of manifests")
    sum_up = f"{words.counted(found, 'finding')} in {words.counted(len(objects), 'object')}"
    click.echo(sum_up, err=True)
    return 1 if found else 0
