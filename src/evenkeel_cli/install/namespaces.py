"""The labels by which namespaces take part in placement, restore and the gate."""

from collections.abc import Sequence
from typing import Final

from evenkeel.model import names
from evenkeel_cli.install.objects import Objects, named
from evenkeel_cli.manifests import Manifest

LABELS: Final = (names.MANAGED, names.GATE)
ON: Final = "true"


class Labelled:
    """These namespaces take part."""

    title = "namespaces"

    def __init__(self, objects: Objects, wanted: Sequence[str]) -> None:
        """Those that are labelled already stay so."""
        self._objects = objects
        self._wanted = wanted

    def look(self) -> Sequence[str]:
        """The namespaces that lack a label."""
        return [
            f"label {name}: {', '.join(f'{label}={ON}' for label in missing)}"
            for name in self._wanted
            if (missing := _without(self._objects.find(_namespace(name))))
        ]

    def do(self) -> None:
        """Label them."""
        for name in self._wanted:
            labels = dict.fromkeys(LABELS, ON)
            self._objects.patch(_namespace(name), {"metadata": {"labels": labels}})


class Unlabelled:
    """No namespace takes part."""

    title = "namespaces"

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def look(self) -> Sequence[str]:
        """The namespaces with a label."""
        found = self._labelled()
        return [f"take Evenkeel's labels off {', '.join(found)}"] if found else []

    def do(self) -> None:
        """Take the labels off."""
        for name in self._labelled():
            labels = dict.fromkeys(LABELS)
            self._objects.patch(_namespace(name), {"metadata": {"labels": labels}})

    def _labelled(self) -> Sequence[str]:
        found = (self._objects.every("v1", "Namespace", label) for label in LABELS)
        return sorted({each["metadata"]["name"] for every in found for each in every})


def _namespace(name: str) -> Manifest:
    return named("v1", "Namespace", name)


def _without(found: Manifest | None) -> Sequence[str]:
    have = found["metadata"].get("labels", {}) if found is not None else {}
    return [label for label in LABELS if have.get(label) != ON]
