"""OpenKruise's CloneSets. They make their pods themselves, and need no ReplicaSets for it."""

from typing import ClassVar

from evenkeel.model.controllers.replicated import Replicated
from evenkeel.model.meta import Resource
from evenkeel.model.way import Way


class CloneSet(Replicated, frozen=True, kw_only=True):
    """A CloneSet.

    Its pods are evicted. Its controller would take one away by itself that has the label
    ``apps.kruise.io/specified-delete``, within ``maxUnavailable`` and, where ``maxSurge`` allows
    that, after another was made. But it asks no disruption budget, and deletes the pod's claims; a
    claim whose pod was evicted is the next pod's.
    https://github.com/openkruise/kruise/blob/v1.9.0/pkg/controller/cloneset/sync/cloneset_scale.go
    """

    resource: ClassVar = Resource(
        kind="CloneSet", group="apps.kruise.io", version="v1alpha1", short="clone"
    )

    way: ClassVar = Way.RATIONED
