"""Each pod of a doomed node goes the way that docs/notices.md's table gives it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenkeel.adapters.kubernetes.objects import read_object
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner, ReleasesRefused
from evenkeel.decisions.drain.remedies import LOOSER_RULES, ROOM
from evenkeel.decisions.drain.returning import ON_PURPOSE, RECOMMENDATION, WARNING
from evenkeel.decisions.drain.route import NO_PLACE_IS_KNOWN, SETTLES, PlaceSought, Route, route_of
from evenkeel.model import names
from evenkeel.model.cluster_objects import NetworkPolicy
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Why
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import LabelSelector, LabelSelectorRequirement, OwnerReference
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.rollout import BlueGreen, Canary, Rollout, RolloutSpec, RolloutStrategy
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, seconds
from tests.kit.control_plane import ROOT
from tests.kit.given_reasons import RULING_OUT

NOTHING = NamespaceObjects()


def way_of(
    pod: Pod,
    owner: Owner,
    namespace_objects: NamespaceObjects = NOTHING,
    *,
    hint: bool = False,
) -> Route:
    drain = ON_PURPOSE if hint else WARNING
    return route_of(pod, owner, namespace_objects, drain, NOW)


def of_deployment(deployment: Deployment, **pod_options: Any) -> tuple[Pod, Owner]:
    """A pod of the Deployment, and its owner."""
    replica_set = builders.replica_set(of=deployment, replicas=deployment.spec.replicas)
    pod = builders.pod(of=replica_set, **pod_options)
    return pod, builders.owner(replica_set, deployment)


def of_kind(reference: OwnerReference) -> tuple[Pod, Owner]:
    """A pod whose controller Evenkeel does not read."""
    return builders.pod(of=reference), Owner(kind=reference.kind)


def of_replica_set(replica_set: ReplicaSet, **pod_options: Any) -> tuple[Pod, Owner]:
    """A pod of a ReplicaSet without a Deployment."""
    return builders.pod(of=replica_set, **pod_options), builders.owner(replica_set)


STATEFUL_SET, JOB = builders.stateful_set(), builders.job()

TABLE = [
    ("of a Deployment", *of_deployment(builders.deployment()), Way.HANDOVER, Way.HANDOVER),
    (
        "the only one of its Deployment",
        *of_deployment(builders.deployment(replicas=1)),
        Way.HANDOVER,
        Way.HANDOVER,
    ),
    (
        "of a ReplicaSet whose Deployment was not read",
        *of_replica_set(builders.replica_set()),
        Way.HANDOVER,
        Way.HANDOVER,
    ),
    (
        "of a ReplicaSet that no Deployment made",
        *of_replica_set(builders.replica_set(of=None)),
        Way.RATIONED,
        Way.STAY,
    ),
    (
        "of a StatefulSet",
        builders.pod("db-0", of=STATEFUL_SET),
        builders.owner(STATEFUL_SET),
        Way.BY_ORDINAL,
        Way.BY_ORDINAL,
    ),
    (
        "of a Job",
        builders.pod("batch-1", of=JOB),
        builders.owner(JOB),
        Way.AT_LAST_MOMENT,
        Way.STAY,
    ),
    ("bare", builders.pod(), Owner(), Way.AT_LAST_MOMENT, Way.STAY),
    (
        "of a controller that Evenkeel does not know",
        *of_kind(builders.foreign_owner("CloneSet")),
        Way.RATIONED,
        Way.STAY,
    ),
    (
        "of a DaemonSet",
        *of_kind(builders.foreign_owner("DaemonSet", "apps/v1")),
        Way.STAY,
        Way.STAY,
    ),
    (
        "static, owned by its node",
        *of_kind(builders.foreign_owner("Node", "v1")),
        Way.STAY,
        Way.STAY,
    ),
    (
        "static, a mirror",
        builders.pod(annotations={names.MIRROR_POD: "x"}),
        Owner(),
        Way.STAY,
        Way.STAY,
    ),
]


@pytest.mark.parametrize(
    ("pod", "owner", "under_a_warning", "under_a_hint"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_the_kind_of_its_owner_decides_how_a_pod_goes(
    pod: Pod, owner: Owner, under_a_warning: Way, under_a_hint: Way
) -> None:
    assert way_of(pod, owner).way is under_a_warning
    assert way_of(pod, owner, hint=True).way is under_a_hint


@pytest.mark.parametrize("hint", [False, True])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"phase": "Succeeded"}, "Finished"),
        ({"phase": "Failed"}, "Finished"),
        ({"leaving": True}, "AlreadyLeaving"),
        ({"phase": "Failed", "leaving": True}, "Finished"),
    ],
    ids=str,
)
@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_a_pod_is_left_when_it_has_ended_or_is_leaving_already(
    row: tuple[Any, ...], change: dict[str, Any], reason: str, *, hint: bool
) -> None:
    _, pod, owner, *_ = row
    over = builders.pod(annotations=pod.metadata.annotations, **change)
    left = way_of(over, owner, hint=hint)
    assert (left.way, left.reason) == (Way.STAY, reason)


@pytest.mark.parametrize(
    ("owner", "annotations", "reason"),
    [
        (Owner(kind="DaemonSet"), {}, "DaemonSet"),
        (Owner(kind="Node"), {}, "StaticPod"),
        (Owner(), {names.MIRROR_POD: "x"}, "StaticPod"),
    ],
)
def test_what_belongs_to_its_node_is_left_and_the_reason_says_so(
    owner: Owner, annotations: dict[str, str], reason: str
) -> None:
    assert way_of(builders.pod(annotations=annotations), owner).reason == reason


def test_a_bare_pod_comes_with_a_warning_and_a_remedy() -> None:
    bare = way_of(builders.pod(), Owner())
    assert bare.warning
    assert "Deployment" in bare.remedy
    assert not any(way_of(*row[1:3]).warning for row in TABLE if row[0] != "bare")
    assert not way_of(builders.pod(), Owner(), hint=True).warning


def test_a_way_carries_why_as_decisions_and_the_log_do() -> None:
    bare = way_of(builders.pod(), Owner())
    assert bare.why == Why(way=Way.AT_LAST_MOMENT, cause=bare.cause, remedy=bare.remedy)


@pytest.mark.parametrize("word", ["Never", "OnFailure"])
def test_what_runs_to_completion_may_finish_whoever_owns_it(word: str) -> None:
    pod, owner = of_kind(OwnerReference(api_version="a/v1", kind="Runner", name="r", uid="r"))
    spec = msgspec.structs.replace(pod.spec, restart_policy=word)
    found = way_of(msgspec.structs.replace(pod, spec=spec), owner)
    assert (found.way, found.reason) == (Way.AT_LAST_MOMENT, "JobMayFinish")
    bare = way_of(msgspec.structs.replace(builders.pod(), spec=spec), Owner())
    assert bare.reason == "BarePod"


NO_HASH = {"app": "web"}
CLAIMED = {"claim": "data"}


HASHED = {"app": "web", names.TEMPLATE_HASH: builders.HASH}
PEER = {
    "podSelector": {
        "matchExpressions": [
            {"key": names.TEMPLATE_HASH, "operator": "In", "values": ["old", builders.HASH]}
        ]
    }
}


def of_the_database(**rules: Any) -> NetworkPolicy:
    """A NetworkPolicy of other pods, as the API server shows it."""
    spec = {"podSelector": {"matchLabels": {"app": "db"}}, **rules}
    shown = {"metadata": {"name": "db", "namespace": "default"}, "spec": spec}
    return read_object(NetworkPolicy, json.dumps(shown).encode(), "get networkpolicy")


NEVER = {names.HANDOVER: "never"}
RECREATE = builders.deployment(strategy="Recreate")

RULED_OUT = [
    ("HandoverNever", of_deployment(builders.deployment(annotations=NEVER)), NOTHING),
    ("HandoverNever", of_deployment(builders.deployment(), annotations=NEVER), NOTHING),
    (
        "HandoverNever",
        of_deployment(builders.deployment(replicas=2, annotations=NEVER)),
        NOTHING,
    ),
    (
        "HandoverNever",
        of_deployment(builders.deployment(annotations={names.HANDOVER: "Never"})),
        NOTHING,
    ),
    ("HandoverNever", of_replica_set(builders.replica_set(annotations=NEVER)), NOTHING),
    ("NoSurge", of_deployment(builders.deployment(max_surge=0, max_unavailable=1)), NOTHING),
    ("NoSurge", of_deployment(builders.deployment(max_surge="0%", max_unavailable=1)), NOTHING),
    (
        "LiveMigration",
        of_deployment(builders.deployment(), labels={names.LIVE_MIGRATION: "true"}),
        NOTHING,
    ),
    ("NoTemplateHash", of_replica_set(builders.replica_set(selector=NO_HASH)), NOTHING),
    (
        "NoTemplateHash",
        of_replica_set(builders.replica_set(selector=NO_HASH), labels={names.TEMPLATE_HASH: "odd"}),
        NOTHING,
    ),
    (
        "SelectedByHash",
        of_deployment(builders.deployment()),
        NamespaceObjects(services=[builders.service(), builders.service("canary", selects=HASHED)]),
    ),
    (
        "SelectedByHash",
        of_deployment(builders.deployment()),
        NamespaceObjects(
            policies=[
                builders.policy(),
                builders.policy("canary", selects=LabelSelector(match_labels=HASHED)),
            ]
        ),
    ),
    *(
        (
            "SelectedByHash",
            of_deployment(builders.deployment()),
            NamespaceObjects(policies=[builders.policy(), of_the_database(**rules)]),
        )
        for rules in (
            {"ingress": [{"from": [{"podSelector": {"matchLabels": HASHED}}]}]},
            {"egress": [{}, {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}, PEER]}]},
            {"ingress": [{"from": [{"namespaceSelector": {}, **PEER}]}]},
        )
    ),
]


@pytest.mark.parametrize(
    ("reason", "pod_and_owner", "namespace_objects"),
    RULED_OUT,
    ids=[f"{i}-{row[0]}" for i, row in enumerate(RULED_OUT)],
)
def test_a_few_go_at_a_time_and_none_for_a_hint_when_two_at_once_are_ruled_out(
    reason: str, pod_and_owner: tuple[Pod, Owner], namespace_objects: NamespaceObjects
) -> None:
    pod, owner = pod_and_owner

    warned = way_of(pod, owner, namespace_objects)
    hinted = way_of(pod, owner, namespace_objects, hint=True)

    assert (warned.way, warned.reason) == (Way.RATIONED, reason)
    assert (hinted.way, hinted.reason) == (Way.STAY, reason)
    assert warned.remedy
    assert hinted.remedy == warned.remedy
    why, _, _ = warned.message.partition(": no more than maxUnavailable")
    assert hinted.message == f"{why}: no gap is made while its node lives"


@pytest.mark.parametrize(
    ("reason", "pod_and_owner", "namespace_objects"),
    [
        pytest.param("Recreate", of_deployment(RECREATE), NOTHING, id="Recreate"),
        pytest.param(
            "SingleNodeVolume",
            of_deployment(builders.deployment(), **CLAIMED),
            NamespaceObjects(claims=[builders.claim("other"), builders.claim()]),
            id="a volume for one node",
        ),
        pytest.param(
            "SingleNodeVolume",
            of_replica_set(builders.replica_set(), **CLAIMED),
            NamespaceObjects(claims=[builders.claim("data", "ReadWriteOncePod")]),
            id="a volume for one pod",
        ),
        pytest.param(
            "HandoverNever",
            of_deployment(builders.deployment(replicas=1, annotations=NEVER)),
            NOTHING,
            id="single replica, never",
        ),
        pytest.param(
            "NoSurge",
            of_deployment(builders.deployment(replicas=1, max_surge=0, max_unavailable=1)),
            NOTHING,
            id="single replica, no surge",
        ),
        pytest.param(
            "NoTemplateHash",
            of_replica_set(builders.replica_set(replicas=1, selector=NO_HASH)),
            NOTHING,
            id="single replica, no hash",
        ),
        pytest.param(
            "Recreate",
            of_deployment(builders.deployment(strategy="Recreate", annotations=NEVER)),
            NOTHING,
            id="Recreate, and never",
        ),
        pytest.param(
            "SingleNodeVolume",
            of_deployment(builders.deployment(annotations=NEVER), **CLAIMED),
            NamespaceObjects(claims=[builders.claim()]),
            id="a volume for one node, and never",
        ),
        pytest.param(
            "SingleNodeVolume",
            of_deployment(builders.deployment(max_surge=0, max_unavailable=1), **CLAIMED),
            NamespaceObjects(claims=[builders.claim()]),
            id="a volume for one node, and no surge",
        ),
    ],
)
def test_all_go_at_once_when_waiting_would_only_take_time_from_the_replacement(
    reason: str, pod_and_owner: tuple[Pod, Owner], namespace_objects: NamespaceObjects
) -> None:
    pod, owner = pod_and_owner
    warned = way_of(pod, owner, namespace_objects)
    assert (warned.way, warned.reason) == (Way.AT_ONCE, reason)
    assert warned.remedy
    assert way_of(pod, owner, namespace_objects, hint=True).way is Way.STAY


HASH_IN_OTHERS = LabelSelector(
    match_expressions=(
        LabelSelectorRequirement(key=names.TEMPLATE_HASH, operator="In", values=("a", "b")),
    )
)


@pytest.mark.parametrize(
    ("pod_and_owner", "namespace_objects"),
    [
        (of_deployment(builders.deployment(max_surge=1, max_unavailable=0)), NOTHING),
        (of_deployment(builders.deployment(max_surge="1%")), NOTHING),
        (of_deployment(builders.deployment(annotations={names.HANDOVER: "always"})), NOTHING),
        (
            of_deployment(builders.deployment(annotations=NEVER), annotations={names.HANDOVER: ""}),
            NOTHING,
        ),
        (
            of_deployment(builders.deployment(), **CLAIMED),
            NamespaceObjects(claims=[builders.claim("data", "ReadWriteOnce", "ReadWriteMany")]),
        ),
        (
            of_deployment(builders.deployment(), **CLAIMED),
            NamespaceObjects(claims=[builders.claim("data", "ReadOnlyMany")]),
        ),
        (of_deployment(builders.deployment(), **CLAIMED), NOTHING),
        (of_deployment(builders.deployment()), NamespaceObjects(claims=[builders.claim()])),
        (of_deployment(builders.deployment()), NamespaceObjects(services=[builders.service()])),
        (
            of_deployment(builders.deployment()),
            NamespaceObjects(
                services=[
                    builders.service(selects={"app": "other", names.TEMPLATE_HASH: builders.HASH}),
                    builders.service(selects={"app": "web", names.TEMPLATE_HASH: "other"}),
                    builders.service(selects={}),
                ],
                policies=[builders.policy(), builders.policy(selects=HASH_IN_OTHERS)],
            ),
        ),
    ],
    ids=[
        "a surge of one",
        "a surge of one percent of three",
        "another value of the annotation",
        "the pod's annotation overrides its Deployment's",
        "a volume that many nodes can mount",
        "a volume that many nodes can read",
        "a volume whose claim is not known",
        "somebody else's volume",
        "a Service that does not ask for the hash",
        "Services and policies that select other pods",
    ],
)
@pytest.mark.parametrize("hint", [False, True])
def test_a_pod_is_handed_over_when_nothing_rules_out_two_at_once(
    pod_and_owner: tuple[Pod, Owner], namespace_objects: NamespaceObjects, *, hint: bool
) -> None:
    found = way_of(*pod_and_owner, namespace_objects, hint=hint)
    assert (found.way, found.reason) == (Way.HANDOVER, "MakeBeforeBreak")


def of_rollout(strategy: RolloutStrategy, *, is_read: bool = True) -> tuple[Pod, Owner]:
    """A pod of a Rollout of three, and its owner."""
    rollout = Rollout(
        metadata=builders.metadata("web"), spec=RolloutSpec(replicas=3, strategy=strategy)
    )
    replica_set = builders.replica_set(
        of=rollout.as_controller, selector={"app": "web", names.ROLLOUT_HASH: "5f6d8"}
    )
    pod = builders.pod(of=replica_set, labels={"app": "web", names.ROLLOUT_HASH: "5f6d8"})
    return pod, builders.owner(replica_set, rollout if is_read else None)


@pytest.mark.parametrize(
    ("strategy", "way", "reason"),
    [
        (RolloutStrategy(canary=Canary()), Way.HANDOVER, "MakeBeforeBreak"),
        (RolloutStrategy(canary=Canary(max_surge=0)), Way.RATIONED, "NoSurge"),
        (RolloutStrategy(blue_green=BlueGreen()), Way.RATIONED, "SelectedByHash"),
        (RolloutStrategy(canary=Canary(stable_service="web")), Way.RATIONED, "SelectedByHash"),
    ],
)
def test_a_rollouts_pod_is_handed_over_unless_traffic_reaches_it_by_its_hash(
    strategy: RolloutStrategy, way: Way, reason: str
) -> None:
    found = way_of(*of_rollout(strategy))
    assert (found.way, found.reason) == (way, reason)


def test_a_rollouts_pod_is_not_handed_over_while_the_rollout_could_not_be_read() -> None:
    found = way_of(*of_rollout(RolloutStrategy(), is_read=False))
    assert (found.way, found.reason) == (Way.RATIONED, "NoDeployment")
    assert found.cause == "the Rollout that made its ReplicaSet could not be read"


def test_a_foreign_controller_s_pods_go_at_once_within_a_budget() -> None:
    pod, owner = of_kind(builders.foreign_owner("CloneSet"))
    around = NamespaceObjects(budgets=[builders.budget()])
    pod = msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, labels={"app": "web"})
    )
    assert way_of(pod, owner, around).way is Way.AT_ONCE
    assert way_of(pod, owner, around, hint=True).way is Way.STAY


@pytest.mark.parametrize(("replicas", "way"), [(1, Way.AT_ONCE), (3, Way.RATIONED)])
def test_no_pod_is_handed_over_for_a_while_after_releases_were_refused(
    replicas: int, way: Way
) -> None:
    pod, owner = of_deployment(builders.deployment(replicas=replicas))
    until = NOW + seconds(300)
    refused = msgspec.structs.replace(
        owner, releases_refused=ReleasesRefused("the platform team says no", until)
    )
    found, hinted = way_of(pod, refused), way_of(pod, refused, hint=True)
    assert (found.way, found.reason, found.until) == (way, "ReleaseRefused", until)
    assert "the platform team says no" in found.message
    assert (hinted.way, hinted.reason, hinted.until) == (Way.STAY, "ReleaseRefused", until)
    assert route_of(pod, refused, NOTHING, WARNING, until).way is Way.HANDOVER


def test_a_namespace_that_could_not_be_read_stops_a_hint_and_no_warning() -> None:
    unread = NamespaceObjects(unread="GET services: 500")
    pod, owner = of_deployment(builders.deployment())
    left = way_of(pod, owner, unread, hint=True)
    assert (left.way, left.reason) == (Way.STAY, "NamespaceUnread")
    assert "GET services: 500" in left.message
    assert way_of(pod, owner, unread).way is Way.HANDOVER
    stateful = builders.pod(of=STATEFUL_SET)
    assert way_of(stateful, builders.owner(STATEFUL_SET), unread, hint=True).way is Way.BY_ORDINAL


def test_a_pod_goes_by_its_hash_when_its_replica_set_is_not_known() -> None:
    pod, _ = of_deployment(builders.deployment())
    assert way_of(pod, Owner(kind="ReplicaSet")).way is Way.HANDOVER
    bare = builders.pod(of=builders.foreign_owner("ReplicaSet", "apps/v1"))
    unknown = way_of(bare, Owner(kind="ReplicaSet"))
    assert (unknown.way, unknown.reason) == (Way.RATIONED, "NoTemplateHash")


@pytest.mark.parametrize(
    "peer",
    [
        {"podSelector": {"matchLabels": {"app": "web"}}},
        {"podSelector": {"matchLabels": {**HASHED, "app": "other"}}},
        {"namespaceSelector": {}},
    ],
)
def test_peers_that_a_released_pod_still_is_one_of_rule_nothing_out(peer: dict[str, Any]) -> None:
    pod, owner = of_deployment(builders.deployment())
    around = NamespaceObjects(policies=[of_the_database(ingress=[{"from": [peer]}, {}])])
    assert way_of(pod, owner, around).way is Way.HANDOVER


def test_of_a_policy_only_peers_by_template_hash_are_kept() -> None:
    other = {"podSelector": {"matchLabels": {"app": "web"}}}
    found = of_the_database(ingress=[{"from": [other] * 5_000}, {"from": [other, PEER]}])
    (rule,) = found.spec.ingress
    assert len(rule.from_) == 1


def test_a_released_pod_still_counts_as_selected_by_the_hash_that_it_had() -> None:
    replica_set = builders.replica_set()
    pod = builders.pod(of=replica_set, released=builders.release(replica_set))
    canary = NamespaceObjects(services=[builders.service(selects=HASHED)])
    assert way_of(pod, builders.owner(replica_set), canary).reason == "SelectedByHash"


KEEP = [
    {names.SAFE_TO_EVICT: "false"},
    {names.SAFE_TO_EVICT: "False"},
    {names.DO_NOT_DISRUPT: "true"},
]


@pytest.mark.parametrize("keep", KEEP, ids=str)
@pytest.mark.parametrize("place", ["pod", "controller", "Deployment"])
def test_an_owners_wish_to_keep_a_pod_counts_against_a_hint_and_not_against_a_warning(
    keep: dict[str, str], place: str
) -> None:
    deployment = builders.deployment(annotations=keep if place == "Deployment" else {})
    replica_set = builders.replica_set(
        of=deployment, annotations=keep if place == "controller" else {}
    )
    pod = builders.pod(of=replica_set, annotations=keep if place == "pod" else {})
    owner = builders.owner(replica_set, deployment)

    hinted = way_of(pod, owner, hint=True)

    assert (hinted.way, hinted.reason) == (Way.STAY, "Protected")
    (key,) = keep
    assert key in hinted.message
    assert key in hinted.remedy
    assert way_of(pod, owner).way is Way.HANDOVER


@pytest.mark.parametrize(
    "annotations",
    [{names.SAFE_TO_EVICT: "true"}, {names.DO_NOT_DISRUPT: "false"}, {"other": "true"}],
    ids=str,
)
def test_a_pod_is_handed_over_for_a_hint_if_no_note_keeps_it(annotations: dict[str, str]) -> None:
    pod, owner = of_deployment(builders.deployment(), annotations=annotations)
    assert way_of(pod, owner, hint=True).way is Way.HANDOVER


@pytest.mark.parametrize(
    ("word", "started", "left"),
    [
        ("4h", -4 * 3600 + 1, True),
        ("4h", -4 * 3600, False),
        ("1h30m", -5399.5, True),
        ("90m", -5400, False),
        ("1h", None, True),
        ("0s", None, False),
        ("-4h", -1, False),
        ("4 hours", -1, False),
        ("200y", -1, False),
        ("292y", -1, False),
        ("2562047h", -1, True),
    ],
)
def test_a_duration_keeps_a_pod_for_so_long_after_its_start(
    word: str, started: float | None, *, left: bool
) -> None:
    start = None if started is None else NOW + timedelta(seconds=started)
    pod, owner = of_deployment(
        builders.deployment(), annotations={names.DO_NOT_DISRUPT: word}, start_time=start
    )
    found = way_of(pod, owner, hint=True)
    assert (found.reason == "Protected") is left
    assert way_of(pod, owner).way is Way.HANDOVER
    if left and start is not None:
        assert found.until is not None
        assert found.until > NOW
        assert f'"{word}" forbids voluntary moves until 2' in found.message


def test_a_kubelet_that_tells_no_sensible_start_ends_no_protection() -> None:
    long_ago = datetime(1, 1, 1, tzinfo=UTC)
    pod, owner = of_deployment(
        builders.deployment(), annotations={names.DO_NOT_DISRUPT: "1h"}, start_time=long_ago
    )
    found = way_of(pod, owner, hint=True)
    assert (found.reason, found.until) == ("Protected", None)


def test_a_released_pod_is_protected_by_its_owners_word_and_not_by_ours() -> None:
    replica_set = builders.replica_set()
    released = builders.release(replica_set)
    owner = builders.owner(replica_set)
    plain = builders.pod(of=replica_set, released=released)
    kept = builders.pod(
        of=replica_set, released=released, annotations={names.SAFE_TO_EVICT: "false"}
    )
    assert way_of(plain, owner, hint=True).way is Way.HANDOVER
    assert way_of(kept, owner, hint=True).reason == "Protected"


def test_a_pod_whose_release_was_undone_in_part_is_not_protected_by_our_word() -> None:
    replica_set = builders.replica_set()
    released = builders.pod(of=replica_set, released=builders.release(replica_set))
    label = {names.RELEASED_FROM: builders.HASH}
    pod = builders.pod(of=replica_set, labels=label, annotations=released.metadata.annotations)
    assert pod.is_released_in_part
    assert way_of(pod, builders.owner(replica_set), hint=True).reason != "Protected"


def test_what_is_not_ours_is_left_for_that_reason_even_when_it_is_protected_too() -> None:
    pod = builders.pod(annotations={names.SAFE_TO_EVICT: "false"})
    assert way_of(pod, Owner(kind="DaemonSet"), hint=True).reason == "DaemonSet"


def test_a_pods_hash_is_known_before_and_after_its_release() -> None:
    replica_set = builders.replica_set()
    owned = builders.pod(of=replica_set)
    released = builders.pod(of=replica_set, released=builders.release(replica_set))
    assert owned.template_hash == released.template_hash == builders.HASH
    assert builders.pod().template_hash == ""


def test_the_hash_of_a_released_pod_is_that_of_its_replica_set() -> None:
    labels = {names.RELEASED_FROM: "abc"}
    released = builders.pod(labels={**labels, names.TEMPLATE_HASH: "abc-released"})
    of_an_older_version = builders.pod(labels=labels)
    marked_by_a_stranger = builders.pod(labels={**labels, names.TEMPLATE_HASH: "def"})
    assert [
        each.template_hash for each in (released, of_an_older_version, marked_by_a_stranger)
    ] == [
        "abc",
        "abc",
        "def",
    ]


@pytest.mark.parametrize(
    ("length", "way"), [(1, Way.HANDOVER), (54, Way.HANDOVER), (55, Way.AT_ONCE)]
)
def test_a_hash_without_room_for_the_mark_of_a_release_rules_it_out(length: int, way: Way) -> None:
    found = way_of(*of_replica_set(builders.replica_set(replicas=1, template_hash="a" * length)))
    assert found.way is way


@pytest.mark.parametrize(
    ("lacks", "remedy"),
    [(NO_PLACE_IS_KNOWN, ROOM), ("no node takes it: its selector", LOOSER_RULES)],
)
def test_without_a_place_what_would_break_first_stays_on_a_hint(lacks: str, remedy: str) -> None:
    asked = builders.pod(of=STATEFUL_SET), builders.owner(STATEFUL_SET), NOTHING, ON_PURPOSE, NOW
    assert route_of(*asked).way is Way.BY_ORDINAL
    found = route_of(*asked, PlaceSought(lacks=lacks))
    assert (found.way, found.reason) == (Way.STAY, Reason.NO_PLACE)
    assert (found.cause, found.remedy) == (lacks, remedy)


def test_a_place_that_is_known_for_a_while_lets_an_ordinal_go_so_long() -> None:
    until, owner = NOW + seconds(10), builders.owner(STATEFUL_SET)
    pod, place = builders.pod(of=STATEFUL_SET), PlaceSought(until)
    found = route_of(pod, owner, NOTHING, ON_PURPOSE, NOW, place)
    assert (found.way, found.until) == (Way.BY_ORDINAL, until)


def test_one_that_dies_in_any_case_needs_no_place() -> None:
    pod, owner = builders.pod(of=STATEFUL_SET), builders.owner(STATEFUL_SET)
    found = route_of(pod, owner, NOTHING, WARNING, NOW, PlaceSought())
    assert (found.way, found.until) == (Way.BY_ORDINAL, None)


SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("made", "until"),
    [
        (NOW, NOW + SETTLES),
        (NOW - SETTLES + SECOND, NOW + SECOND),
        (NOW - SETTLES, None),
        (None, None),
    ],
    ids=["just made", "made almost so long ago", "old enough", "of no age"],
)
def test_a_young_pod_that_would_break_first_stays_on_a_recommendation(
    made: datetime | None, until: datetime | None
) -> None:
    pod = aged(builders.pod("db-0", of=STATEFUL_SET), made)
    owner = builders.owner(STATEFUL_SET)
    found = route_of(pod, owner, NOTHING, RECOMMENDATION, NOW)
    assert way_of(pod, owner, hint=True).way is Way.BY_ORDINAL, "a drain on purpose takes it"
    if until is None:
        assert found.way is Way.BY_ORDINAL
    else:
        assert (found.way, found.reason, found.until) == (Way.STAY, Reason.COOLING_DOWN, until)
        assert found.message == "it is younger than 6 h: no gap is made for a mere recommendation"


def test_a_young_pod_that_is_replaced_before_it_goes_is_handed_over() -> None:
    pod, owner = of_deployment(builders.deployment())
    pod = aged(pod, NOW)
    assert route_of(pod, owner, NOTHING, RECOMMENDATION, NOW).way is Way.HANDOVER


def aged(pod: Pod, made: datetime | None) -> Pod:
    """The same, made then."""
    metadata = msgspec.structs.replace(pod.metadata, creation_timestamp=made)
    return msgspec.structs.replace(pod, metadata=metadata)


def test_each_reason_that_rules_two_at_once_out_has_a_case_here() -> None:
    cases = Path(__file__).read_text()
    without = {reason for reason in RULING_OUT if f'"{reason}"' not in cases}
    assert not without, "see RULED_OUT"


def test_the_list_of_what_rules_two_at_once_out_has_each_reason_and_no_other() -> None:
    page = (ROOT / "docs" / "notices.md").read_text()
    _, _, after = page.partition("\n### What rules out two pods at once\n")
    section, _, _ = after.partition("\n### ")
    listed = {reason for reason in Reason if f"(`{reason}`)" in section}
    assert listed == RULING_OUT, "docs/notices.md lists others than two_at_once.py gives"
