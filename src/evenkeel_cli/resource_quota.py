"""ResourceQuotas: which the functions do not read, for a refusal says all that they need."""

from typing import ClassVar

from evenkeel.model.meta import ApiStruct, KubernetesObject, Resource


class ResourceQuotaStatus(ApiStruct, frozen=True, kw_only=True):
    """The limits of a namespace and how much of each is used, as Kubernetes quantities."""

    hard: dict[str, str] = {}
    used: dict[str, str] = {}


class ResourceQuota(KubernetesObject, frozen=True, kw_only=True):
    """A ResourceQuota."""

    resource: ClassVar = Resource(kind="ResourceQuota")

    status: ResourceQuotaStatus = ResourceQuotaStatus()
