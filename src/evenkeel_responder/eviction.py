"""Evictions of lifecycle.k8s.io/v1alpha1, as far as a responder reads them.

Kubernetes' evictionrequest-controller makes one for each pod that EvictionRequests are about, and
calls its responders one after the other. Types and validation are in k8s.io/api and
k8s.io/kubernetes/pkg/apis/lifecycle, v1.37.2; the controller was first seen in v1.38.0-beta.0.
https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4563-eviction-request-api
"""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Final

from evenkeel.model import names
from evenkeel.model.meta import ApiStruct, KubernetesObject, Resource
from evenkeel.model.request import Selection

NAME: Final = names.HANDOVER
"""Evenkeel's name as a responder. An Eviction of which it is one has a label with this key."""


class State(StrEnum):
    """How far a responder is; the controller says so."""

    INACTIVE = "Inactive"
    ACTIVE = "Active"
    INTERRUPTED = "Interrupted"
    CANCELED = "Canceled"
    COMPLETED = "Completed"


class PodReference(ApiStruct, frozen=True, kw_only=True):
    """A pod of the same namespace."""

    name: str
    uid: str


class Target(ApiStruct, frozen=True, kw_only=True):
    """What is to be evicted. Pods are all that v1alpha1 knows."""

    pod: PodReference | None = None


class EvictionSpec(ApiStruct, frozen=True, kw_only=True):
    """The spec of an Eviction."""

    target: Target = Target()


class Requester(ApiStruct, frozen=True, kw_only=True):
    """Who asks; the intent is Eviction or Withdrawn."""

    name: str
    intent: str = ""


class TargetResponder(ApiStruct, frozen=True, kw_only=True):
    """A responder, in the state that the controller gives it."""

    name: str
    state: str = ""


class ResponderStatus(ApiStruct, frozen=True, kw_only=True):
    """What a responder says of itself; the controller sets its start. Times in whole seconds."""

    name: str
    start_time: datetime | None = None
    heartbeat_time: datetime | None = None
    expected_completion_time: datetime | None = None
    completion_time: datetime | None = None
    message: str = ""


class EvictionStatus(ApiStruct, frozen=True, kw_only=True):
    """The status of an Eviction."""

    requesters: tuple[Requester, ...] = ()
    target_responders: tuple[TargetResponder, ...] = ()
    responders: tuple[ResponderStatus, ...] = ()


class Eviction(KubernetesObject, frozen=True, kw_only=True):
    """The eviction of one pod, and how far it is."""

    resource: ClassVar = Resource(kind="Eviction", group="lifecycle.k8s.io", version="v1alpha1")

    spec: EvictionSpec = EvictionSpec()
    status: EvictionStatus = EvictionStatus()

    @property
    def asked_by(self) -> str:
        """Those whose EvictionRequests stand, in words."""
        standing = (each.name for each in self.status.requesters if each.intent == "Eviction")
        return ", ".join(sorted(standing))

    @property
    def state(self) -> str:
        """Evenkeel's state; empty where it is no responder, or the controller has not come."""
        found = (each.state for each in self.status.target_responders if each.name == NAME)
        return next(found, "")


EVICTIONS: Final = Selection(Eviction, labels=NAME)
"""All of which Evenkeel is a responder."""
