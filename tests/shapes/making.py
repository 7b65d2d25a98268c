"""Clusters as an API server shows them weeks after somebody installed something in them.

What a real snapshot has and a test's own cluster has not: ages, restarts, ReplicaSets of former
versions, Jobs that are done, pods that were evicted, owners that no Kubernetes controller knows,
fields that nobody reads.
"""

import random
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import stamp
from evenkeel_sandbox.simulator.controllers.deployment import template_hash

type Obj = dict[str, Any]

NOW: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
"""When the snapshots were taken."""

ZONES: Final = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
TYPES: Final = ("m6i.2xlarge", "m5.2xlarge", "c6a.2xlarge")

APPS, BATCH, CORE = "apps/v1", "batch/v1", "v1"


def pod_spec(
    *,
    cpu: str = "100m",
    memory: str = "128Mi",
    claims: Sequence[str] = (),
    sidecar: bool = False,
    probe: bool = True,
    **spec: Any,
) -> Obj:
    """A pod's spec, with what a chart writes down that nobody reads here.

    ``claims`` are names of PersistentVolumeClaims. ``sidecar``: an init container that goes on.
    """
    readiness = {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 10}
    container = {
        "name": "main",
        "image": "registry.example.org/app:1",
        "resources": {"requests": {"cpu": cpu, "memory": memory}},
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "securityContext": {"runAsNonRoot": True},
        **({"readinessProbe": readiness} if probe else {}),
    }
    beside = {"name": "proxy", "image": "registry.example.org/proxy:1", "restartPolicy": "Always"}
    mounted: list[Obj] = [{"name": "tmp", "emptyDir": {}}]
    mounted += [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return {
        "containers": [container],
        **({"initContainers": [beside]} if sidecar else {}),
        "volumes": mounted,
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        **spec,
    }


def apart(labels: Mapping[str, str], *, hard: bool = False) -> Obj:
    """A spec's wish, or rule, that pods with these labels are on different nodes."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    if hard:
        return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    weighted = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def recommended(name: str, component: str = "") -> dict[str, str]:
    """The labels by which charts tell a component of theirs."""
    its = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": "main"}
    return its | ({"app.kubernetes.io/component": component} if component else {})


class Making:
    """Makes one cluster. All that is left to chance is decided by its name."""

    def __init__(self, name: str) -> None:
        self._chance = random.Random(name)  # noqa: S311 - nothing is kept secret
        self._objects: list[Obj] = []
        self._nodes: list[str] = []
        self._turn = 0

    @property
    def objects(self) -> Sequence[Obj]:
        """All objects so far, in the order in which ``kubectl get`` lists them: by kind."""
        return sorted(self._objects, key=lambda each: each["kind"] != "Node")

    def add(
        self,
        kind: str,
        name: str,
        namespace: str = "",
        *,
        version: str = CORE,
        days: float = 30.0,
        owner: Obj | None = None,
        labels: Mapping[str, str] | None = None,
        notes: Mapping[str, str] | None = None,
        **rest: Any,
    ) -> Obj:
        """Any object, made so many days ago; ``rest`` is its spec and the like."""
        uid = uuid.UUID(int=self._chance.getrandbits(128), version=4)
        metadata: Obj = {
            "name": name,
            "uid": str(uid),
            "resourceVersion": str(self._chance.randrange(10**6, 10**7)),
            "creationTimestamp": stamp(NOW - timedelta(days=days)),
            "managedFields": [{"manager": "helm", "operation": "Update", "apiVersion": version}],
        }
        if namespace:
            metadata["namespace"] = namespace
        if kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "Pod"):
            metadata["generation"] = 3
        for field, given in (("labels", labels), ("annotations", notes)):
            if given:
                metadata[field] = dict(given)
        if owner is not None:
            metadata["ownerReferences"] = [reference(owner)]
        made = {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}
        self._objects.append(made)
        return made

    def namespace(self, name: str, *, managed: bool = False, **notes: str) -> str:
        """A namespace; ``notes`` are annotations of Evenkeel's, such as ``on_demand``."""
        labels = {"kubernetes.io/metadata.name": name}
        labels |= {names.MANAGED: names.TRUE} if managed else {}
        its = {f"{names.DOMAIN}/{key.replace('_', '-')}": value for key, value in notes.items()}
        self.add("Namespace", name, labels=labels, notes=its, status={"phase": "Active"})
        return name

    def nodes(
        self, count: int, *, spot: int, ready: bool = True, taints: Sequence[Obj] = ()
    ) -> Sequence[str]:
        """Nodes of Karpenter's, of which so many are spot."""
        made = []
        for number in range(count):
            address = f"ip-10-0-{self._chance.randrange(256)}-{len(self._nodes) + 10}"
            name, zone = f"{address}.eu-west-1.compute.internal", ZONES[number % len(ZONES)]
            labels = {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                names.INSTANCE_TYPE: TYPES[number % len(TYPES)],
                names.ZONE: zone,
                "karpenter.sh/nodepool": "default",
                "karpenter.sh/capacity-type": "spot" if number < spot else "on-demand",
            }
            room = {"cpu": "7910m", "memory": "30Gi", "pods": "58", "ephemeral-storage": "90Gi"}
            since = NOW - timedelta(days=self._chance.uniform(1, 20))
            conditions = [condition("Ready", since, status="True" if ready else "Unknown")]
            conditions += [condition(f"{each}Pressure", since, status="False") for each in ("PID",)]
            self.add(
                "Node",
                name,
                days=(NOW - since) / timedelta(days=1) + 0.0005,
                labels=labels,
                spec={
                    "providerID": f"aws:///{zone}/i-{self._chance.getrandbits(68):017x}",
                    "taints": [dict(each) for each in taints],
                },
                status={"capacity": room, "allocatable": room, "conditions": conditions},
            )
            made.append(name)
        if ready and not taints:
            self._nodes += made
        return made

    def deployment(
        self,
        name: str,
        namespace: str,
        replicas: int = 1,
        *,
        labels: Mapping[str, str] | None = None,
        selector: Mapping[str, str] | None = None,
        history: int = 2,
        spec: Obj | None = None,
        notes: Mapping[str, str] | None = None,
        of_pods: Mapping[str, Any] | None = None,
        owner: Obj | None = None,
        ready: int | None = None,
        **more: Any,
    ) -> Obj:
        """A Deployment, its ReplicaSets of now and before, and its pods.

        ``selector`` is the part of the pods' ``labels`` that it selects by; ``of_pods`` more that
        its template's metadata says. ``ready``: so many of its pods are Ready.
        """
        its = dict(labels or recommended(name))
        selects = {"matchLabels": dict(selector or its)}
        days = self._chance.uniform(15, 400)
        sized = {
            "replicas": replicas,
            "readyReplicas": replicas,
            "availableReplicas": replicas,
            "observedGeneration": 3,
        }
        template: Obj = {"metadata": {"labels": its, **(of_pods or {})}, "spec": spec or pod_spec()}
        revisions = {"deployment.kubernetes.io/revision": str(history + 1)}
        made = self.add(
            "Deployment",
            name,
            namespace,
            version=APPS,
            days=days,
            labels=its,
            notes=revisions | dict(notes or {}),
            owner=owner,
            spec={
                "replicas": replicas,
                "selector": selects,
                "template": template,
                "strategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
                },
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
                **more,
            },
            status={**sized, "updatedReplicas": replicas},
        )
        for revision in range(1, history + 2):
            is_last = revision > history
            older = {**template["spec"], "nodeSelector": {"revision": str(revision)}}
            of_revision = template if is_last else {**template, "spec": older}
            hash_ = {names.TEMPLATE_HASH: template_hash(of_revision)}
            metadata = {**of_revision["metadata"], "labels": its | hash_}
            replica_set = self.add(
                "ReplicaSet",
                f"{name}-{hash_[names.TEMPLATE_HASH]}",
                namespace,
                version=APPS,
                days=days * (history + 2 - revision) / (history + 2),
                labels=its | hash_,
                notes={
                    "deployment.kubernetes.io/revision": str(revision),
                    names.DESIRED_REPLICAS: str(replicas),
                    **(notes or {}),
                },
                owner=made,
                spec={
                    "replicas": replicas if is_last else 0,
                    "selector": {"matchLabels": selects["matchLabels"] | hash_},
                    "template": {**of_revision, "metadata": metadata},
                    **{k: v for k, v in more.items() if k == "minReadySeconds"},
                },
                status={**sized, "fullyLabeledReplicas": replicas}
                if is_last
                else {"replicas": 0, "observedGeneration": 3},
            )
        for number in range(replicas):
            self.pod(
                f"{replica_set['metadata']['name']}-{self._suffix()}",
                namespace,
                {**template, "metadata": metadata},
                owner=replica_set,
                ready=ready is None or number < ready,
            )
        return made

    def stateful_set(
        self,
        name: str,
        namespace: str,
        replicas: int = 1,
        *,
        labels: Mapping[str, str] | None = None,
        claims: Sequence[str] = ("data",),
        spec: Obj | None = None,
        notes: Mapping[str, str] | None = None,
        owner: Obj | None = None,
        **more: Any,
    ) -> Obj:
        """A StatefulSet, its pods, their claims and volumes."""
        its = dict(labels or recommended(name))
        template = {"metadata": {"labels": its}, "spec": spec or pod_spec()}
        revision = f"{name}-{template_hash(template)}"
        made = self.add(
            "StatefulSet",
            name,
            namespace,
            version=APPS,
            days=self._chance.uniform(15, 400),
            labels=its,
            notes=notes,
            owner=owner,
            spec={
                "replicas": replicas,
                "selector": {"matchLabels": its},
                "serviceName": name,
                "template": template,
                "podManagementPolicy": "OrderedReady",
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                "volumeClaimTemplates": [
                    {"metadata": {"name": each}, "spec": _claim_spec()} for each in claims
                ],
                **more,
            },
            status={
                "replicas": replicas,
                "readyReplicas": replicas,
                "currentReplicas": replicas,
                "updatedReplicas": replicas,
                "currentRevision": revision,
                "updateRevision": revision,
                "observedGeneration": 3,
            },
        )
        for ordinal in range(replicas):
            pod = f"{name}-{ordinal}"
            mounted = [f"{each}-{pod}" for each in claims]
            volumes = [
                {"name": each, "persistentVolumeClaim": {"claimName": claim}}
                for each, claim in zip(claims, mounted, strict=True)
            ]
            labels_of_pod = its | {
                "statefulset.kubernetes.io/pod-name": pod,
                names.POD_INDEX: str(ordinal),
                "controller-revision-hash": revision,
            }
            of_pod = template["spec"] | {"volumes": [*template["spec"]["volumes"], *volumes]}
            self.pod(
                pod, namespace, {"metadata": {"labels": labels_of_pod}, "spec": of_pod}, owner=made
            )
            for claim in mounted:
                self.claim(claim, namespace)
        return made

    def daemon_set(self, name: str, namespace: str, *, spec: Obj | None = None) -> Obj:
        """A DaemonSet, with a pod on each node that works."""
        its = recommended(name)
        every = [{"operator": "Exists"}]
        template = {
            "metadata": {"labels": its},
            "spec": (spec or pod_spec(cpu="50m")) | {"tolerations": every},
        }
        made = self.add(
            "DaemonSet",
            name,
            namespace,
            version=APPS,
            labels=its,
            spec={"selector": {"matchLabels": its}, "template": template},
            status={"desiredNumberScheduled": len(self._nodes)},
        )
        for node in self._nodes:
            here = {"key": "metadata.name", "operator": "In", "values": [node]}
            required = {"nodeSelectorTerms": [{"matchFields": [here]}]}
            affinity = {"requiredDuringSchedulingIgnoredDuringExecution": required}
            of_pod = template["spec"] | {"affinity": {"nodeAffinity": affinity}}
            bound = {"metadata": template["metadata"], "spec": of_pod}
            self.pod(f"{name}-{self._suffix()}", namespace, bound, owner=made, node=node)
        return made

    def job(
        self,
        name: str,
        namespace: str,
        *,
        phase: str = "Succeeded",
        owner: Obj | None = None,
        notes: Mapping[str, str] | None = None,
        spec: Obj | None = None,
        **more: Any,
    ) -> Obj:
        """A Job with one pod in this phase."""
        its = {"job-name": name, "batch.kubernetes.io/job-name": name}
        template = {
            "metadata": {"labels": its},
            "spec": (spec or pod_spec(probe=False)) | {"restartPolicy": "Never"},
        }
        ended = {"Succeeded": "Complete", "Failed": "Failed"}.get(phase)
        since = NOW - timedelta(days=self._chance.uniform(0.1, 6))
        counts = {"Succeeded": {"succeeded": 1}, "Failed": {"failed": 1}}
        made = self.add(
            "Job",
            name,
            namespace,
            version=BATCH,
            days=(NOW - since) / timedelta(days=1),
            labels=its,
            notes=notes,
            owner=owner,
            spec={
                "parallelism": 1,
                "completions": 1,
                "backoffLimit": 0 if phase == "Failed" else 6,
                "template": template,
                **more,
            },
            status={
                "conditions": [condition(ended, since)] if ended else [],
                **counts.get(phase, {"active": 1, "ready": 1}),
            },
        )
        uid = made["metadata"]["uid"]
        by_uid = {"controller-uid": uid, "batch.kubernetes.io/controller-uid": uid}
        labelled = {**template, "metadata": {"labels": its | by_uid}}
        tracked = ["batch.kubernetes.io/job-tracking"] if ended is None else []
        self.pod(
            f"{name}-{self._suffix()}",
            namespace,
            labelled,
            owner=made,
            phase=phase,
            finalizers=tracked,
        )
        return made

    def operated(
        self,
        kind: str,
        version: str,
        name: str,
        namespace: str,
        pods: Sequence[str],
        *,
        labels: Mapping[str, str],
        spec: Obj | None = None,
        of_kind: Obj | None = None,
        claims: bool = False,
        owner: Obj | None = None,
        phase: str = "Running",
    ) -> Obj:
        """A custom resource whose operator makes its pods itself, under these names."""
        made = self.add(
            kind, name, namespace, version=version, owner=owner, spec=of_kind or {}, labels=labels
        )
        for pod in pods:
            claim = [pod] if claims else []
            its = dict(labels) | {"example.org/pod": pod}
            of_pod = dict(spec or pod_spec())
            if claim:
                volume = {"name": "data", "persistentVolumeClaim": {"claimName": pod}}
                of_pod["volumes"] = [*of_pod["volumes"], volume]
            template = {"metadata": {"labels": its}, "spec": of_pod}
            self.pod(pod, namespace, template, owner=made, phase=phase)
            for each in claim:
                self.claim(each, namespace)
        return made

    def claim(self, name: str, namespace: str, *, mode: str = "ReadWriteOnce") -> None:
        """A claim and its volume, in the zone of the pod that mounts it."""
        zone = self._zone_of_claim(name, namespace)
        volume = f"pvc-{uuid.UUID(int=self._chance.getrandbits(128), version=4)}"
        terms = [{"matchExpressions": [{"key": names.ZONE, "operator": "In", "values": [zone]}]}]
        spec = _claim_spec(mode) | {"volumeName": volume, "volumeMode": "Filesystem"}
        bound = {"phase": "Bound"}
        self.add("PersistentVolumeClaim", name, namespace, spec=spec, status=bound)
        self.add(
            "PersistentVolume",
            volume,
            spec={
                "accessModes": [mode],
                "capacity": {"storage": "20Gi"},
                "claimRef": {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": name},
                "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": f"vol-{volume[4:12]}"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
                "storageClassName": "gp3",
            },
            status=bound,
        )

    def budget(
        self, name: str, namespace: str, labels: Mapping[str, str], **bound: int | str
    ) -> None:
        """A PodDisruptionBudget, with a status as its controller writes it."""
        selected = [
            pod
            for pod in self._objects
            if pod["kind"] == "Pod"
            and pod["metadata"]["namespace"] == namespace
            and labels.items() <= pod["metadata"]["labels"].items()
        ]
        healthy = sum(_is_ready(pod) for pod in selected)
        self.add(
            "PodDisruptionBudget",
            name,
            namespace,
            version="policy/v1",
            spec={"selector": {"matchLabels": dict(labels)}, **bound},
            status={
                "currentHealthy": healthy,
                "desiredHealthy": max(0, len(selected) - 1),
                "disruptionsAllowed": int(len(selected) > 1 and healthy == len(selected)),
                "expectedPods": len(selected),
                "observedGeneration": 1,
            },
        )

    def service(self, name: str, namespace: str, labels: Mapping[str, str]) -> None:
        """A Service."""
        spec = {"selector": dict(labels), "ports": [{"port": 80}], "clusterIP": "172.20.4.7"}
        self.add("Service", name, namespace, spec=spec)

    def scaled(self, deployment: Obj, least: int, most: int) -> None:
        """A HorizontalPodAutoscaler of a workload."""
        metadata = deployment["metadata"]
        target = {
            "apiVersion": deployment["apiVersion"],
            "kind": deployment["kind"],
            "name": metadata["name"],
        }
        self.add(
            "HorizontalPodAutoscaler",
            metadata["name"],
            metadata["namespace"],
            version="autoscaling/v2",
            spec={"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most},
        )

    def pod(
        self,
        name: str,
        namespace: str,
        template: Obj,
        *,
        owner: Obj | None = None,
        ready: bool = True,
        phase: str = "Running",
        node: str | None = None,
        notes: Mapping[str, str] | None = None,
        finalizers: Sequence[str] = (),
        reason: str = "",
    ) -> Obj:
        """A pod of a template, on the next node, or on none where ``node`` is empty."""
        node = self._next_node() if node is None else node
        bound = NOW - timedelta(days=self._chance.uniform(0.5, 14))
        spec = {**template["spec"], **({"nodeName": node} if node else {})}
        metadata = template["metadata"]
        made = self.add(
            "Pod",
            name,
            namespace,
            days=(NOW - bound) / timedelta(days=1) + 0.00002,
            owner=owner,
            labels=metadata.get("labels"),
            notes={**metadata.get("annotations", {}), **(notes or {})},
            spec=spec,
            status=self._status(bound, phase, ready=ready, is_bound=bool(node), reason=reason),
        )
        if finalizers:
            made["metadata"]["finalizers"] = list(finalizers)
        return made

    def _status(
        self, bound: datetime, phase: str, *, ready: bool, is_bound: bool, reason: str
    ) -> Obj:
        if not is_bound:
            unscheduled = condition("PodScheduled", bound, status="False")
            unscheduled |= {"reason": "Unschedulable", "message": "0/9 nodes are available."}
            return {"phase": "Pending", "conditions": [unscheduled], "qosClass": "Burstable"}
        started = bound + timedelta(seconds=self._chance.choice((4, 9, 21, 48)))
        restarts = self._chance.choice((0, 0, 0, 1, 7))
        if restarts:  # it was Ready, failed, and is Ready again since then
            started = NOW - timedelta(hours=self._chance.uniform(1, 10))
        is_ready = ready and phase == "Running"
        state = {
            "Succeeded": {"terminated": {"exitCode": 0, "reason": "Completed"}},
            "Failed": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
        }.get(phase, {"running": {"startedAt": stamp(started)}})
        ready_status = "True" if is_ready else "False"
        return {
            "phase": phase,
            **({"reason": reason, "message": "The node was low on resource."} if reason else {}),
            "startTime": stamp(bound),
            "hostIP": "10.0.0.1",
            "podIP": "10.0.1.2",
            "qosClass": "Burstable",
            "conditions": [
                condition("PodReadyToStartContainers", started),
                condition("Initialized", bound),
                condition("Ready", started, status=ready_status),
                condition("ContainersReady", started, status=ready_status),
                condition("PodScheduled", bound),
            ],
            "containerStatuses": [
                {"name": "main", "ready": is_ready, "restartCount": restarts, "state": state}
            ],
        }

    def _next_node(self) -> str:
        self._turn += 1
        return self._nodes[self._turn % len(self._nodes)]

    def _zone_of_claim(self, claim: str, namespace: str) -> str:
        """The zone of the node of the pod that mounts a claim."""
        mounts = {"claimName": claim}
        nodes = {each["metadata"]["name"]: each for each in self._objects if each["kind"] == "Node"}
        (node,) = (
            nodes[pod["spec"]["nodeName"]]
            for pod in self._objects
            if pod["kind"] == "Pod"
            and pod["metadata"]["namespace"] == namespace
            and any(v.get("persistentVolumeClaim") == mounts for v in pod["spec"]["volumes"])
        )
        return str(node["metadata"]["labels"][names.ZONE])

    def _suffix(self) -> str:
        return "".join(self._chance.choices("bcdfghjklmnpqrstvwxz2456789", k=5))


def condition(kind: str, since: datetime, *, status: str = "True") -> Obj:
    """An entry of a status's conditions."""
    return {"type": kind, "status": status, "lastTransitionTime": stamp(since)}


def reference(owner: Obj) -> Obj:
    """What names a controller in what it made."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _claim_spec(mode: str = "ReadWriteOnce") -> Obj:
    return {
        "accessModes": [mode],
        "resources": {"requests": {"storage": "20Gi"}},
        "storageClassName": "gp3",
    }


def _is_ready(pod: Obj) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"]["conditions"])
