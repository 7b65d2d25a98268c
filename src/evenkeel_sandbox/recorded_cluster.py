"""A cluster as a snapshot shows it. Nothing happens in it, and nothing can be changed."""

from collections import defaultdict
from collections.abc import Sequence

from evenkeel.errors import ClusterError, ForbiddenError, NotFoundError
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Get, List, Listing, Request
from evenkeel.ports import Reply, Session
from evenkeel_sandbox.simulator.api.objects import Key, Obj, key_of
from evenkeel_sandbox.simulator.api.watch import in_order
from evenkeel_sandbox.simulator.session import Result, decode, filter_of, listing
from evenkeel_sandbox.snapshot_cluster import missing_namespaces

REVISION = 1


class RecordedCluster:
    """Implements the port Cluster for those who read: each list is answered from what is there."""

    def __init__(self, objects: Sequence[Obj]) -> None:
        """These objects are all that there are, but for the namespaces that they are in."""
        self._objects: defaultdict[str, dict[Key, Obj]] = defaultdict(dict)
        for each in (*missing_namespaces(objects), *objects):
            self._objects[each["kind"]][key_of(each)] = each

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Answer reads; all else is forbidden."""
        return [self._reply(request) for request in requests]

    def session(self) -> Session:
        """Raises ForbiddenError: there is nothing to watch."""
        raise ForbiddenError("nothing happens in a snapshot: there is nothing to watch")

    def _reply(self, request: Request) -> Reply:
        try:
            return Reply(request, self._read(request))
        except ClusterError as error:
            return Reply(request, error=error)

    def _read(self, request: Request) -> Result:
        match request:
            case Get():
                wanted: type[KubernetesObject] = request.kind
                key = request.namespace, request.name
                found = self._objects[wanted.resource.kind].get(key)
                if found is None:
                    raise NotFoundError(f"no {wanted.resource.plural} {request.name}")
                return decode(found, wanted)
            case List():
                return self._list(request)
        raise ForbiddenError("a snapshot cannot be changed")

    def _list(self, request: List[KubernetesObject]) -> Listing[KubernetesObject]:
        chosen = filter_of(request.selection)
        objects = in_order(filter(chosen.matches, self._objects[chosen.kind].values()))
        return listing(request, objects, REVISION)
