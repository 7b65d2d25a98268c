"""The simulated cluster: an API server and all that acts on it, on one clock."""

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from evenkeel.errors import InvalidError
from evenkeel.model import names
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.names import FIELD_MANAGER, is_path_segment
from evenkeel.model.request import Create, Delete, Evict, Get, List, Listing, Patch, Request
from evenkeel.ports import Reply
from evenkeel_sandbox.simulator.api.admission import Policy
from evenkeel_sandbox.simulator.api.eviction import evict
from evenkeel_sandbox.simulator.api.objects import Key, Obj, is_true, stamp
from evenkeel_sandbox.simulator.api.resources import kind_of, manifest
from evenkeel_sandbox.simulator.api.server import ApiServer
from evenkeel_sandbox.simulator.api.store import Store
from evenkeel_sandbox.simulator.api.watch import WatchHub, in_order
from evenkeel_sandbox.simulator.api.webhooks import CONFIGURATION, Client, Webhook, configuration
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.controllers.daemonset import DaemonSetController
from evenkeel_sandbox.simulator.controllers.deployment import DeploymentController
from evenkeel_sandbox.simulator.controllers.disruption import DisruptionController
from evenkeel_sandbox.simulator.controllers.garbage import GarbageCollector
from evenkeel_sandbox.simulator.controllers.job import JobController
from evenkeel_sandbox.simulator.controllers.nodes import NodeLifecycle
from evenkeel_sandbox.simulator.controllers.podgc import PodGarbageCollector
from evenkeel_sandbox.simulator.controllers.quota import QuotaController
from evenkeel_sandbox.simulator.controllers.replicaset import ReplicaSetController
from evenkeel_sandbox.simulator.controllers.statefulset import StatefulSetController
from evenkeel_sandbox.simulator.controllers.taints import TaintEviction
from evenkeel_sandbox.simulator.controllers.work import Controller
from evenkeel_sandbox.simulator.kubelet import Kubelets, ready_status
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.simulator.placement import Clause, Room
from evenkeel_sandbox.simulator.scheduler import Scheduler
from evenkeel_sandbox.simulator.session import Result, SimulatedSession, decode, filter_of, listing
from evenkeel_sandbox.simulator.world import World

type Interceptor = Callable[[Request, Callable[[], Result]], Result]
"""Stands between a client and the server: may answer, raise, or call on to the server."""

CONTROLLERS: Sequence[type[Controller]] = (
    DeploymentController,
    ReplicaSetController,
    StatefulSetController,
    JobController,
    DaemonSetController,
    DisruptionController,
    QuotaController,
    GarbageCollector,
    NodeLifecycle,
    TaintEviction,
    PodGarbageCollector,
)
PATIENCE = timedelta(hours=1)
FIRST_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


class SimulatedCluster:
    """Implements the port Cluster, and lets people set scenes up and spoil them."""

    def __init__(self, clock: SimulatedClock, options: SimulatorOptions | None = None) -> None:
        """An empty cluster whose time is the clock's."""
        self.options = options or SimulatorOptions()
        self.clock = clock
        self._interceptors: list[Interceptor] = []
        self._next_turn: datetime = clock.now()
        rng = random.Random(self.options.seed)
        store = Store(clock, self.options.history)
        self.server = ApiServer(clock, store, rng)
        stale = self.options.staleness
        self._hub = WatchHub(clock, store, self.options.watch_latency, stale)
        self._reply_rng = random.Random(f"{stale.seed}/replies")
        world = World(clock, self.server, self.options, rng)
        self._kubelets = Kubelets(world)
        self._scheduler = Scheduler(world)
        self._controllers = [controller(world) for controller in CONTROLLERS]
        for namespace in FIRST_NAMESPACES:
            self._make_namespace(namespace)

    # The port.

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Carry out requests, several at once; time passes until all have their reply."""
        session = self.session()
        replies: dict[int, Reply] = {}
        for position, request in enumerate(requests):

            def answer(reply: Reply, position: int = position) -> None:
                replies[position] = reply

            session.send(request, answer)
        session.wait_for_replies(PATIENCE)
        return [replies[position] for position in range(len(requests))]

    def session(self) -> SimulatedSession:
        """Open a session."""
        return SimulatedSession(self.clock, self, self._hub)

    # What a controller manager's flags say.

    def limit_controllers(self, qps: float | None, burst: int) -> None:
        """From now on each controller may make so many requests a second; None: any number."""
        for controller in self._controllers:
            controller.limit(qps, burst)

    # What sessions need.

    @property
    def capacity(self) -> int:
        """How many requests of one session are carried out at once."""
        return self.options.capacity

    def arrival(self) -> timedelta:
        """How long from now until a request that is sent now is carried out."""
        now = self.clock.now()
        when = now + self.options.latency
        if self.options.requests_per_second is not None:
            when = max(when, self._next_turn)
            self._next_turn = when + timedelta(seconds=1 / self.options.requests_per_second)
        return when - now

    def lateness(self) -> timedelta:
        """How long from when a submitted request is carried out until its reply arrives."""
        return timedelta(seconds=self._reply_rng.uniform(0, self.options.staleness.reply))

    def execute(self, request: Request) -> Result:
        """Carry a request out now, through the interceptors; raises ClusterError."""

        def proceed(remaining: Sequence[Interceptor]) -> Result:
            if not remaining:
                return self._execute(request)
            return remaining[0](request, lambda: proceed(remaining[1:]))

        return proceed(tuple(self._interceptors))

    # For scenarios and tests.

    def intercept(self, interceptor: Interceptor) -> Callable[[], None]:
        """Put an interceptor before the server; answers what takes it away again.

        Only requests through the port pass it, not what the cluster's own parts do.
        """
        self._interceptors.append(interceptor)
        return lambda: self._interceptors.remove(interceptor)

    def ask(self, webhook: Webhook) -> Callable[[], None]:
        """Let the API server ask a webhook about new pods; answers what ends that."""
        self.server.webhooks.append(webhook)
        self._show_webhooks()

        def end() -> None:
            self.server.webhooks.remove(webhook)
            self._show_webhooks()

        return end

    def enforce(self, policy: Policy) -> Callable[[], None]:
        """Hold all changes of objects to a policy; answers what ends that."""
        self.server.policies.append(policy)
        return lambda: self.server.policies.remove(policy)

    def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Create objects or merge them into those that are there, at once.

        A namespace that is not there is made. A node without a status is Ready and has room
        for 110 pods, 4 cores and 16 GiB.
        """
        for given in manifests:
            obj = dict(given)
            kind = kind_of(obj)
            namespace = ""
            if kind.namespaced:
                namespace = obj["metadata"].get("namespace", "default")
                if self.server.store.get("Namespace", ("", namespace)) is None:
                    self._make_namespace(namespace)
            if kind.name == "Node" and "status" not in obj:
                obj = {**obj, "status": ready_status({}, stamp(self.clock.now()))}
            name = obj["metadata"].get("name", "")
            if name and self.server.store.get(kind.name, (namespace, name)) is not None:
                self.server.patch(kind.name, (namespace, name), obj)
            else:
                self.server.create(obj)

    def load(self, *objects: Mapping[str, Any]) -> None:
        """Store objects as they were read from another cluster, with uid, status and node.

        Pods that run go on as they are; a node that is not Ready has no kubelet here either.
        """
        for obj in objects:
            if obj["kind"] == "Node" and not is_true(dict(obj), "Ready"):
                self._kubelets.assume_dead(obj["metadata"]["name"])
            self.server.load(dict(obj))

    def delete(self, kind: str, name: str, namespace: str = "", grace: int | None = None) -> None:
        """Delete an object as kubectl would; what it owns goes too."""
        self.server.delete(kind, (namespace, name), grace=grace)

    def evict(self, name: str, namespace: str, client: Client) -> None:
        """Evict a pod as another drainer. Raises ClusterError."""
        evict(self.server, (namespace, name), "", client)

    def scale(self, kind: str, name: str, namespace: str, replicas: int) -> None:
        """Set a workload's replicas, as an autoscaler or a person would."""
        self.server.patch(kind, (namespace, name), {"spec": {"replicas": replicas}})

    def kill_node(self, name: str, remove_after: timedelta | None = None) -> None:
        """Take the machine away: its kubelet stops and its pods are lost.

        The node counts as unreachable after a while; it goes ``remove_after`` from now, as the
        cloud controller does when the instance is terminated, or stays until deleted.
        """
        self._kubelets.kill(name)
        if remove_after is not None:
            self.clock.call_in(remove_after, lambda: self._remove_node(name))

    def start_node(self, name: str) -> None:
        """Switch a machine on again that was killed: its node is Ready, its pods start again."""
        self._kubelets.revive(name)

    @property
    def watches(self) -> int:
        """How many watches are connected."""
        return self._hub.connected

    def disconnect_watches(self) -> None:
        """Cut all watches; they go on from where they were."""
        self._hub.disconnect_all()

    def expire_watches(self) -> None:
        """Cut all watches and forget the history: they have to list again (410)."""
        self._hub.disconnect_all()
        self.server.store.compact()

    @property
    def revision(self) -> int:
        """The resource version of the last change."""
        return self.server.store.revision

    def restore(self, revision: int) -> None:
        """Cut all watches; all is as it was at this revision, and the next one follows that."""
        self._hub.disconnect_all()
        self.server.store.go_back(revision)

    def objects(self, kind: str, namespace: str = "") -> list[Obj]:
        """The plain objects of a kind, without asking through the port. Do not change them."""
        return in_order(self.server.store.all(kind, namespace))

    @property
    def rooms(self) -> Sequence[Room]:
        """The nodes, each with what is on it. Do not change them."""
        return self._scheduler.rooms

    def clauses_of(self, pod: Obj) -> Sequence[Clause]:
        """What a pod's spreads and volumes say of the nodes that it may go to."""
        return self._scheduler.clauses_of(pod)

    @property
    def attachments(self) -> Mapping[Key, str]:
        """The node that each claim is attached to which one node can use at a time."""
        return self._kubelets.volumes.attached

    def _remove_node(self, name: str) -> None:
        if self._kubelets.is_dead(name) and self.server.store.get("Node", ("", name)):
            self.server.delete("Node", ("", name))

    def _show_webhooks(self) -> None:
        """The configuration of those that are asked about new pods; none without any."""
        store, key = self.server.store, ("", names.PLACING)
        asked = [each.namespaces for each in self.server.webhooks if not each.sub_resource]
        if asked:
            store.write(configuration(asked))
        elif store.get(CONFIGURATION, key) is not None:
            store.remove(CONFIGURATION, key)

    def _make_namespace(self, name: str) -> None:
        self.server.create(manifest("Namespace", name))

    def _execute(self, request: Request) -> Result:
        if isinstance(request, Get | Patch | Delete | Evict) and not is_path_segment(request.name):
            raise InvalidError(f"{request.name!r} can be no object's name")
        match request:
            case Get():
                wanted: type[KubernetesObject] = request.kind
                key = (request.namespace, request.name)
                return decode(self.server.get(wanted.resource.kind, key), wanted)
            case List():
                return self._list(request)
            case Patch():
                changed = self.server.patch(
                    request.kind.resource.kind,
                    (request.namespace, request.name),
                    msgspec.json.decode(request.to_wire()),
                    request.subresource,
                    FIELD_MANAGER,
                )
                return decode(changed, request.kind)
            case Create():
                kind = type(request.object)
                obj = msgspec.to_builtins(request.object)
                obj["kind"] = kind.resource.kind
                obj["apiVersion"] = kind.resource.api_version
                return decode(self.server.create(obj), kind)
            case Delete():
                key = (request.namespace, request.name)
                self.server.delete(
                    request.kind.resource.kind,
                    key,
                    uid=request.uid,
                    version=request.resource_version,
                    grace=request.grace_seconds,
                )
                return None
            case Evict():
                client = Client(field_manager=FIELD_MANAGER)
                evict(self.server, (request.namespace, request.name), request.uid, client)
                return None

    def _list(self, request: List[KubernetesObject]) -> Listing[KubernetesObject]:
        selection = request.selection
        chosen = filter_of(selection)
        store = self.server.store
        where = chosen.kind, chosen.namespace, chosen.node
        if request.fresh:
            found, revision = store.all(*where), store.revision
        else:
            found, revision = store.as_of(*where, age=self.options.cache_lag)
        return listing(request, in_order(filter(chosen.matches, found)), revision)
