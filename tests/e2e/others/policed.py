"""Deployments whose releases policies do not let happen, each in a way of its own."""

from collections.abc import Sequence

from tests.e2e.harness import Site
from tests.kit.manifests import Manifest
from tests.kit.policies import needs_mutating, refusing, serves_mutating, undoing

UNDONE = {"undone": "labels", "spoilt": "annotations"}
"""What of their releases is put back."""

REFUSED = ("invalid", "forbidden", *UNDONE)
"""Refused with 422, which a policy without a reason answers; with 403; undone in part."""


def policies(site: Site) -> Sequence[Sequence[Manifest]]:
    """What keeps their releases from happening; nothing undoes any before 1.36."""
    name = site.namespace
    found = [
        refusing(name, "invalid", "invalid"),
        refusing(name, "forbidden", "forbidden", reason="Forbidden"),
    ]
    if serves_mutating(site.control_plane):
        found += [undoing(name, app, app, part) for app, part in UNDONE.items()]
    return found


def needs_policy(site: Site, app: str) -> None:
    """Skip a test about a Deployment whose policy this API server does not know."""
    if app in UNDONE:
        needs_mutating(site.control_plane)
