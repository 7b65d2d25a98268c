"""PersistentVolumes, of a snapshot: the simulated scheduler puts pods where theirs are."""

from typing import ClassVar

from evenkeel.model.affinity import NodeSelector
from evenkeel.model.meta import ApiStruct, KubernetesObject, Resource


class VolumeNodeAffinity(ApiStruct, frozen=True, kw_only=True):
    """The nodes that can mount a volume; without it every node can."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a volume's spec that matters to where pods may go."""

    node_affinity: VolumeNodeAffinity | None = None


class PersistentVolume(KubernetesObject, frozen=True, kw_only=True):
    """A PersistentVolume."""

    resource: ClassVar = Resource(
        group="",
        version="v1",
        plural="persistentvolumes",
        kind="PersistentVolume",
        namespaced=False,
    )

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
