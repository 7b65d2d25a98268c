"""What some projects' manifests and operators make: kinds, owners, selectors, volumes, budgets.

Each function tells one project's shape in our own words, without its values. The names of
objects are our own, too, but for the kinds and versions of custom resources.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import stamp
from tests.shapes.making import (
    APPS,
    BATCH,
    NOW,
    Making,
    Obj,
    apart,
    pod_spec,
    recommended,
)

RECREATE: Final[Obj] = {"strategy": {"type": "Recreate"}}
CRITICAL: Final[Obj] = {"priorityClassName": "system-cluster-critical", "priority": 2_000_000_000}


def service_mesh(to: Making) -> None:
    """istio: a control plane and gateways behind autoscalers and budgets; a template has a name."""
    there = to.namespace("mesh-system", managed=True)
    for name, size in (("mesh-control", 2), ("gateway-in", 3), ("gateway-out", 1)):
        its = {"app": name, "istio": name, "release": "mesh"}
        selector = {"app": name, "istio": name}
        made = to.deployment(
            name,
            there,
            size,
            labels=its | {"sidecar.istio.io/inject": "false"},
            selector=selector,
            of_pods={"name": name},
            spec=pod_spec(cpu="500m", memory="2Gi"),
        )
        to.service(name, there, selector)
        to.budget(name, there, selector, minAvailable=1)
        to.scaled(made, size, 5)
    injected = to.namespace("shop", managed=True, on_demand="30%")
    for name in ("cart", "front"):
        its = {"app": name, "version": "v1", "security.istio.io/tlsMode": "istio"}
        to.deployment(
            name, injected, 3, labels=its, selector={"app": name}, spec=pod_spec(sidecar=True)
        )


def delivery(to: Making) -> None:
    """argo-cd: a StatefulSet without volumes, single replicas, a Recreate; templates have names."""
    there = to.namespace("delivery", managed=True)
    to.stateful_set("app-controller", there, labels=recommended("app-controller"), claims=())
    for name, size in (("repo-server", 2), ("ui-server", 2), ("cache", 1), ("login", 1)):
        its = recommended(name, "part-of-delivery")
        to.deployment(
            name,
            there,
            size,
            labels=its,
            spec=pod_spec(affinity=apart(its)),
            of_pods={"name": name},
        )
    to.deployment("notifier", there, labels=recommended("notifier"), **RECREATE)


def rollouts(to: Making) -> None:
    """Argo Rollouts: ReplicaSets whose owner is a Rollout, one of them the version before."""
    there = to.namespace("canary", managed=True)
    to.deployment("rollout-controller", there, labels=recommended("rollout-controller"))
    its = {"app": "front"}
    owner = to.add(
        "Rollout",
        "front",
        there,
        version="argoproj.io/v1alpha1",
        notes={names.ON_DEMAND: "1"},
        spec={
            "replicas": 4,
            "selector": {"matchLabels": its},
            "strategy": {"canary": {"steps": [{"setWeight": 20}]}},
            "template": {"metadata": {"labels": its}, "spec": pod_spec()},
        },
    )
    for number, size in ((1, 0), (2, 3), (3, 1)):
        hashed = its | {"rollouts-pod-template-hash": f"6d8f9{number}"}
        replica_set = to.add(
            "ReplicaSet",
            f"front-6d8f9{number}",
            there,
            version=APPS,
            labels=hashed,
            notes={names.ON_DEMAND: "1"},
            owner=owner,
            spec={
                "replicas": size,
                "selector": {"matchLabels": hashed},
                "template": {"metadata": {"labels": hashed}, "spec": pod_spec()},
            },
            status={"replicas": size, "readyReplicas": size, "availableReplicas": size},
        )
        for pod in range(size):
            template = replica_set["spec"]["template"]
            to.pod(f"front-6d8f9{number}-{pod}abcd", there, template, owner=replica_set)


def monitoring(to: Making) -> None:
    """The Prometheus operator's stack: StatefulSets that custom resources own, a DaemonSet."""
    there = to.namespace("monitoring", managed=True)
    to.deployment("monitor-operator", there)
    to.deployment("state-metrics", there)
    volume = "dashboards"
    to.deployment("dashboards", there, spec=pod_spec(claims=[volume]), **RECREATE)
    to.claim(volume, there)
    for kind, name, size in (("Prometheus", "metrics", 2), ("Alertmanager", "alerts", 3)):
        its = recommended(name) | {"operator.prometheus.io/name": name}
        owner = to.add(
            kind,
            name,
            there,
            version="monitoring.coreos.com/v1",
            notes={names.ON_DEMAND: "all"},
            spec={"replicas": size, "podMetadata": {"annotations": {names.HANDOVER: "never"}}},
        )
        notes = {"prometheus-operator-input-hash": "1", names.ON_DEMAND: "all"}
        rules = pod_spec(memory="1Gi", affinity=apart(its), terminationGracePeriodSeconds=600)
        to.stateful_set(
            name,
            there,
            size,
            labels=its,
            spec=rules,
            notes=notes,
            owner=owner,
            podManagementPolicy="Parallel",
        )
        to.budget(name, there, its, minAvailable=1)
    to.daemon_set("node-metrics", there)


def certificates(to: Making) -> None:
    """cert-manager: three small Deployments, and a hook's Job that is done."""
    there = to.namespace("certificates")
    for name in ("cert-controller", "cert-injector", "cert-webhook"):
        to.deployment(name, there, labels=recommended(name, "certificates"), history=0)
    to.job("api-check", there, notes={"helm.sh/hook": "post-install"}, backoffLimit=4)


def ingress(to: Making) -> None:
    """ingress-nginx: a Deployment with a long grace period and a spread, and hooks' Jobs."""
    there = to.namespace("ingress", managed=True, on_demand="majority")
    its = recommended("edge", "controller")
    spread = {
        "maxSkew": 1,
        "topologyKey": names.ZONE,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": its},
    }
    spec = pod_spec(terminationGracePeriodSeconds=300, topologySpreadConstraints=[spread])
    made = to.deployment("edge", there, 3, labels=its, spec=spec, minReadySeconds=10)
    to.budget("edge", there, its, minAvailable=2)
    to.scaled(made, 3, 11)
    to.service("edge", there, its)
    for name in ("create", "patch"):
        to.job(f"edge-admission-{name}", there, ttlSecondsAfterFinished=0)


def messages(to: Making) -> None:
    """Strimzi: pods of a StrimziPodSet, which its Kafka owns, with claims, and an own budget."""
    there = to.namespace("messages", managed=True, on_demand="all")
    to.deployment("kafka-operator", there, **RECREATE)
    owner = to.add("Kafka", "events", there, version="kafka.strimzi.io/v1beta2", spec={"kafka": {}})
    for role, size in (("broker", 3), ("controller", 3)):
        its = {"strimzi.io/cluster": "events", "strimzi.io/pool-name": role}
        its |= {"strimzi.io/controller": "strimzipodset", "strimzi.io/kind": "Kafka"}
        to.operated(
            "StrimziPodSet",
            "core.strimzi.io/v1beta2",
            f"events-{role}",
            there,
            [f"events-{role}-{number}" for number in range(size)],
            labels=its,
            spec=pod_spec(cpu="500m", memory="2Gi", affinity=apart(its)),
            claims=True,
            owner=owner,
        )
    to.budget("events", there, {"strimzi.io/kind": "Kafka"}, minAvailable=5)
    to.deployment("events-entity", there, labels={"strimzi.io/name": "events-entity"}, owner=owner)


def databases(to: Making) -> None:
    """CloudNativePG: a Cluster owns its pods and claims itself, with a budget for the primary."""
    there = to.namespace("databases", managed=True, on_demand="all")
    to.deployment("pg-operator", there)
    its = {"cnpg.io/cluster": "orders", "cnpg.io/podRole": "instance"}
    to.operated(
        "Cluster",
        "postgresql.cnpg.io/v1",
        "orders",
        there,
        ["orders-1", "orders-2", "orders-4"],
        labels=its,
        spec=pod_spec(cpu="500m", terminationGracePeriodSeconds=1800, affinity=apart(its)),
        claims=True,
    )
    to.budget("orders-primary", there, its | {"example.org/pod": "orders-1"}, minAvailable=1)
    to.job("orders-1-initdb", there)


def learning(to: Making) -> None:
    """Ray: a RayCluster owns a head and its workers; a RayJob has a Job, which submits."""
    there = to.namespace("learning", managed=True, on_demand="none")
    to.deployment("ray-operator", there, **RECREATE)
    to.operated(
        "RayCluster",
        "ray.io/v1",
        "train",
        there,
        ["train-head-7w4fz", "train-worker-cpu-2kqpd", "train-worker-cpu-8shxm"],
        labels={"ray.io/cluster": "train", "ray.io/is-ray-node": "yes"},
        spec=pod_spec(cpu="1", memory="4Gi"),
        of_kind={
            "workerGroupSpecs": [
                {
                    "replicas": 2,
                    "template": {
                        "metadata": {"annotations": {names.HANDOVER: "never"}},
                        "spec": pod_spec(),
                    },
                }
            ]
        },
    )
    submitted = to.add("RayJob", "nightly", there, version="ray.io/v1", spec={"entrypoint": "x"})
    to.job("nightly-submit", there, owner=submitted, phase="Running")


def batches(to: Making) -> None:
    """Spark: a SparkApplication owns the driver, and the driver's pod owns the executors."""
    there = to.namespace("batches", managed=True, on_demand="all")
    to.deployment("spark-operator", there)
    its = {"spark-app-name": "report", "spark-app-selector": "spark-1f2e"}
    to.operated(
        "SparkApplication",
        "sparkoperator.k8s.io/v1beta2",
        "report",
        there,
        ["report-driver"],
        labels=its | {"spark-role": "driver"},
        spec=pod_spec(restartPolicy="Never", probe=False),
    )
    driver = next(each for each in to.objects if each["metadata"]["name"] == "report-driver")
    for number in (1, 2, 3):
        labels = its | {"spark-role": "executor", "spark-exec-id": str(number)}
        template = {"metadata": {"labels": labels}, "spec": pod_spec(restartPolicy="Never")}
        phase = "Succeeded" if number == 3 else "Running"
        to.pod(f"report-exec-{number}", there, template, owner=driver, phase=phase)


def workflows(to: Making) -> None:
    """Airflow and Argo Workflows: selectors that overlap, bare pods of tasks, a Workflow's pods."""
    there = to.namespace("workflows", managed=True)
    shared = {"tier": "airflow", "release": "flows"}
    for name, size in (("scheduler", 2), ("webserver", 1), ("statsd", 1)):
        to.deployment(name, there, size, labels=shared | {"component": name})
    to.stateful_set("triggerer", there, labels=shared | {"component": "triggerer"})
    to.stateful_set("worker", there, 2, labels=shared | {"component": "worker"})
    to.add(
        "ScaledObject",
        "worker",
        there,
        version="keda.sh/v1alpha1",
        spec={"scaleTargetRef": {"kind": "StatefulSet", "name": "worker"}},
    )
    task = {"metadata": {"labels": shared | {"component": "worker", "kubernetes_executor": "True"}}}
    task["spec"] = pod_spec(restartPolicy="Never", probe=False)
    for name, phase in (("load-orders-6j2x", "Running"), ("load-stock-k8d3", "Succeeded")):
        to.pod(name, there, task, phase=phase, notes={names.SAFE_TO_EVICT: "false"})
    to.operated(
        "Workflow",
        "argoproj.io/v1alpha1",
        "build-9xq2c",
        there,
        ["build-9xq2c-1838", "build-9xq2c-2211"],
        labels={"workflows.argoproj.io/workflow": "build-9xq2c"},
        spec=pod_spec(restartPolicy="Never", probe=False),
    )
    nightly = to.add(
        "CronJob",
        "cleanup",
        there,
        version=BATCH,
        spec={"schedule": "@daily", "jobTemplate": {"spec": {"template": {"spec": pod_spec()}}}},
    )
    for number, phase in (("29541", "Succeeded"), ("29542", "Failed")):
        to.job(f"cleanup-{number}", there, owner=nightly, phase=phase)
    queue = to.add(
        "ScaledJob",
        "consume",
        there,
        version="keda.sh/v1alpha1",
        notes={names.ON_DEMAND: "none"},
        spec={"jobTargetRef": {"template": {"spec": pod_spec()}}},
    )
    to.job("consume-7rk2p", there, owner=queue, phase="Running")


def search(to: Making) -> None:
    """ECK: StatefulSets that an Elasticsearch owns, updated by it alone; a Kibana's Deployment."""
    there = to.namespace("search", managed=True)
    to.stateful_set("search-operator", there, claims=())
    version = "elasticsearch.k8s.elastic.co/v1"
    owner = to.add("Elasticsearch", "logs", there, version=version, spec={"version": "9.0.0"})
    for role, size in (("master", 3), ("hot", 3)):
        its = {
            "common.k8s.elastic.co/type": "elasticsearch",
            "elasticsearch.k8s.elastic.co/cluster-name": "logs",
            "elasticsearch.k8s.elastic.co/statefulset-name": f"logs-es-{role}",
        }
        spec = pod_spec(
            cpu="500m", memory="2Gi", affinity=apart(its), terminationGracePeriodSeconds=180
        )
        to.stateful_set(
            f"logs-es-{role}",
            there,
            size,
            labels=its,
            spec=spec,
            owner=owner,
            podManagementPolicy="Parallel",
            updateStrategy={"type": "OnDelete"},
        )
    cluster = {"elasticsearch.k8s.elastic.co/cluster-name": "logs"}
    to.budget("logs-es-default", there, cluster, maxUnavailable=1)
    view = to.add("Kibana", "view", there, version="kibana.k8s.elastic.co/v1")
    to.deployment("view-kb", there, labels={"kibana.k8s.elastic.co/name": "view"}, owner=view)


def caches(to: Making) -> None:
    """Redis: a master and replicas as StatefulSets, and again in another namespace."""
    for there in (to.namespace("caches", managed=True), to.namespace("caches-test")):
        for role, size in (("master", 1), ("replicas", 3)):
            its = recommended("redis", role)
            to.stateful_set(
                f"redis-{role}", there, size, labels=its, spec=pod_spec(affinity=apart(its))
            )
            to.budget(f"redis-{role}", there, its, maxUnavailable=1)
        to.deployment("redis-exporter", there, labels=recommended("redis-exporter"))


def durable(to: Making) -> None:
    """Temporal: services of one image, told apart by one label, a schema's Job, a database."""
    there = to.namespace("durable", managed=True)
    for name, size in (("frontend", 2), ("history", 3), ("matching", 2), ("worker", 1)):
        its = recommended("durable", name)
        to.deployment(
            f"durable-{name}", there, size, labels=its, spec=pod_spec(sidecar=name == "history")
        )
        to.budget(f"durable-{name}", there, its, maxUnavailable=1)
    to.deployment("durable-admin", there, labels=recommended("durable", "admin"), history=0)
    to.stateful_set("durable-db", there, 3, labels={"app": "durable-db"})
    to.job("durable-schema-1", there, notes={"helm.sh/hook": "pre-install"}, phase="Succeeded")


def secrets(to: Making) -> None:
    """Vault: a StatefulSet that is updated by hand, of which some pods are sealed: not Ready."""
    there = to.namespace("secrets", managed=True, on_demand="all")
    its = recommended("vault", "server")
    rules = pod_spec(affinity=apart(its, hard=True), terminationGracePeriodSeconds=10)
    to.stateful_set(
        "vault",
        there,
        3,
        labels=its,
        spec=rules,
        claims=("data", "audit"),
        podManagementPolicy="Parallel",
        updateStrategy={"type": "OnDelete"},
    )
    to.deployment("vault-injector", there, labels=recommended("vault-injector"))
    to.budget("vault", there, its, maxUnavailable=1)


def kruise(to: Making) -> None:
    """OpenKruise and Volcano: kinds that are called like Kubernetes' own, of other groups."""
    there = to.namespace("kruise", managed=True, on_demand="1")
    for kind, version, name in (
        ("CloneSet", "apps.kruise.io/v1alpha1", "clones"),
        ("StatefulSet", "apps.kruise.io/v1beta1", "ordered"),
        ("Job", "batch.volcano.sh/v1alpha1", "solve"),
    ):
        its = {"app": name}
        to.operated(kind, version, name, there, [f"{name}-{n}" for n in range(3)], labels=its)
    to.deployment("kruise-manager", there, 2)


def leftovers(to: Making) -> None:
    """What accumulates: evicted pods, silent nodes, pods that wait or never end."""
    system = "kube-system"
    to.deployment("coredns", system, 2, labels={"k8s-app": "kube-dns"}, spec=pod_spec(**CRITICAL))
    to.budget("coredns", system, {"k8s-app": "kube-dns"}, maxUnavailable=1)
    for name in ("aws-node", "kube-proxy", "ebs-csi-node"):
        to.daemon_set(name, system)
    there = to.namespace("legacy", managed=True)
    its = {"app": "old"}
    made = to.deployment("old", there, 4, labels=its, history=5, ready=3)
    owned = [
        each
        for each in to.objects
        if each["kind"] == "ReplicaSet"
        and each["spec"]["replicas"]
        and each["metadata"]["namespace"] == there
    ]
    template, replica_set = owned[0]["spec"]["template"], owned[0]
    for number in range(4):
        to.pod(
            f"{replica_set['metadata']['name']}-evict{number}",
            there,
            template,
            owner=replica_set,
            phase="Failed",
            reason="Evicted",
        )
    to.scaled(made, 2, 9)
    (silent,) = to.nodes(1, spot=1, ready=False)
    stuck = to.pod("stuck-abcde", there, template, node=silent, ready=False)
    stuck["metadata"] |= {
        "deletionTimestamp": stamp(NOW - timedelta(days=2)),
        "deletionGracePeriodSeconds": 30,
    }
    mirror = {names.MIRROR_POD: "1", "kubernetes.io/config.source": "file"}
    node = next(each for each in to.objects if each["kind"] == "Node")
    to.pod(
        "kube-vip-node",
        system,
        {"metadata": {"labels": {"app": "vip"}}, "spec": pod_spec()},
        owner=node,
        node=node["metadata"]["name"],
        notes=mirror,
    )
    to.deployment("idle", there, 0, labels={"app": "idle"})
    gated = pod_spec(schedulingGates=[{"name": "example.org/quota"}])
    to.pod("debug", there, {"metadata": {"labels": {"run": "debug"}}, "spec": pod_spec()})
    to.pod("gated", there, {"metadata": {"labels": {"run": "gated"}}, "spec": gated}, node="")
    hungry = {"metadata": {"labels": {"run": "hungry"}}, "spec": pod_spec(cpu="12")}
    to.pod("hungry", there, hungry, node="")
    hard = {"requests.cpu": "20", "pods": "40"}
    used = {"requests.cpu": "2", "pods": "9"}
    to.add("ResourceQuota", "all", there, spec={"hard": hard}, status={"hard": hard, "used": used})


PROJECTS: Final[Mapping[str, Callable[[Making], None]]] = {
    each.__name__: each
    for each in (
        service_mesh,
        delivery,
        rollouts,
        monitoring,
        certificates,
        ingress,
        messages,
        databases,
        learning,
        batches,
        workflows,
        search,
        caches,
        durable,
        secrets,
        kruise,
        leftovers,
    )
}


def snapshot(*projects: str) -> Obj:
    """A snapshot of a cluster that has these projects, as ``kubectl get -o json`` prints one."""
    making = Making("-".join(projects))
    making.namespace("kube-system")
    making.nodes(6, spot=4) if len(projects) == 1 else making.nodes(15, spot=10)
    for each in projects:
        PROJECTS[each](making)
    return {"apiVersion": "v1", "kind": "List", "items": making.objects}
