"""What the API server answers to single requests."""

from dataclasses import replace
from datetime import timedelta

import pytest

from evenkeel.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidError,
    NotFoundError,
)
from evenkeel.model.cluster_objects import (
    ConfigMap,
    Event,
    Lease,
    LeaseSpec,
    ObjectReference,
)
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Metadata
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, Delete, Get, Operation, Patch
from tests.contract.ground import Ground
from tests.contract.manifests import config_map, deployment, pod


def test_an_object_is_read_back_as_stored_when_it_was_created(ground: Ground) -> None:
    created = ground.ask(
        Create(
            ConfigMap(
                metadata=Metadata(name="settings", namespace=ground.namespace, labels={"a": "b"}),
                data={"key": "value"},
            )
        )
    )
    found = ground.get(ConfigMap, "settings")
    assert found == created
    assert found.data == {"key": "value"}
    assert found.uid
    assert found.revision > 0
    assert found.metadata.creation_timestamp is not None


def test_creating_is_refused_when_the_name_is_taken(ground: Ground) -> None:
    ground.apply(config_map("settings"))
    again = Create(ConfigMap(metadata=Metadata(name="settings", namespace=ground.namespace)))
    assert isinstance(ground.refused(again), AlreadyExistsError)


def test_creating_is_refused_when_the_namespace_is_missing(ground: Ground) -> None:
    create = Create(ConfigMap(metadata=Metadata(name="x", namespace=f"no-{ground.namespace}")))
    assert isinstance(ground.refused(create), NotFoundError)


def test_reading_patching_and_deleting_find_nothing_when_nothing_is_there(ground: Ground) -> None:
    for request in (
        Get(ConfigMap, "absent", ground.namespace),
        Patch(ConfigMap, "absent", {"data": {"a": "b"}}, ground.namespace),
        Delete(ConfigMap, "absent", ground.namespace),
    ):
        assert isinstance(ground.refused(request), NotFoundError)


@pytest.mark.parametrize("name", ["", "..", "settings/status", "settings%"])
def test_what_can_be_no_name_is_refused(ground: Ground, name: str) -> None:
    for request in (
        Get(ConfigMap, name, ground.namespace),
        Patch(ConfigMap, name, {"data": {"a": "b"}}, ground.namespace),
        Delete(ConfigMap, name, ground.namespace),
    ):
        assert isinstance(ground.refused(request), InvalidError)


def test_all_requests_are_answered_in_their_order_when_several_are_performed(
    ground: Ground,
) -> None:
    for name in ("a", "b", "c"):
        ground.apply(config_map(name))
    requests = [Get(ConfigMap, name, ground.namespace) for name in ("c", "x", "a", "b")]
    replies = ground.cluster.perform(requests)
    assert [reply.request for reply in replies] == requests
    assert [getattr(reply.result, "name", None) for reply in replies] == ["c", None, "a", "b"]
    assert isinstance(replies[1].error, NotFoundError)


# JSON patches.


def test_a_json_patch_changes_all_it_names_when_its_tests_hold(ground: Ground) -> None:
    ground.apply(config_map("settings", mode="act"))
    before = ground.get(ConfigMap, "settings")
    after = ground.patch(
        ConfigMap,
        "settings",
        [
            Operation("test", "/metadata/uid", before.uid),
            Operation("test", "/data/mode", "act"),
            Operation("replace", "/data/mode", "observe"),
            Operation("add", "/metadata/annotations", {"example.org/note": "old"}),
            Operation("replace", "/metadata/annotations/example.org~1note", "new"),
        ],
    )
    assert after.data == {"mode": "observe"}
    assert after.metadata.annotations["example.org/note"] == "new"
    assert after.revision > before.revision
    assert ground.get(ConfigMap, "settings") == after


@pytest.mark.parametrize(
    "failing",
    [
        pytest.param(Operation("test", "/data/mode", "observe"), id="another value"),
        pytest.param(Operation("test", "/metadata/uid", "not-this-one"), id="another uid"),
        pytest.param(Operation("test", "/metadata/resourceVersion", "1"), id="another version"),
        pytest.param(Operation("test", "/data/absent", "x"), id="a missing value"),
        pytest.param(Operation("remove", "/data/absent"), id="removes what is not there"),
        pytest.param(Operation("replace", "/absent/x", "x"), id="replaces in what is not there"),
        pytest.param(Operation("add", "/metadata/labels/a", "b"), id="adds into what is not there"),
        pytest.param(Operation("replace", "/metadata/uid", "other"), id="changes the uid"),
    ],
)
def test_a_json_patch_is_invalid_and_changes_nothing_when_an_operation_fails(
    ground: Ground, failing: Operation
) -> None:
    ground.apply(config_map("settings", mode="act"))
    before = ground.ask(
        Patch(
            ConfigMap,
            "settings",
            [Operation("add", "/metadata/annotations", {"note": "so that it has some"})],
            ground.namespace,
        )
    )
    patch = Patch(
        ConfigMap,
        "settings",
        [Operation("replace", "/data/mode", "changed"), failing],
        ground.namespace,
    )
    assert isinstance(ground.refused(patch), InvalidError)
    assert ground.get(ConfigMap, "settings") == before


def test_replacing_adds_when_nothing_was_there(ground: Ground) -> None:
    """RFC 6902 demands an error; the API server's library has none."""
    ground.apply(config_map("settings", mode="act"))
    after = ground.patch(ConfigMap, "settings", [Operation("replace", "/data/new", "x")])
    assert after.data == {"mode": "act", "new": "x"}


def test_the_version_stays_when_a_patch_changes_nothing(ground: Ground) -> None:
    ground.apply(config_map("settings", mode="act"))
    before = ground.get(ConfigMap, "settings")
    after = ground.patch(ConfigMap, "settings", {"data": {"mode": "act"}})
    assert after.metadata.resource_version == before.metadata.resource_version


def test_the_last_label_takes_the_labels_with_it_when_it_is_removed(ground: Ground) -> None:
    """So the next patch that adds a label has to add the mapping: ``add`` into it fails."""
    created = Create(
        ConfigMap(metadata=Metadata(name="x", namespace=ground.namespace, labels={"a": "b"}))
    )
    ground.ask(created)
    ground.patch(ConfigMap, "x", [Operation("remove", "/metadata/labels/a")])
    add = Patch(ConfigMap, "x", [Operation("add", "/metadata/labels/a", "b")], ground.namespace)
    assert isinstance(ground.refused(add), InvalidError)


def test_a_label_is_refused_when_its_value_is_no_label_value(ground: Ground) -> None:
    ground.apply(config_map("x"))
    patch = Patch(ConfigMap, "x", {"metadata": {"labels": {"a": "b c"}}}, ground.namespace)
    assert isinstance(ground.refused(patch), InvalidError)


# Merge patches.


def test_a_merge_patch_merges_and_null_removes(ground: Ground) -> None:
    ground.apply(config_map("settings", one="1", two="2"))
    after = ground.patch(ConfigMap, "settings", {"data": {"one": None, "three": "3"}})
    assert after.data == {"two": "2", "three": "3"}


def test_a_merge_patch_conflicts_when_it_names_an_old_version(ground: Ground) -> None:
    ground.apply(config_map("settings", mode="act"))
    old = ground.get(ConfigMap, "settings")
    ground.patch(ConfigMap, "settings", {"data": {"mode": "observe"}})
    stale = Patch(
        ConfigMap,
        "settings",
        {"metadata": {"resourceVersion": old.metadata.resource_version}, "data": {"x": "y"}},
        ground.namespace,
    )
    assert isinstance(ground.refused(stale), ConflictError)
    assert ground.get(ConfigMap, "settings").data == {"mode": "observe"}


# Deletions.


def test_a_deletion_conflicts_when_the_object_has_another_uid(ground: Ground) -> None:
    ground.apply(config_map("settings"))
    delete = Delete(ConfigMap, "settings", ground.namespace, uid="not-this-one")
    assert isinstance(ground.refused(delete), ConflictError)
    assert ground.list(ConfigMap, fields="metadata.name=settings")


def test_a_deletion_conflicts_when_the_object_has_changed(ground: Ground) -> None:
    ground.apply(config_map("settings"))
    seen = ground.get(ConfigMap, "settings")
    version = seen.metadata.resource_version
    ground.patch(ConfigMap, "settings", {"data": {"mode": "act"}})
    delete = Delete(ConfigMap, "settings", ground.namespace, seen.uid, resource_version=version)
    assert isinstance(ground.refused(delete), ConflictError)
    version = ground.get(ConfigMap, "settings").metadata.resource_version
    ground.ask(replace(delete, resource_version=version))
    assert not ground.list(ConfigMap, fields="metadata.name=settings")


# Status, generation.


def test_a_write_to_the_object_leaves_its_status_alone_and_the_other_way_round(
    ground: Ground,
) -> None:
    ground.apply(pod("waits"))
    changed = ground.patch(
        Pod, "waits", {"metadata": {"labels": {"a": "b"}}, "status": {"phase": "Running"}}
    )
    assert (changed.metadata.labels, changed.status.phase) == ({"a": "b"}, "Pending")
    condition = {"type": "example.org/checked", "status": "True"}
    changed = ground.patch(
        Pod,
        "waits",
        {
            "metadata": {"labels": {"a": "other"}},
            "spec": {"priority": 7},
            "status": {"conditions": [condition]},
        },
        subresource="status",
    )
    assert changed.spec.priority == 0
    assert "example.org/checked" in [c.type for c in changed.status.conditions]
    assert changed.metadata.labels == {"a": "other"}, "metadata goes through either way"


def test_the_generation_counts_changes_of_the_spec_only(ground: Ground) -> None:
    ground.apply(deployment("web", replicas=0))
    ground.eventually(lambda: ground.get(Deployment, "web").status.observed_generation == 1)
    labelled = ground.patch(Deployment, "web", {"metadata": {"labels": {"a": "b"}}})
    assert labelled.metadata.generation == 1
    paused = ground.patch(Deployment, "web", {"spec": {"paused": True}})
    assert paused.metadata.generation == 2


def test_a_pods_node_cannot_be_changed(ground: Ground) -> None:
    ground.apply(pod("waits"))
    patch = Patch(Pod, "waits", {"spec": {"nodeName": "n"}}, ground.namespace)
    assert isinstance(ground.refused(patch), InvalidError)


def test_a_node_without_a_cordon_has_no_field_for_it(ground: Ground) -> None:
    """The server leaves out what is false, so a JSON patch cannot test for it."""
    name = ground.add_node("n")
    cordon = ground.patch(Node, name, [Operation("add", "/spec/unschedulable", value=True)])
    assert cordon.spec.unschedulable
    ground.patch(Node, name, [Operation("replace", "/spec/unschedulable", value=False)])
    again = Patch(Node, name, [Operation("test", "/spec/unschedulable", value=False)])
    assert isinstance(ground.refused(again), InvalidError)


def test_two_taints_of_one_key_and_effect_are_refused(ground: Ground) -> None:
    name = ground.add_node("n")
    taint = {"key": "example.org/full", "effect": "NoSchedule"}
    patch = Patch(Node, name, {"spec": {"taints": [taint, {**taint, "value": "other"}]}})
    assert isinstance(ground.refused(patch), InvalidError)


# The time, Leases and Events.


def test_an_answer_tells_the_time_in_whole_seconds_and_so_does_a_refusal(ground: Ground) -> None:
    ground.apply(config_map("settings"))
    before = ground.clock.now().replace(microsecond=0)
    for name in ("settings", "absent"):
        (reply,) = ground.cluster.perform([Get(ConfigMap, name, ground.namespace)])
        assert reply.date is not None
        assert before <= reply.date <= ground.clock.now()
        assert reply.date.microsecond == 0


def test_only_one_of_two_takes_a_lease_when_both_patch_the_same_version(ground: Ground) -> None:
    namespace = ground.namespace
    lease = Lease(
        metadata=Metadata(name="turn", namespace=namespace),
        spec=LeaseSpec(
            holder_identity="first",
            lease_duration_seconds=20,
            renew_time="2026-01-01T00:00:00.123456Z",
        ),
    )
    created = ground.ask(Create(lease))
    assert created.spec == lease.spec

    def take(holder: str) -> Patch:
        version = {"resourceVersion": created.metadata.resource_version}
        return Patch(
            Lease, "turn", {"metadata": version, "spec": {"holderIdentity": holder}}, namespace
        )

    replies = ground.cluster.perform([take("second"), take("third")])
    errors = [type(reply.error) for reply in replies if reply.error is not None]
    assert errors == [ConflictError]


def test_an_event_is_found_by_its_object(ground: Ground) -> None:
    ground.apply(pod("subject"), pod("other"))
    subject = ground.get(Pod, "subject")
    for about in (subject, ground.get(Pod, "other")):
        ground.ask(
            Create(
                Event(
                    metadata=Metadata(name=f"{about.name}.1", namespace=ground.namespace),
                    involved_object=ObjectReference(
                        kind="Pod", name=about.name, namespace=ground.namespace, uid=about.uid
                    ),
                    reason="Released",
                    message="its node goes",
                )
            )
        )
    fields = f"involvedObject.uid={subject.uid},reason=Released"
    assert [e.name for e in ground.list(Event, fields=fields)] == ["subject.1"]


def test_time_passes_while_requests_are_carried_out(ground: Ground) -> None:
    before = ground.clock.now()
    ground.list(ConfigMap)
    assert timedelta() < ground.clock.now() - before < timedelta(seconds=10)
