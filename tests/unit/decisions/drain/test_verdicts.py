"""What a verdict says of a pod, and the write that it comes with."""

import msgspec

from evenkeel.decisions.drain import pace, verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.pod_plan import Candidate
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.request import Patch
from tests.kit import builders

REPLICA_SET = builders.replica_set(of=builders.deployment())


def undone(**release: str) -> Pod:
    """A released pod to which a policy gave its owner back."""
    made = msgspec.structs.replace(builders.release(REPLICA_SET), **release)
    pod = builders.pod(of=REPLICA_SET, released=made)
    label = {names.RELEASED_FROM: builders.HASH}
    return builders.pod(of=REPLICA_SET, labels=label, annotations=pod.metadata.annotations)


def census(*pods: Pod) -> Census:
    return builders.census(REPLICA_SET, owned=pods)


def test_a_release_that_was_undone_in_part_goes_back() -> None:
    pod = undone()
    assert pod.is_released_in_part
    step = verdicts.unreadable(census(pod), pod)
    assert (step.reason, step.message) == (
        "ReleaseRefused",
        "a part of its release was undone: back to its owner",
    )


def test_a_release_that_cannot_be_read_goes_back_to_the_replica_set_that_is_known() -> None:
    spoilt = builders.pod(
        of=REPLICA_SET,
        released=builders.release(REPLICA_SET),
        annotations={names.AT_DEADLINE: "leave"},
    )
    notes = {**spoilt.metadata.annotations, names.RELEASE: "{"}
    labels = dict(spoilt.metadata.labels)
    pod = builders.pod(labels=labels, annotations=notes)
    step = verdicts.unreadable(census(pod), pod)
    assert (step.reason, step.message) == (
        "UnreadableRelease",
        "its annotation cannot be read: back to its owner",
    )


def test_a_release_that_cannot_be_true_is_not_used_for_the_way_back() -> None:
    """It names another ReplicaSet, and says that it lasts for a year."""
    forged = builders.release(REPLICA_SET, deadline=builders.NOW + builders.seconds(365 * 86_400))
    forged = msgspec.structs.replace(
        forged, controller="other", controller_uid="other-uid", do_not_disrupt="9h"
    )
    pod = builders.pod(of=REPLICA_SET, released=forged)
    step = verdicts.unreadable(census(pod), pod)
    assert isinstance(step.write, Patch)
    assert "other-uid" not in str(step.write.body)
    assert "9h" not in str(step.write.body)


def test_a_release_that_was_undone_in_part_tells_what_karpenters_annotation_was() -> None:
    pod = undone(do_not_disrupt="4h")
    step = verdicts.unreadable(census(pod), pod)
    assert isinstance(step.write, Patch)
    assert "4h" in str(step.write.body)


def test_a_pod_waits_for_its_release_where_a_deployment_could_have_it_meanwhile_alone() -> None:
    pod = builders.pod(of=REPLICA_SET)
    candidate = Candidate(pod, node_deadline(builders.notice()))
    assert pace.waiting_of(census(pod), candidate) is not None
    assert pace.waiting_of(builders.census(builders.replica_set(of=None)), candidate) is None
    assert pace.waiting_of(builders.census(None), candidate) is None


def test_nobody_asks_for_a_time_that_pods_have_to_be_ready() -> None:
    assert Owner().min_ready_seconds == 0


def test_none_is_wanted_of_what_nobody_asks_for_and_nobody_has_seen() -> None:
    assert builders.census_of(Owner(), []).count.spec_replicas == 0
