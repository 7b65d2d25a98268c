"""Pods are released and put back without a trace, and every write says what it relies on."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.drain import writes
from evenkeel.errors import InvalidError
from evenkeel.model import names
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Condition, KubernetesObject, OwnerReference
from evenkeel.model.pod import Pod
from evenkeel.model.release import (
    COOLDOWN_FIRST,
    COOLDOWN_LONGEST,
    FORGOTTEN_AFTER,
    Cooldown,
)
from evenkeel.model.request import Delete, Evict, Operation, Patch
from tests.kit import builders
from tests.kit.builders import NOW, patched

REPLICA_SET = builders.replica_set()
RELEASE = builders.release(REPLICA_SET)
ROLLOUT = msgspec.structs.replace(
    builders.ABOVE, api_version="argoproj.io/v1alpha1", kind="Rollout"
)
OTHER_OWNER = OwnerReference(kind="Gang", name="g", uid="gang-uid")

TEXTS = st.text(max_size=12)
ENTRIES = st.dictionaries(TEXTS, TEXTS, max_size=4)
OTHER_OWNERS = st.lists(
    st.builds(OwnerReference, kind=st.just("Gang"), name=st.just("g"), uid=st.uuids().map(str)),
    max_size=2,
)


def released(pod: Pod, above: OwnerReference = builders.ABOVE) -> Pod:
    """The pod once it was released as the API server would do it."""
    value = builders.release(
        REPLICA_SET, do_not_disrupt=pod.metadata.annotations.get(names.DO_NOT_DISRUPT)
    )
    return patched(pod, writes.release_patch(pod, value, above))


def with_owners(pod: Pod, *owners: OwnerReference) -> Pod:
    meta = msgspec.structs.replace(pod.metadata, owner_references=owners)
    return msgspec.structs.replace(pod, metadata=meta)


def operations(write: object) -> list[Operation]:
    assert isinstance(write, Patch)
    assert not isinstance(write.body, dict)
    return [each for each in write.body if isinstance(each, Operation)]


def test_a_release_is_found_in_the_patch_that_makes_it() -> None:
    pod = builders.pod(of=REPLICA_SET)
    assert writes.release_in(writes.release_patch(pod, RELEASE, builders.ABOVE)) == RELEASE


def test_no_release_is_found_in_other_patches() -> None:
    pod = released(builders.pod(of=REPLICA_SET))
    for patch in (
        writes.roll_back_patch(pod, RELEASE),
        writes.annotate(pod, names.COOLDOWN, "x"),
        writes.annotate(pod, names.RELEASE, "x"),
        Patch(kind=Pod, name="a", namespace="b", body={"metadata": {"labels": {}}}),
    ):
        assert writes.release_in(patch) is None


def test_a_released_pod_keeps_its_labels_but_the_hash_and_its_deployment_has_it() -> None:
    before = builders.pod(of=REPLICA_SET, labels={"tier": "front"}, annotations={"note": "x"})

    after = released(before)

    assert after.metadata.labels == {
        "app": "web",
        "tier": "front",
        names.RELEASED_FROM: builders.HASH,
        names.TEMPLATE_HASH: f"{builders.HASH}-released",
    }
    assert not REPLICA_SET.spec.selector.matches(after.metadata.labels)
    assert after.released
    assert after.controller is None
    assert after.metadata.owner_references == (builders.ABOVE,)
    assert after.metadata.annotations["note"] == "x"
    assert after.metadata.annotations[names.DO_NOT_DISRUPT] == "true"
    assert builders.release_on(after) == RELEASE
    assert after.spec == before.spec


@pytest.mark.parametrize("controls", [False, True], ids=["by this version", "by the one before"])
@pytest.mark.parametrize("others", [(), (OTHER_OWNER,)], ids=["no other", "another"])
def test_a_rollout_has_its_pod_without_controlling_it_and_the_replica_set_gets_it_back(
    others: tuple[OwnerReference, ...], *, controls: bool
) -> None:
    before = builders.pod(of=REPLICA_SET)
    before = with_owners(before, *others, builders.owner_reference(REPLICA_SET))
    away = released(before, ROLLOUT)
    named = msgspec.structs.replace(ROLLOUT, controller=False)
    assert away.metadata.owner_references == (*others, named)
    if controls:
        away = with_owners(away, *others, ROLLOUT)
    assert away.released
    assert away.controller is None
    assert not away.is_released_in_part
    back = patched(away, writes.roll_back_patch(away, RELEASE))
    assert back.metadata.owner_references == before.metadata.owner_references


def test_what_is_left_of_a_release_is_taken_off_a_pod_that_its_replica_set_took_back() -> None:
    before = builders.pod(of=REPLICA_SET, annotations={"note": "x"})
    away = released(before, ROLLOUT)
    in_part = changed(
        away,
        labels=before.metadata.labels,
        owner_references=(*away.metadata.owner_references, builders.owner_reference(REPLICA_SET)),
    )
    assert in_part.is_released_in_part
    assert not in_part.released
    back = patched(in_part, writes.roll_back_patch(in_part, in_part.release))
    assert back.metadata.annotations == before.metadata.annotations
    assert back.metadata.labels == before.metadata.labels


@pytest.mark.parametrize("position", [0, 1, 2])
def test_the_deployment_takes_the_replica_sets_place_among_the_owners(position: int) -> None:
    own = builders.owner_reference(REPLICA_SET)
    others = [OTHER_OWNER, msgspec.structs.replace(OTHER_OWNER, uid="other-uid")]
    pod = with_owners(builders.pod(of=REPLICA_SET), *others[:position], own, *others[position:])
    after = [*others[:position], builders.ABOVE, *others[position:]]
    assert list(released(pod).metadata.owner_references) == after


@given(labels=ENTRIES, annotations=ENTRIES, others=OTHER_OWNERS, kept=st.none() | TEXTS)
def test_labels_and_annotations_are_as_before_when_a_release_was_rolled_back(
    labels: dict[str, str],
    annotations: dict[str, str],
    others: list[OwnerReference],
    kept: str | None,
) -> None:
    mark = {} if kept is None else {names.DO_NOT_DISRUPT: kept}
    before = builders.pod(of=REPLICA_SET, labels=labels, annotations=annotations | mark)
    before = with_owners(before, *others, builders.owner_reference(REPLICA_SET))

    away = released(before)
    back = patched(away, writes.roll_back_patch(away, builders.release_on(away)))

    assert back.metadata.labels == before.metadata.labels
    assert back.metadata.annotations == before.metadata.annotations
    assert back.metadata.owner_references == before.metadata.owner_references


@pytest.mark.parametrize("others", [(), (OTHER_OWNER,)], ids=["no other", "another"])
def test_a_pod_that_an_older_version_released_gets_its_replica_set_back(
    others: tuple[OwnerReference, ...],
) -> None:
    away = with_owners(released(builders.pod(of=REPLICA_SET)), *others)
    back = patched(away, writes.roll_back_patch(away, RELEASE))
    assert back.metadata.owner_references == (*others, builders.owner_reference(REPLICA_SET))


@pytest.mark.parametrize("above", [builders.ABOVE, ROLLOUT], ids=["Deployment", "Rollout"])
def test_a_pod_whose_labels_a_policy_put_back_gets_its_replica_set_back(
    above: OwnerReference,
) -> None:
    before = builders.pod(of=REPLICA_SET, annotations={"note": "x"})
    away = released(before, above)
    in_part = changed(away, labels=before.metadata.labels)
    assert in_part.is_released_in_part
    assert in_part.released
    back = patched(in_part, writes.roll_back_patch(in_part, in_part.release))
    assert back.metadata.labels == before.metadata.labels
    assert back.metadata.annotations == before.metadata.annotations
    assert back.metadata.owner_references == before.metadata.owner_references


def test_a_pod_whose_replica_set_a_policy_put_back_gets_its_labels_back() -> None:
    before = builders.pod(of=REPLICA_SET, annotations={"note": "x"})
    away = released(before)
    in_part = changed(away, owner_references=before.metadata.owner_references)
    assert in_part.is_released_in_part
    assert not in_part.released
    back = patched(in_part, writes.roll_back_patch(in_part, in_part.release))
    assert back.metadata.labels == before.metadata.labels
    assert back.metadata.owner_references == before.metadata.owner_references


def test_a_pod_that_another_controller_adopted_stays_that_ones() -> None:
    adopter = msgspec.structs.replace(OTHER_OWNER, controller=True)
    away = with_owners(released(builders.pod(of=REPLICA_SET)), adopter)
    back = patched(away, writes.roll_back_patch(away, RELEASE))
    assert back.metadata.owner_references == (adopter,)
    assert back.metadata.labels[names.TEMPLATE_HASH] == builders.HASH


def test_what_karpenter_was_told_is_as_before_when_a_release_was_rolled_back() -> None:
    before = builders.pod(of=REPLICA_SET, annotations={names.DO_NOT_DISRUPT: "1h"})
    away = released(before)
    back = patched(away, writes.roll_back_patch(away, builders.release_on(away)))
    assert back.metadata.annotations == before.metadata.annotations


@pytest.mark.parametrize(
    "request_", [{}, {names.REQUEST_EVICT_ONLY: ""}], ids=["not asked", "asked"]
)
def test_a_released_pod_says_it_goes_if_its_owner_asks_for_it(request_: dict[str, str]) -> None:
    before = builders.pod(of=REPLICA_SET, annotations={"note": "x"} | request_)
    away = released(before)
    assert (names.EVICTION_IN_PROGRESS in away.metadata.annotations) == bool(request_)
    for release in (away.release, None):
        back = patched(away, writes.roll_back_patch(away, release))
        assert back.metadata.annotations == before.metadata.annotations


def test_our_mark_comes_off_when_the_release_cannot_be_read() -> None:
    before = builders.pod(of=REPLICA_SET, annotations={"note": "x"})
    away = released(before)
    spoilt = msgspec.structs.replace(
        away,
        metadata=msgspec.structs.replace(
            away.metadata, annotations=away.metadata.annotations | {names.RELEASE: "{"}
        ),
    )
    back = patched(spoilt, writes.roll_back_patch(spoilt, None))
    assert back.metadata.annotations == {"note": "x"}
    assert back.metadata.labels == before.metadata.labels
    assert back.metadata.owner_references == ()


def test_a_pod_goes_back_when_all_its_annotations_were_taken_off() -> None:
    before = builders.pod(of=REPLICA_SET)
    away = released(before)
    bare = msgspec.structs.replace(
        away, metadata=msgspec.structs.replace(away.metadata, annotations={})
    )
    back = patched(bare, writes.roll_back_patch(bare, None))
    assert back.metadata.annotations == {}
    assert back.metadata.labels == before.metadata.labels


def changed(pod: Pod, **meta: Any) -> Pod:
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, **meta))


@pytest.mark.parametrize(
    "meanwhile",
    [
        {"uid": "another"},
        {"labels": {"app": "web", names.TEMPLATE_HASH: "another"}},
        {"labels": {"app": "web", names.RELEASED_FROM: builders.HASH}},
        {"owner_references": (OTHER_OWNER,)},
        {"owner_references": ()},
        {"resource_version": "2"},
    ],
    ids=str,
)
def test_a_release_fails_whole_when_the_pod_changed_meanwhile(meanwhile: dict[str, Any]) -> None:
    pod = builders.pod(of=REPLICA_SET)
    patch = writes.release_patch(pod, RELEASE, builders.ABOVE)
    with pytest.raises(InvalidError):
        patched(changed(pod, **meanwhile), patch)


def test_a_release_does_not_mind_a_new_version_when_it_makes_no_map_of_annotations() -> None:
    pod = builders.pod(of=REPLICA_SET, annotations={"note": "x"})
    patch = writes.release_patch(pod, RELEASE, builders.ABOVE)
    busy = changed(pod, resource_version="2")
    assert patched(busy, patch).released


@pytest.mark.parametrize(
    "meanwhile",
    [
        {"uid": "another"},
        {"labels": {"app": "web", names.TEMPLATE_HASH: builders.HASH}},
        {"labels": {"app": "web", names.RELEASED_FROM: "another"}},
    ],
    ids=str,
)
def test_a_rollback_fails_whole_when_the_pod_changed_meanwhile(meanwhile: dict[str, Any]) -> None:
    away = released(builders.pod(of=REPLICA_SET))
    patch = writes.roll_back_patch(away, RELEASE)
    with pytest.raises(InvalidError):
        patched(changed(away, **meanwhile), patch)


def test_hash_and_owner_go_in_one_write_to_this_very_pod() -> None:
    pod = builders.pod("web-7", namespace="shop", of=REPLICA_SET)
    patch = writes.release_patch(pod, RELEASE, builders.ABOVE)
    assert (patch.kind, patch.name, patch.namespace, patch.subresource) == (
        Pod,
        "web-7",
        "shop",
        "",
    )
    changed = [(o.op, o.path) for o in operations(patch) if o.op in ("remove", "replace")]
    assert changed == [
        ("replace", "/metadata/labels/pod-template-hash"),
        ("replace", "/metadata/ownerReferences/0"),
    ]


def test_an_eviction_relies_on_the_uid_alone() -> None:
    pod = builders.pod("web-7", namespace="shop", revision=42)
    assert writes.evict(pod) == Evict(name="web-7", namespace="shop", uid="web-7-uid")


def test_a_deletion_relies_on_the_uid_and_leaves_the_pod_its_grace_period() -> None:
    pod = builders.pod("web-7", namespace="shop")
    assert writes.delete(pod) == Delete(
        kind=Pod, name="web-7", namespace="shop", uid="web-7-uid", grace_seconds=None
    )


@pytest.mark.parametrize("meanwhile", [{"uid": "another"}, {"resource_version": "2"}], ids=str)
def test_a_condition_is_not_added_when_the_pod_changed_meanwhile(meanwhile: dict[str, Any]) -> None:
    pod = builders.pod()
    patch = writes.disruption_patch(pod, NOW)
    assert patch.subresource == "status"
    with pytest.raises(InvalidError):
        patched(changed(pod, **meanwhile), patch)


def test_a_condition_that_was_taken_back_is_set_again_in_its_place() -> None:
    taken_back = Condition(type=names.DISRUPTION_TARGET, status="False")
    pod = builders.pod(conditions=[taken_back])
    after = patched(pod, writes.disruption_patch(pod, NOW))
    found = [each.status for each in after.status.conditions if each.type == taken_back.type]
    assert found == ["True"]


def cooled(workload: Deployment, now: datetime) -> Deployment:
    return patched(workload, writes.cooldown_patch(workload, now))


def test_each_cooldown_is_twice_as_long_as_the_last_up_to_the_longest() -> None:
    workload, now = builders.deployment(), NOW
    rests = []
    for failures in range(1, 12):
        workload = cooled(workload, now)
        cooldown = writes.cooldown_of(workload)
        assert cooldown is not None
        assert cooldown.failures == failures
        rests.append(cooldown.until - now)
        now = cooldown.until
    doubled = [COOLDOWN_FIRST * 2**i for i in range(7)]
    assert rests == [*doubled, *[COOLDOWN_LONGEST] * 4]


@given(failures=st.integers(-(10**30), 10**30))
def test_a_cooldown_is_within_its_bounds_whatever_the_annotation_says(failures: int) -> None:
    said = f'{{"failures":{failures},"until":"2026-11-21T06:00:00Z"}}'
    workload = cooled(builders.deployment(annotations={names.COOLDOWN: said}), NOW)
    cooldown = writes.cooldown_of(workload)
    assert cooldown is not None
    assert COOLDOWN_FIRST <= cooldown.until - NOW <= COOLDOWN_LONGEST
    assert cooldown.failures == max(0, failures) + 1


def test_failures_are_forgotten_a_good_while_after_the_last_rest() -> None:
    workload = cooled(cooled(builders.deployment(), NOW), NOW)
    cooldown = writes.cooldown_of(workload)
    assert cooldown is not None
    assert cooldown.since == NOW
    end = cooldown.until + FORGOTTEN_AFTER
    assert (cooldown.counts(end - timedelta(seconds=1)), cooldown.counts(end)) == (2, 0)
    assert writes.cooldown_of(cooled(workload, end)) == Cooldown(
        failures=1, until=end + COOLDOWN_FIRST
    )


def test_one_annotation_is_set_and_taken_off_again_and_only_if_it_says_the_same() -> None:
    plain = builders.deployment(annotations={"note": "x"})
    noted = patched(plain, writes.annotate(plain, "key", "value"))
    assert noted.metadata.annotations == {"note": "x", "key": "value"}
    patch = writes.take_annotation(noted, "key")
    assert patched(noted, patch).metadata.annotations == {"note": "x"}
    with pytest.raises(InvalidError):
        patched(patched(noted, writes.annotate(noted, "key", "other")), patch)


UNREADABLE = [
    "",
    "{",
    "[]",
    "null",
    '{"failures":1}',
    '{"failures":"1","until":"2026-11-21T06:00:00Z"}',
    '{"failures":1,"until":"tomorrow"}',
    '{"failures":1,"until":"2026-11-21T06:00:00"}',
    '{"failures":1,"until":"9999-12-31T23:59:59Z"}',
    '{"failures":1,"until":"\udc80"}',
    "[" * 100_000,
]


@pytest.mark.parametrize("said", UNREADABLE, ids=lambda said: repr(said[:50]))
def test_a_cooldown_counts_for_nothing_when_it_makes_no_sense(said: str) -> None:
    workload = builders.deployment(annotations={names.COOLDOWN: said})
    assert writes.cooldown_of(workload) is None


def test_a_cooldown_begins_again_when_the_last_one_makes_no_sense() -> None:
    workload = cooled(builders.deployment(annotations={names.COOLDOWN: "{"}), NOW)
    assert writes.cooldown_of(workload) == Cooldown(failures=1, until=NOW + COOLDOWN_FIRST)


def test_a_workload_does_not_cool_down_when_it_never_failed() -> None:
    assert writes.cooldown_of(builders.deployment()) is None


@pytest.mark.parametrize("workload", [builders.deployment(), builders.replica_set()])
def test_a_cooldown_is_written_to_the_workload_that_failed_and_to_no_other(
    workload: KubernetesObject,
) -> None:
    patch = writes.cooldown_patch(workload, NOW)
    assert (patch.kind, patch.name) == (type(workload), workload.name)
    other = msgspec.structs.replace(
        workload, metadata=msgspec.structs.replace(workload.metadata, uid="another")
    )
    with pytest.raises(InvalidError):
        patched(other, patch)


def test_a_cooldown_leaves_other_annotations_alone() -> None:
    workload = cooled(builders.deployment(annotations={"note": "x"}), NOW)
    assert workload.metadata.annotations["note"] == "x"
    assert writes.cooldown_of(workload) == Cooldown(failures=1, until=NOW + timedelta(minutes=5))
