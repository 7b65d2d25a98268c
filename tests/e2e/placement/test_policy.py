"""The admission policy on the real API server says of each pod what the webhook says of it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenkeel.decisions.floor.source import FloorOf, Source
from evenkeel.decisions.placement.policy import untold
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.deployment import Deployment
from evenkeel.model.floor import NONE
from tests.e2e.placement.webhook import Ground, opened
from tests.kit.control_plane import ControlPlane
from tests.kit.manifests import Manifest, resource
from tests.stories.placement.scene import (
    NAMESPACE,
    Placement,
    apply_patch,
    namespace,
    pod,
    workload,
)
from tests.unit.decisions.placement.pods import KEYS, clause, required, term

pytestmark = pytest.mark.controlplane

FLOORS = ("", "none", "all", "majority", "0", "2", "7", "0%", "30%", "50%", "67%", "100%")
SPOILT = ("half", "101%", " 2 ", "-1", "1.5", "1000000")
DEFAULTS = "the default is required"
OF_NAMESPACES = ("", "none", "all", "majority", "40%", "half", DEFAULTS)
SLEEPS = ("5s", "0s", "9999s", "soon", "5", None)
"""What pods and namespaces say of sleeps."""

HOOK = {"exec": {"command": ["true"]}}
KINDS = ("ReplicaSet", "StatefulSet", "Job", "RayCluster", "")
BY_KUBERNETES = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
"""Keys of the tolerations that the API server itself gives each pod."""

values = st.sampled_from(["spot", "SPOT", "sPoT", "on-demand", "OnDemand", "reserved", "Ec2Spot"])
keys = st.sampled_from(
    [*KEYS, *KEYS, "lifecycle", names.INTERRUPTIBLE, "example.org/zone", names.HOSTNAME]
)
clauses = st.one_of(
    st.builds(
        lambda key, operator, values: clause(key, operator, *values),
        keys,
        st.sampled_from(["In", "NotIn"]),
        st.lists(values, min_size=1, max_size=3),
    ),
    st.builds(
        lambda key, operator: {"key": key, "operator": operator},
        keys,
        st.sampled_from(["Exists", "DoesNotExist"]),
    ),
)
fields = st.builds(
    lambda node: {"matchFields": [clause("metadata.name", "In", node)]},
    st.sampled_from(["n1", "n2"]),
)
terms = st.one_of(
    st.builds(lambda found: term(*found), st.lists(clauses, min_size=1, max_size=2)), fields
)
preferred = st.builds(
    lambda found: {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": weight, "preference": term(each)} for weight, each in found
            ]
        }
    },
    st.lists(
        st.tuples(
            st.sampled_from([1, 50, 100]),
            st.one_of(st.just(clause(KEYS[0], "In", "spot", "SPOT", "Spot")), clauses),
        ),
        min_size=1,
        max_size=3,
    ),
)
affinities: st.SearchStrategy[Manifest] = st.one_of(
    st.builds(lambda found: required(*found), st.lists(terms, min_size=1, max_size=3)),
    st.builds(lambda found: required(term(found)), clauses),
    st.sampled_from([{}, {"podAntiAffinity": {}}]),
    preferred,
)
tolerations = st.lists(
    st.sampled_from(
        [
            {"key": KEYS[0], "operator": "Exists"},
            {"key": KEYS[1], "value": "spot"},
            {"key": KEYS[1], "operator": "Exists", "effect": "NoSchedule"},
            {"operator": "Exists"},
        ]
    ),
    max_size=2,
)
rules = st.fixed_dictionaries(
    {},
    optional={
        "affinity": affinities,
        "nodeSelector": st.dictionaries(keys, values, max_size=1),
        "tolerations": tolerations,
        "topologySpreadConstraints": st.builds(
            lambda key, when: [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when}],
            st.sampled_from([*KEYS, "lifecycle", names.ZONE]),
            st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
        ),
    },
)
"""What pods say of nodes by themselves, and of each other."""

others = st.fixed_dictionaries(
    {},
    optional={
        "schedulerName": st.sampled_from(["packer", names.SCHEDULER, names.FARGATE_SCHEDULER]),
        "nodeName": st.just("n1"),
    },
)
labels = st.fixed_dictionaries(
    {},
    optional={
        names.POD_INDEX: st.sampled_from(["0", "1", "2", "3", "4", "9", "x", "99999999999"]),
        "scheduling.x-k8s.io/pod-group": st.just("train"),
    },
)


def noted(of_namespace: str) -> dict[str, str]:
    """The annotations of a namespace."""
    if of_namespace == DEFAULTS:
        return {names.DEFAULT_FLOORS: "Required"}
    return {names.ON_DEMAND: of_namespace} if of_namespace else {}


OWN = CapacityLabels(("lifecycle", KEYS[1], "other"), values={"lifecycle": ("Ec2Spot", "")})
"""Labels that somebody named, one of them with a value of its own for spot."""


@pytest.fixture(
    scope="module", params=[WELL_KNOWN, OWN], ids=["usual labels", "labels of one's own"]
)
def known(request: pytest.FixtureRequest) -> CapacityLabels:
    """The labels that tell which nodes are spot."""
    found: CapacityLabels = request.param
    return found


@pytest.fixture(scope="module")
def policed(
    control_plane: ControlPlane, known: CapacityLabels, tmp_path_factory: Any
) -> Iterator[Ground]:
    """Managed namespaces with the floors of ``OF_NAMESPACES``, whose pods the policy places."""
    folder: Path = tmp_path_factory.mktemp("policy")
    with control_plane.namespace() as name, opened(control_plane, name, folder) as ground:
        spaces = {f"{name}-{number}": noted(each) for number, each in enumerate(OF_NAMESPACES)}
        for number, said in enumerate(SLEEPS):
            notes = {} if said is None else {names.PRE_STOP_SLEEP: said}
            spaces[f"{name}-sleeps-{number}"] = notes
        for space, notes in spaces.items():
            control_plane.apply(
                resource("Namespace", space, labels={names.MANAGED: names.TRUE}, notes=notes),
                resource("ServiceAccount", "default", space),
            )
        ground.police(known)
        yield ground


EXAMPLES = settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@EXAMPLES
@given(
    kind=st.sampled_from(KINDS),
    floor=st.sampled_from([*FLOORS, *SPOILT]),
    of_namespace=st.sampled_from(OF_NAMESPACES),
    ordinal=st.integers(0, 12),
    its_labels=labels,
    spec=others,
)
def test_the_policy_places_a_pod_by_its_floor_as_the_webhook_does(
    policed: Ground, known: CapacityLabels, of_namespace: str, **of_pod: Any
) -> None:
    agree(policed, known, of_namespace, **of_pod)


@EXAMPLES
@given(kind=st.sampled_from(["ReplicaSet", ""]), floor=st.sampled_from(["all", "none"]), spec=rules)
def test_the_policy_heeds_a_pods_own_rules_as_the_webhook_does(
    policed: Ground, known: CapacityLabels, **of_pod: Any
) -> None:
    agree(policed, known, "", ordinal=0, its_labels={}, **of_pod)


@EXAMPLES
@given(floor=st.sampled_from(FLOORS), ordinal=st.integers(0, 30))
def test_the_policy_places_an_ordinal_as_the_webhook_does(
    policed: Ground, known: CapacityLabels, floor: str, ordinal: int
) -> None:
    of_pod: Any = {"kind": "StatefulSet", "floor": floor, "ordinal": ordinal}
    agree(policed, known, "", its_labels={}, spec={}, **of_pod)


@EXAMPLES
@given(
    own=st.sampled_from(SLEEPS),
    of_namespace=st.sampled_from(SLEEPS),
    grace=st.sampled_from([None, 0, 1, 2, 9, 30]),
    hooks=st.lists(
        st.sampled_from(
            [None, {}, {"postStart": HOOK}, {"preStop": HOOK}, {"preStop": HOOK, "postStart": HOOK}]
        ),
        min_size=1,
        max_size=3,
    ),
    spec=st.sampled_from(
        [
            {},
            {"nodeSelector": {KEYS[0]: "spot"}},
            {"schedulerName": names.FARGATE_SCHEDULER},
            {"nodeName": "n1"},
        ]
    ),
)
def test_the_policy_has_containers_sleep_as_the_webhook_does(
    policed: Ground,
    known: CapacityLabels,
    own: str | None,
    of_namespace: str | None,
    grace: int | None,
    hooks: list[Manifest | None],
    spec: Manifest,
) -> None:
    scene = Placement(capacity_labels=known)
    notes = {} if of_namespace is None else {names.PRE_STOP_SLEEP: of_namespace}
    scene.cluster.apply(
        resource("Namespace", NAMESPACE, labels={names.MANAGED: names.TRUE}, notes=notes)
    )
    space = f"{policed.namespace}-sleeps-{SLEEPS.index(of_namespace)}"
    asked = pod(scene.replica_set(4), annotations={}, **spec)
    if own is not None:
        asked["metadata"]["annotations"][names.PRE_STOP_SLEEP] = own
    if grace is not None:
        asked["spec"]["terminationGracePeriodSeconds"] = grace
    asked["spec"]["containers"] = [
        {"name": f"c{number}", "image": "main"} | ({} if hook is None else {"lifecycle": hook})
        for number, hook in enumerate(hooks)
    ]
    by_policy = dry_run(policed, asked, space)
    assert seen(by_policy) == seen(apply_patch(asked, scene.ask(asked)))


def agree(ground: Ground, labels: CapacityLabels, of_namespace: str, **of_pod: Any) -> None:
    """Both make the same of a pod, where these labels tell which nodes are spot.

    Or the policy leaves it, and that is told of its workload.
    """
    scene, asked = asking(labels, of_namespace=of_namespace, **of_pod)
    space = f"{ground.namespace}-{OF_NAMESPACES.index(of_namespace)}"
    by_policy = dry_run(ground, asked, space)
    template = {"spec": {"containers": [], **asked["spec"]}, "metadata": {}}
    spec = {"selector": {}, "template": template}
    made = msgspec.convert({"metadata": {"name": "web"}, "spec": spec}, Deployment)
    floor = FloorOf(NONE, Source.DEFAULT)
    if [*untold(made, floor, {}, in_gang=False, labels=labels)]:
        assert names.PLACED not in by_policy["metadata"].get("annotations", {})
        return
    assert seen(by_policy) == seen(apply_patch(asked, scene.ask(asked)))


def asking(
    known: CapacityLabels,
    kind: str,
    floor: str,
    of_namespace: str,
    ordinal: int,
    its_labels: Mapping[str, str],
    spec: Mapping[str, Any],
) -> tuple[Placement, Manifest]:
    """A simulated cluster with the webhook, and a pod of a workload of four there."""
    scene = Placement(capacity_labels=known)
    space = namespace(NAMESPACE, managed=True)
    space["metadata"]["annotations"] = noted(of_namespace)
    scene.cluster.apply(space)
    notes = {names.ON_DEMAND: floor} if floor else {}
    is_known = kind in ("ReplicaSet", "StatefulSet", "Job")
    extra: dict[str, Any] = {"parallelism": 4} if kind == "Job" else {}
    manifest = workload(kind if is_known else "ReplicaSet", "web", 4, **extra)
    manifest["spec"]["template"]["metadata"]["annotations"] = notes
    scene.cluster.apply(manifest)
    owner = scene.read(manifest["kind"], "web")
    if not is_known:
        owner |= {"apiVersion": "ray.io/v1", "kind": kind}
    asked = pod(
        owner, name=f"web-{ordinal}", labels=dict(its_labels), annotations=notes, **dict(spec)
    )
    if not kind:
        del asked["metadata"]["ownerReferences"]
    return scene, asked


def dry_run(ground: Ground, asked: Manifest, space: str) -> Manifest:
    """What the API server makes of a pod, with a name that no other pod has."""
    body = {**asked, "metadata": {**asked["metadata"], "namespace": space}}
    made: Manifest = ground.control_plane.request(
        "POST", f"api/v1/namespaces/{space}/pods?dryRun=All", body
    )
    return made


def seen(pod: Manifest) -> Manifest:
    """What placement has to do with; without the time and the place that a webhook notes."""
    metadata, spec = pod["metadata"], pod["spec"]
    notes = dict(metadata.get("annotations") or {})
    if names.PLACED in notes:
        note = json.loads(notes[names.PLACED])
        notes[names.PLACED] = {k: v for k, v in note.items() if k not in ("at", "claim", "slot")}
    borne = spec.get("tolerations") or ()
    return {
        "labels": metadata["labels"],
        "annotations": notes,
        "affinity": spec.get("affinity") or {},
        "tolerations": [each for each in borne if each.get("key") not in BY_KUBERNETES],
        "lifecycles": [each.get("lifecycle") or {} for each in spec["containers"]],
    }
