"""What has a load balancer send requests to the pods of Services: ingresses, routes, bindings.

AWS' load balancers have nodes or pods as their targets, and each kind says which in its own way
(``to_pods``). One whose targets are nodes knows nothing of pods.
https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/
"""

from collections.abc import Iterator
from typing import ClassVar, Final

from evenkeel.model import names
from evenkeel.model.meta import ApiStruct, KubernetesObject, Resource

IP: Final = "ip"
"""The type of targets that are pods, by their addresses."""


class _Named(ApiStruct, frozen=True, kw_only=True):
    """A reference to a Service of the same namespace, by its name."""

    name: str = ""


class _Backend(ApiStruct, frozen=True, kw_only=True):
    """Where an Ingress sends requests."""

    service: _Named = _Named()


class _Path(ApiStruct, frozen=True, kw_only=True):
    """Where an Ingress sends requests for one path."""

    backend: _Backend = _Backend()


class _Http(ApiStruct, frozen=True, kw_only=True):
    """The paths of one host."""

    paths: tuple[_Path, ...] = ()


class _IngressRule(ApiStruct, frozen=True, kw_only=True):
    """A host of an Ingress."""

    http: _Http = _Http()


class _IngressSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of an Ingress's spec that Evenkeel reads."""

    default_backend: _Backend = _Backend()
    rules: tuple[_IngressRule, ...] = ()


class Ingress(KubernetesObject, frozen=True, kw_only=True):
    """An Ingress."""

    resource: ClassVar = Resource(kind="Ingress", group="networking.k8s.io", plural="ingresses")

    spec: _IngressSpec = _IngressSpec()

    @property
    def to_pods(self) -> bool:
        """Whether its load balancer's targets are pods."""
        return self.metadata.annotations.get(names.ALB_TARGETS) == IP

    @property
    def services(self) -> Iterator[str]:
        """The names of the Services that it leads to."""
        yield self.spec.default_backend.service.name
        for rule in self.spec.rules:
            for path in rule.http.paths:
                yield path.backend.service.name


class _RouteRule(ApiStruct, frozen=True, kw_only=True):
    """Where a route sends some of its requests."""

    backend_refs: tuple[_Named, ...] = ()


class _RouteSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a route's spec that Evenkeel reads."""

    rules: tuple[_RouteRule, ...] = ()


class HTTPRoute(KubernetesObject, frozen=True, kw_only=True):
    """A route of the Gateway API."""

    resource: ClassVar = Resource(kind="HTTPRoute", group="gateway.networking.k8s.io")
    to_pods: ClassVar = False

    spec: _RouteSpec = _RouteSpec()

    @property
    def services(self) -> Iterator[str]:
        """The names of the Services that it leads to, if they are in its namespace."""
        return (each.name for rule in self.spec.rules for each in rule.backend_refs)


class _BindingSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a binding's spec that Evenkeel reads."""

    service_ref: _Named = _Named()
    target_type: str = ""


class TargetGroupBinding(KubernetesObject, frozen=True, kw_only=True):
    """What registers a Service's pods with a load balancer of AWS.

    https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/targetgroupbinding/spec/
    """

    resource: ClassVar = Resource(
        kind="TargetGroupBinding", group="elbv2.k8s.aws", version="v1beta1"
    )

    spec: _BindingSpec = _BindingSpec()

    @property
    def to_pods(self) -> bool:
        """Whether its load balancer's targets are pods."""
        return self.spec.target_type == IP

    @property
    def services(self) -> Iterator[str]:
        """The name of the Service whose pods it registers."""
        yield self.spec.service_ref.name


type Leading = Ingress | HTTPRoute | TargetGroupBinding

LEADING: Final = (Ingress, HTTPRoute, TargetGroupBinding)
"""The kinds that lead to Services. A cluster may have none, or not let them be read."""
