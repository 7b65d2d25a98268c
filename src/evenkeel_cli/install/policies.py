"""Whether the API server holds the roles to what Evenkeel writes."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Self

from evenkeel_cli import manifests
from evenkeel_cli.install.objects import Objects
from evenkeel_cli.manifests import Manifest


class Policies(StrEnum):
    """What becomes of a role's write that Evenkeel does not make: noted, refused, or neither."""

    AUDIT = "audit"
    DENY = "deny"
    NONE = "none"

    @property
    def documents(self) -> Sequence[Manifest]:
        """The objects that see to that."""
        return [] if self is Policies.NONE else manifests.policies(self.capitalize())

    @classmethod
    def found(cls, objects: Objects) -> Self:
        """How it is in the cluster. Raises ClusterError."""
        bindings = [each for each in manifests.policies() if each["kind"] == manifests.BINDING]
        found = [binding for each in bindings if (binding := objects.find(each)) is not None]
        if not found:
            return cls.NONE
        denied = all("Deny" in each["spec"]["validationActions"] for each in found)
        return cls.DENY if denied else cls.AUDIT
