"""What controllers take over of a pod template's metadata."""

from collections.abc import Iterator

import pytest

from evenkeel.model.pod import Pod
from evenkeel.model.request import Operation
from tests.contract.ground import Ground
from tests.contract.manifests import QUICK, job, pod_spec, workload
from tests.kit.manifests import Manifest

FINALIZER = "example.org/kept"


@pytest.fixture(autouse=True)
def _nodes(ground: Ground) -> Iterator[None]:
    """A finalizer that nobody takes off would keep the namespace for ever."""
    ground.add_node("a")
    yield
    for pod in ground.pods():
        ground.patch(Pod, pod.name, [Operation("remove", "/metadata/finalizers")])


def template(ground: Ground) -> Manifest:
    """A template that says more than a pod takes over: manifests in the wild name theirs."""
    metadata = {
        "name": "named-in-the-template",
        "generateName": "generated-by-the-template-",
        "namespace": "elsewhere",
        "uid": "6b1f0c1e-0000-4000-8000-000000000000",
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": "none"}
        ],
        "labels": {"app": "web"},
        "annotations": QUICK | {"example.org/note": "kept"},
        "finalizers": [FINALIZER],
    }
    only_here = {"nodeSelector": {"kubernetes.io/hostname": ground.node("a")}}
    return {"metadata": metadata, "spec": pod_spec(**only_here)}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "Job"])
def test_pods_take_labels_annotations_and_finalizers_of_their_template_alone(
    ground: Ground, kind: str
) -> None:
    its = template(ground)
    count = 2 if kind in ("Deployment", "StatefulSet") else 1
    if kind == "Job":
        its["spec"]["restartPolicy"] = "Never"
        ground.apply(job("web") | {"spec": {"template": its}})
    else:
        ground.apply(workload(kind, "web", its, replicas=count))

    pods = ground.ready_pods(count)

    for pod in pods:
        assert pod.name.startswith("web-")
        assert pod.controller is not None
        assert [owner.uid for owner in pod.metadata.owner_references] == [pod.controller.uid]
        assert pod.metadata.labels["app"] == "web"
        assert pod.metadata.annotations["example.org/note"] == "kept"
        assert FINALIZER in ground.whole("Pod", pod.name)["metadata"]["finalizers"]
