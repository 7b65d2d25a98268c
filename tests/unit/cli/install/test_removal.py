"""``evenkeel uninstall`` deletes all that the folders of manifests/ can bring into a cluster."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import yaml

from evenkeel.model import names
from evenkeel.settings import Mode
from evenkeel_cli import manifests
from evenkeel_cli.install import plan
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.objects import title
from evenkeel_cli.install.presence import Absent
from evenkeel_cli.install.traces import NOTES
from evenkeel_cli.manifests import Manifest
from evenkeel_hosting.files import ROOT
from tests.stack.cloudformation import load
from tests.unit.cli.install.keeping import Account, Kept, a_site

FOLDER = ROOT / "manifests"


class Cluster(Kept):
    """Objects that can be deleted."""

    def delete(self, manifest: Manifest) -> None:
        self.objects.pop(title(manifest), None)


def documents(folder: Path) -> Iterator[Manifest]:
    """What ``kubectl apply`` of this folder makes, but for what a kustomization generates."""
    if (folder / "kustomization.yaml").exists():
        yield from manifests.documents(str(folder.relative_to(FOLDER)))
    else:
        for file in folder.glob("*.yaml"):
            yield from yaml.safe_load_all(file.read_text())


def test_no_object_of_any_folder_is_left() -> None:
    folders = {file.parent for file in FOLDER.rglob("*.yaml")}
    made = [each for folder in folders for each in documents(folder)]
    kept = Cluster({title(each): dict(each) for each in made})
    assert len(kept.objects) > 40

    for step in plan.removal(a_site(kept, Account()), timedelta()):
        if isinstance(step, Absent):
            step.do()

    assert kept.objects == {}


def test_an_installation_without_a_webhook_leaves_no_right_of_the_gate() -> None:
    granted = manifests.documents("gate")
    kept = Cluster({title(each): dict(each) for each in granted})

    site, build = a_site(kept, Account()), Build(load(), {})
    for step in plan.installation(site, Choices(Mode.ACT, Webhook.NONE), build):
        if isinstance(step, Absent):
            step.do()

    assert kept.objects == {}


def test_each_note_on_a_workload_is_taken_off() -> None:
    """But for what restore wrote into a template, which another step asks the owner to take off."""
    on_workloads = ("Deployment", "ReplicaSet", "StatefulSet", "Job")
    page = (ROOT / "docs/reference/annotations.md").read_text()
    _, written, _ = re.split("## What Evenkeel (?:writes|honours of others)", page)
    rows = re.findall(
        r"^\| `(evenkeel\.dev/[a-z-]+)` .*annotation on ([A-Za-z, ]+)", written, re.MULTILINE
    )
    noted = {key for key, where in rows if where.strip().split(", ")[0] in on_workloads}
    assert noted - {names.TEMPLATE} == set(NOTES)
