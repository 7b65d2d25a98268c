"""The step that takes headroom away, of whatever form and for whatever kinds of nodes."""

from collections.abc import Sequence
from typing import Final

from evenkeel.model import names
from evenkeel_cli.headroom import printed
from evenkeel_cli.headroom.present import HEADROOM
from evenkeel_cli.install.objects import Objects
from evenkeel_cli.install.presence import Absent
from evenkeel_cli.manifests import Manifest

LABEL: Final = "app.kubernetes.io/name=evenkeel"
"""What all its objects have."""


class NoHeadroom:
    """None of its objects is in the cluster."""

    title = "headroom"

    def __init__(self, objects: Objects) -> None:
        """Its objects are found by their names, which are the longer ones for nodes of a kind."""
        self._objects = objects

    def look(self) -> Sequence[str]:
        """What is still there."""
        return self._absent().look()

    def do(self) -> None:
        """Delete it."""
        self._absent().do()

    def _absent(self) -> Absent:
        known = printed.of_all_forms()
        kinds = dict.fromkeys((each["apiVersion"], each["kind"]) for each in known)
        found = [
            each
            for api_version, kind in kinds
            if self._objects.serves(api_version, kind)
            for each in self._objects.every(api_version, kind, LABEL)
            if self._is_its(each)
        ]
        return Absent(self.title, self._objects, found)

    def _is_its(self, each: Manifest) -> bool:
        name: str = each["metadata"]["name"]
        where = each["metadata"].get("namespace", names.SYSTEM_NAMESPACE)
        return where == names.SYSTEM_NAMESPACE and name.startswith(HEADROOM)
