"""What is kept of 150,000 pods: what decides something, and equal parts once."""

import gc
from typing import Any

import msgspec

from evenkeel.flows.restore.compact import KEPT_ANNOTATIONS, Compactor
from evenkeel.model import names
from evenkeel.model.affinity import Affinity, NodeAffinity
from evenkeel.model.meta import Condition
from evenkeel.model.pod import LONGEST_TEXT, Container, Pod, PodSpec, ResourceRequirements
from tests.kit import builders

OWNER = builders.replica_set()
CONTAINER = Container(resources=ResourceRequirements(requests={"cpu": "100m"}))


def pod(name: str, **options: Any) -> Pod:
    made = builders.pod(name, of=OWNER, **options)
    spec = msgspec.structs.replace(made.spec, containers=(CONTAINER,))
    return msgspec.convert(msgspec.to_builtins(msgspec.structs.replace(made, spec=spec)), Pod)


def compact(*pods: Pod) -> list[Pod]:
    compactor = Compactor()
    return [each for each in map(compactor.compact, pods) if each is not None]


def test_what_decides_something_is_kept() -> None:
    kept = dict.fromkeys(KEPT_ANNOTATIONS, "x")
    full = pod("a", annotations=kept, claim="disk")
    (small,) = compact(full)
    assert small.reference == full.reference
    assert small.metadata == full.metadata
    assert (small.ready, small.active, small.template_hash) == (True, True, builders.HASH)
    assert small.spec.requests == full.spec.requests
    assert small.spec.volumes == full.spec.volumes


def test_that_there_are_other_annotations_is_known() -> None:
    (small,) = compact(pod("a", annotations={"note": "x", names.PLACED: "{}"}))
    assert small.metadata.annotations == {names.PLACED: "{}", "others": ""}
    (bare,) = compact(pod("b"))
    assert bare.metadata.annotations == {}


def test_why_a_pod_waits_is_kept_and_other_conditions_are_not() -> None:
    why = Condition(type="PodScheduled", status="False", message="no node had room")
    other = Condition(type="Initialized", status="True")
    (small,) = compact(pod("a", node="", ready=False, conditions=[why, other]))
    assert [each.type for each in small.status.conditions] == ["Ready", "PodScheduled"]
    assert small.status.conditions[1].message == "no node had room"


RULES = {
    "nodeSelector": {"disk": "ssd"},
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
            }
        }
    },
    "tolerations": [{"key": "team", "operator": "Exists"}],
}


def ruled(name: str) -> Pod:
    document = msgspec.to_builtins(pod(name))
    document["spec"] |= RULES
    return msgspec.convert(document, Pod)


def test_what_keeps_a_pod_off_nodes_is_kept_and_what_it_would_like_is_not() -> None:
    (small,) = compact(ruled("a"))
    full = ruled("a").spec
    assert small.spec.affinity is not None
    assert full.affinity is not None
    kept = (small.spec.node_selector, small.spec.affinity.required, small.spec.tolerations)
    assert kept == (full.node_selector, full.affinity.required, full.tolerations)
    likes = Affinity(node_affinity=NodeAffinity(preferred=()))
    (small,) = compact(msgspec.structs.replace(pod("a"), spec=PodSpec(affinity=likes)))
    assert small.spec.affinity is None


def test_equal_parts_are_kept_once() -> None:
    one, other = compact(ruled("a"), ruled("b"))
    assert one.spec.node_selector is other.spec.node_selector
    assert one.spec.affinity is other.spec.affinity
    assert one.spec.tolerations is other.spec.tolerations
    first, second = compact(pod("a"), pod("b"))
    assert first.metadata.labels is second.metadata.labels
    assert first.metadata.owner_references is second.metadata.owner_references
    assert first.spec.containers[0] is second.spec.containers[0]
    assert first.status.conditions[0] is second.status.conditions[0]


def test_what_has_ended_is_not_kept() -> None:
    assert compact(pod("a", phase="Succeeded")) == []


def test_the_garbage_collector_has_nothing_to_look_at() -> None:
    (small,) = compact(pod("a", annotations={names.PLACED: "{}"}))
    parts = (small, small.metadata, small.spec, small.status, *small.status.conditions)
    assert not any(map(gc.is_tracked, parts))


def test_an_annotation_too_long_to_be_a_note_is_not_kept() -> None:
    """A tenant has 256 kB of annotations for each of his pods."""
    (small,) = compact(pod("a", annotations={names.RELEASE: "x" * 200_000, names.PLACED: "{}"}))
    assert small.metadata.annotations == {names.PLACED: "{}", "others": ""}


def test_a_note_of_the_greatest_length_is_kept() -> None:
    longest = {names.RELEASE: "x" * LONGEST_TEXT}
    (small,) = compact(pod("a", annotations=longest))
    assert small.metadata.annotations == longest
