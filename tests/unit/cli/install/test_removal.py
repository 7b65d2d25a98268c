"""``evenkeel uninstall`` deletes all that the folders of manifests/ can bring into a cluster."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import yaml

from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.settings import Mode
from evenkeel_cli import manifests
from evenkeel_cli.headroom.printed import pause_pods
from evenkeel_cli.headroom.sizing import Kept, Kind, Room, Size
from evenkeel_cli.install import plan
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.headroom import NoHeadroom
from evenkeel_cli.install.objects import title
from evenkeel_cli.install.presence import Absent
from evenkeel_cli.install.traces import NOTES, Lifted
from evenkeel_cli.manifests import Manifest
from evenkeel_hosting.files import ROOT
from tests.kit.manifests import resource
from tests.stack.cloudformation import load
from tests.unit.cli.install import keeping
from tests.unit.cli.install.keeping import Account, a_site

FOLDER = ROOT / "manifests"


class Cluster(keeping.Kept):
    """Objects that can be deleted."""

    def delete(self, manifest: Manifest) -> None:
        self.objects.pop(title(manifest), None)

    def every(self, api_version: str, kind: str, labels: str) -> Iterator[Manifest]:
        key, _, value = labels.partition("=")
        for each in list(self.objects.values()):
            is_meant = each["metadata"].get("labels", {}).get(key) == value
            if (each["apiVersion"], each["kind"]) == (api_version, kind) and is_meant:
                yield each


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
    arm = Kept(Room(1, Size(100, 0)), Kind(NewPodSpec(node_selector={names.ARCH: "arm64"})))
    made += [*pause_pods(arm, WELL_KNOWN), *pause_pods(arm, WELL_KNOWN, reserved=True)]
    kept = Cluster({title(each): dict(each) for each in made})
    assert len(kept.objects) > 40

    for step in plan.removal(a_site(kept, Account()), timedelta()):
        if isinstance(step, Absent | NoHeadroom):
            step.do()

    assert kept.objects == {}


class Held(keeping.Kept):
    """A cluster with a node that is held, and none that is marked."""

    def every(self, _api_version: str, kind: str, labels: str) -> Iterator[Manifest]:
        if (kind, labels) == ("Node", names.SEAT):
            yield resource("Node", "n1")


def test_a_node_that_is_held_is_let_go() -> None:
    step = Lifted(a_site(Held(), Account()))
    assert step.look() == ["lift marks and holds, and give released pods back: n1"]


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
