"""The gang of a pod, and when its members go together."""

import msgspec
import pytest

from evenkeel.decisions.drain.gangs import Gang, gang_of, together
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.returning import MOVE, ON_PURPOSE, WARNING
from evenkeel.decisions.drain.route import route_of, with_the_others
from evenkeel.model import names
from evenkeel.model.affinity import SchedulingGroup
from evenkeel.model.controllers.job import Job
from evenkeel.model.gang import (
    GROUP_KEY,
    RECREATED,
    SET_NAME,
    Chosen,
    CoschedulingPodGroup,
    DisruptionMode,
    EarlierPodGroup,
    GangPolicy,
    GroupName,
    LeaderWorkerSet,
    LeaderWorkerSetSpec,
    LeaderWorkerTemplate,
    PodGroup,
    PodGroupSpec,
    SchedulingPolicy,
    group_of,
)
from evenkeel.model.meta import Reference
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, seconds

COSCHEDULED = {"scheduling.x-k8s.io/pod-group": "train"}
EARLIER = {"pod-group.scheduling.sigs.k8s.io": "train"}
TRAIN = Gang(Reference("PodGroup", "train", "default"), 3)


BASIC = SchedulingPolicy(basic=Chosen())
ALL = DisruptionMode(whole=Chosen())
SINGLE = DisruptionMode()


def gang_policy(minimum: int) -> SchedulingPolicy:
    return SchedulingPolicy(gang=GangPolicy(min_count=minimum))


def own(
    name: str = "train",
    policy: SchedulingPolicy = gang_policy(3),  # noqa: B008 - it is frozen
    mode: DisruptionMode | str | None = None,
    at_notice: str = "",
) -> PodGroup:
    """A group of Kubernetes' own; ``at_notice`` is its annotation."""
    notes = {names.GANG_AT_NOTICE: at_notice} if at_notice else {}
    spec = PodGroupSpec(scheduling_policy=policy, disruption_mode=mode)
    return PodGroup(metadata=builders.metadata(name, annotations=notes), spec=spec)


def labelled(**labels: str) -> Pod:
    return builders.pod("p", labels=labels)


def in_group(name: str | None) -> Pod:
    """A pod that names a group of Kubernetes' own."""
    pod = builders.pod()
    group = SchedulingGroup(pod_group_name=name)
    spec = msgspec.structs.replace(pod.spec, scheduling_group=group)
    return Pod(metadata=pod.metadata, spec=spec)


def test_a_pod_names_its_group_by_its_spec_or_by_a_label() -> None:
    pods = (in_group("train"), labelled(**COSCHEDULED), labelled(**EARLIER))
    found = [group_of(each) for each in pods]
    kinds = [each.kind for each in found if each is not None]
    assert kinds == [PodGroup, CoschedulingPodGroup, EarlierPodGroup]
    assert group_of(labelled()) is None
    assert group_of(in_group(None)) is None


def test_the_group_says_how_many_it_takes() -> None:
    pod, owner = labelled(**COSCHEDULED), Owner()
    group = CoschedulingPodGroup(
        metadata=builders.metadata("train"), spec=PodGroupSpec(min_member=4)
    )
    other = own(policy=gang_policy(7))
    found = gang_of(pod, owner, NamespaceObjects(groups=[other, group]))
    assert found == Gang(group.reference, 4)
    assert str(found) == "gang podgroup default/train of at least 4"


def test_a_group_that_cannot_be_read_is_a_gang_of_all_its_pods() -> None:
    found = gang_of(labelled(**COSCHEDULED), Owner(), NamespaceObjects(groups=[own()]))
    assert found == Gang(Reference("PodGroup", "train", "default"), None, is_read=False)
    assert str(found) == "gang podgroup default/train of a size that cannot be read"


@pytest.mark.parametrize("mode", [None, SINGLE, "Pod"])
def test_a_group_with_the_basic_policy_is_no_gang(mode: DisruptionMode | str | None) -> None:
    found = gang_of(
        in_group("train"), Owner(), NamespaceObjects(groups=[own(policy=BASIC, mode=mode)])
    )
    assert found is None


@pytest.mark.parametrize("policy", [BASIC, gang_policy(3)])
@pytest.mark.parametrize("mode", [ALL, "PodGroup"])
def test_a_group_that_is_disrupted_together_needs_all_its_pods_and_all_go(
    policy: SchedulingPolicy, mode: DisruptionMode | str
) -> None:
    """Whatever its policy: the scheduler preempts such a group as one, too."""
    group = own(policy=policy, mode=mode)
    found = gang_of(in_group("train"), Owner(), NamespaceObjects(groups=[group]))
    assert found == Gang(group.reference, None, all_go=True)
    assert str(found) == "gang podgroup default/train all of whose pods are needed"


def test_the_annotation_says_more_than_the_disruption_mode() -> None:
    """``single`` is the default, so nobody may have meant it; an annotation was written."""

    def all_go(group: PodGroup, at_notice: str = "") -> bool:
        notes = {names.GANG_AT_NOTICE: at_notice} if at_notice else {}
        owner = Owner(kind="ReplicaSet", controller=builders.replica_set(annotations=notes))
        found = gang_of(in_group("train"), owner, NamespaceObjects(groups=[group]))
        assert found is not None
        return found.all_go

    assert all_go(own(mode=SINGLE, at_notice="All"))
    assert all_go(own(mode=SINGLE), at_notice="all")
    assert not all_go(own(mode=ALL, at_notice="dying"))
    assert not all_go(own(mode=ALL), at_notice="dying")
    assert not all_go(own(at_notice="all"), at_notice="dying"), "the workload's is nearer"
    assert all_go(own(at_notice="dying"), at_notice="all")
    assert all_go(own(mode=ALL), at_notice="none"), "what means nothing is as if it were not there"


def test_of_a_policy_that_is_not_known_all_are_needed() -> None:
    group = own(policy=SchedulingPolicy())
    found = gang_of(in_group("train"), Owner(), NamespaceObjects(groups=[group]))
    assert found == Gang(group.reference, None)


IN_SET = {SET_NAME: "llm", GROUP_KEY: "3f2a"}


def leader_worker_set(size: int, policy: str) -> LeaderWorkerSet:
    made = LeaderWorkerTemplate(size=size, restart_policy=policy)
    spec = LeaderWorkerSetSpec(leader_worker_template=made)
    return LeaderWorkerSet(metadata=builders.metadata("llm"), spec=spec)


@pytest.mark.parametrize("policy", RECREATED)
def test_a_group_of_a_leader_worker_set_needs_all_its_pods_where_any_recreates_it(
    policy: str,
) -> None:
    found = leader_worker_set(4, policy)
    gang = gang_of(labelled(**IN_SET), Owner(), NamespaceObjects(groups=[found]))
    assert gang == Gang(found.reference, None)
    assert str(gang) == "gang leaderworkerset default/llm all of whose pods are needed"


@pytest.mark.parametrize(("size", "policy"), [(1, RECREATED[0]), (4, "None"), (4, "Default")])
def test_a_group_of_one_is_no_gang_nor_is_one_whose_pods_are_recreated_alone(
    size: int, policy: str
) -> None:
    around = NamespaceObjects(groups=[leader_worker_set(size, policy)])
    assert gang_of(labelled(**IN_SET), Owner(), around) is None


def test_a_leader_worker_set_says_how_many_and_a_second_label_which_group() -> None:
    assert group_of(labelled(**IN_SET)) == GroupName(
        LeaderWorkerSet, "default", "llm", GROUP_KEY, "3f2a"
    )
    no_group_yet = group_of(labelled(**{SET_NAME: "llm"}))
    assert no_group_yet == GroupName(LeaderWorkerSet, "default", "llm")
    with_both = labelled(**IN_SET, **COSCHEDULED)
    assert group_of(with_both) == GroupName(
        CoschedulingPodGroup, "default", "train", "scheduling.x-k8s.io/pod-group", "train"
    ), "what its scheduler knows comes first"


@pytest.mark.parametrize(
    ("said", "fields", "minimum"),
    [
        ("true", {"parallelism": 4}, 4),
        ("True", {"parallelism": 4, "completions": 9}, 4),
        ("true", {"parallelism": 4, "completions": 5, "succeeded": 3}, 2),
        ("true", {"parallelism": 4, "completions": 5, "succeeded": 6}, 0),
        ("false", {"parallelism": 4}, None),
        ("", {"parallelism": 4}, None),
    ],
)
def test_a_job_is_one_if_it_says_so(said: str, fields: dict[str, int], minimum: int | None) -> None:
    succeeded = fields.pop("succeeded", 0)
    plain = Job(metadata=builders.metadata("train", annotations={names.GANG: said}))
    job = Job(
        metadata=plain.metadata,
        spec=type(plain.spec)(**fields),  # type: ignore[arg-type] # a table
        status=type(plain.status)(succeeded=succeeded),
    )
    found = gang_of(builders.pod(), Owner(kind="Job", controller=job), NamespaceObjects())
    assert found == (None if minimum is None else Gang(job.reference, minimum))


def test_of_no_group_and_no_job_there_is_none() -> None:
    owner = Owner(kind="ReplicaSet", controller=builders.replica_set())
    assert gang_of(builders.pod(), owner, NamespaceObjects()) is None


def member(name: str, node: str, grace: int = 30) -> Pod:
    return builders.pod(name, node=node, grace=grace)


DYING = {"n1": builders.notice(), "n2": builders.notice(since=NOW + seconds(20))}


def test_while_enough_stay_each_goes_as_its_kind() -> None:
    members = [member("a", "n1"), *(member(f"s{number}", "n9") for number in range(3))]
    assert together(TRAIN, members, DYING) is None


def test_where_none_dies_nothing_is_to_be_done() -> None:
    assert together(TRAIN, [member("a", "n9")], DYING) is None
    hinted = {"n1": builders.hint()}
    assert together(TRAIN, [member("a", "n1")], hinted) is None


def test_where_too_few_stay_they_go_at_the_earliest_last_moment() -> None:
    members = [member("a", "n1"), member("b", "n1", 70), member("c", "n2", 75), member("s", "n9")]
    found = together(TRAIN, members, DYING)
    assert found is not None
    assert found.at == DYING["n1"].deadline - seconds(71)
    assert found.notice == DYING["n1"]
    assert found.uids == {each.uid for each in members}


def test_of_two_that_go_first_at_the_same_time_the_uid_tells_whose_notice_it_is() -> None:
    later = DYING["n2"].deadline - DYING["n1"].deadline
    members = [member("b", "n1", 10), member("a", "n2", 10 + int(later.total_seconds()))]
    for order in (members, members[::-1]):
        found = together(TRAIN, order, DYING)
        assert found is not None
        assert found.notice == DYING["n2"]


def test_a_pod_without_a_node_does_not_stay_and_one_under_a_hint_does() -> None:
    dooms = DYING | {"n3": builders.hint()}
    members = [member("a", "n1"), member("s", "n9"), member("h", "n3"), member("w", "")]
    assert together(TRAIN, members, dooms) is not None
    assert together(TRAIN, [*members, member("t", "n9")], dooms) is None


def test_of_an_unknown_size_all_are_needed() -> None:
    unknown = Gang(TRAIN.reference, None)
    members = [member("a", "n1"), *(member(f"s{number}", "n9") for number in range(9))]
    assert together(unknown, members, DYING) is not None


def test_under_a_hint_a_member_stays() -> None:
    deployment = builders.deployment()
    replica_set = builders.replica_set(of=deployment)
    owner = builders.owner(replica_set, deployment)
    pod = builders.pod(of=replica_set, labels={**COSCHEDULED, names.TEMPLATE_HASH: builders.HASH})
    found = route_of(pod, owner, NamespaceObjects(), ON_PURPOSE, NOW)
    assert (found.way, found.reason) == (Way.STAY, "Gang")
    assert "none is moved while its node lives" in found.message
    for moving in (WARNING, MOVE):
        assert route_of(pod, owner, NamespaceObjects(), moving, NOW).way is Way.HANDOVER
    over = builders.pod(of=replica_set, labels=COSCHEDULED, phase="Succeeded")
    left = route_of(over, owner, NamespaceObjects(), ON_PURPOSE, NOW)
    assert left.reason is Reason.FINISHED


def test_members_of_a_broken_gang_go_together_but_for_those_that_stay() -> None:
    found = together(TRAIN, [member("a", "n1")], DYING)
    assert found is not None
    pod = builders.pod(of=builders.stateful_set())
    owner = builders.owner(builders.stateful_set())
    asked = owner, NamespaceObjects(), WARNING, NOW, None, found
    assert route_of(pod, *asked) == with_the_others(found)
    over = builders.pod(of=builders.stateful_set(), phase="Succeeded")
    assert route_of(over, *asked).reason is Reason.FINISHED


def test_the_way_of_those_that_go_together_names_their_gang() -> None:
    found = together(TRAIN, [member("a", "n1")], DYING)
    assert found is not None
    way = with_the_others(found)
    assert way.way is Way.AT_LAST_MOMENT
    assert way.until == DYING["n1"].deadline + seconds(60)
    assert "gang podgroup default/train of at least 3" in way.message
