"""The rights of the functions' groups, the FlowSchema, and what holds the roles to them."""

from collections.abc import Sequence

from evenkeel_cli import manifests
from evenkeel_cli.install.policies import Policies
from evenkeel_cli.manifests import Manifest


def wanted(*, gate: bool, policies: Policies = Policies.NONE) -> Sequence[Manifest]:
    """The objects, in the order in which they can be made. Raises UnmetError."""
    of_gate = manifests.documents("gate") if gate else ()
    return [*manifests.documents("rbac"), *of_gate, *policies.documents]
