"""Reading single answers from the cluster."""

from typing import overload

from evenkeel.errors import NotFoundError
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Get, List, Listing
from evenkeel.ports import Cluster, Reply


@overload
def ask[T: KubernetesObject](cluster: Cluster, request: Get[T]) -> T: ...
@overload
def ask[T: KubernetesObject](cluster: Cluster, request: List[T]) -> Listing[T]: ...
def ask[T: KubernetesObject](cluster: Cluster, request: Get[T] | List[T]) -> T | Listing[T]:
    """Read one object or one listing. Raises the ClusterError that the reply carries."""
    (reply,) = cluster.perform([request])
    return answer(reply)  # type: ignore[return-value] # a reply's type follows its request's


def ask_for_one[T: KubernetesObject](cluster: Cluster, request: Get[T]) -> T | None:
    """Read one object; None if there is none. Raises other ClusterErrors."""
    try:
        return ask(cluster, request)
    except NotFoundError:
        return None


def answer(reply: Reply) -> KubernetesObject | Listing[KubernetesObject] | None:
    """The result of a reply. Raises the ClusterError that it carries."""
    if reply.error is not None:
        raise reply.error
    return reply.result
