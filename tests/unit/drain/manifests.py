"""The workloads of the stories, as plain manifests. Every pod has the label ``app``."""

from collections.abc import Mapping
from typing import Any

type Manifest = dict[str, Any]

RECREATE: Manifest = {"strategy": {"type": "Recreate"}}
NO_SURGE: Manifest = {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}


def apart(app: str) -> Manifest:
    """What a pod template says to keep its pods on different nodes."""
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"affinity": {"podAntiAffinity": required}}


def template(
    app: str,
    *,
    cpu: str = "100m",
    grace: int = 30,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """A pod template; ``annotations`` are the pods', further arguments go into its spec."""
    return {
        "metadata": {"labels": {"app": app}, **_annotated(annotations)},
        "spec": {
            "terminationGracePeriodSeconds": grace,
            "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
            **spec,
        },
    }


def deployment(
    app: str,
    replicas: int = 1,
    *,
    pod: Manifest | None = None,
    notes: Mapping[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """A Deployment; ``pod`` goes to its template, ``notes`` are its own annotations."""
    return _object(
        "apps/v1",
        "Deployment",
        app,
        notes=notes,
        spec={
            "replicas": replicas,
            "selector": {"matchLabels": {"app": app}},
            "template": template(app, **(pod or {})),
            **spec,
        },
    )


def replica_set(app: str, replicas: int = 1) -> Manifest:
    """A ReplicaSet that no Deployment made: it does not select by template hash."""
    return _object(
        "apps/v1",
        "ReplicaSet",
        app,
        spec={
            "replicas": replicas,
            "selector": {"matchLabels": {"app": app}},
            "template": template(app),
        },
    )


def stateful_set(
    app: str, replicas: int = 1, *, pod: Manifest | None = None, **spec: Any
) -> Manifest:
    """A StatefulSet."""
    return _object(
        "apps/v1",
        "StatefulSet",
        app,
        spec={
            "replicas": replicas,
            "serviceName": app,
            "selector": {"matchLabels": {"app": app}},
            "template": template(app, **(pod or {})),
            **spec,
        },
    )


def daemon_set(app: str) -> Manifest:
    """A DaemonSet that runs on every node, doomed ones too."""
    pod = template(app, tolerations=[{"operator": "Exists"}])
    spec = {"selector": {"matchLabels": {"app": app}}, "template": pod}
    return _object("apps/v1", "DaemonSet", app, spec=spec)


def job(
    app: str,
    *,
    pod: Manifest | None = None,
    notes: Mapping[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """A Job, with one pod unless told otherwise."""
    run = template(app, restartPolicy="Never", **(pod or {}))
    return _object("batch/v1", "Job", app, notes=notes, spec={"template": run, **spec})


def bare_pod(app: str, **pod: Any) -> Manifest:
    """A pod that no controller makes again."""
    made = template(app, **pod)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": app, "namespace": "default", **made["metadata"]},
        "spec": made["spec"],
    }


def budget(name: str, app: str = "", **bound: Any) -> Manifest:
    """A PodDisruptionBudget over the pods of ``app``, or of the workload of its own name."""
    selector = {"matchLabels": {"app": app or name}}
    spec = {"selector": selector, **bound}
    return _object("policy/v1", "PodDisruptionBudget", name, spec=spec)


def quota(**hard: str) -> Manifest:
    """What the namespace may use."""
    return _object("v1", "ResourceQuota", "quota", spec={"hard": hard})


def claim(name: str, mode: str = "ReadWriteOnce") -> Manifest:
    """A PersistentVolumeClaim."""
    return _object("v1", "PersistentVolumeClaim", name, spec={"accessModes": [mode]})


def service(app: str, **selector: str) -> Manifest:
    """A Service; further labels that it selects by as keywords."""
    return _object("v1", "Service", app, spec={"selector": {"app": app, **selector}})


def volume(claim_name: str) -> Manifest:
    """What a pod template says to mount a claim."""
    source = {"claimName": claim_name}
    return {"volumes": [{"name": "data", "persistentVolumeClaim": source}]}


def _object(
    version: str, kind: str, name: str, *, spec: Manifest, notes: Mapping[str, str] | None = None
) -> Manifest:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", **_annotated(notes)},
        "spec": spec,
    }


def _annotated(annotations: Mapping[str, str] | None) -> Manifest:
    return {"annotations": dict(annotations)} if annotations else {}
