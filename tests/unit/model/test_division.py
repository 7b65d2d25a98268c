"""How workloads are divided: each pod has one reconciler, and all of a workload the same."""

from collections import Counter

import msgspec
import pytest

from evenkeel.model.division import UNDIVIDED, Division, division_in, lease_of, share_of
from evenkeel.model.gang import GROUP_KEY, SET_NAME
from tests.kit.builders import deployment, job, pod, release, replica_set, stateful_set

WEB = deployment("web")
OLD = replica_set("web-111", of=WEB, template_hash="111")
NEW = replica_set("web-222", of=WEB, template_hash="222")


def test_a_deployments_pods_have_one_share_whichever_replica_set_they_are_of() -> None:
    pods = [
        pod("web-111-a", of=OLD),
        pod("web-222-a", of=NEW),
        pod("web-111-b", of=OLD, released=release()),
    ]
    assert {share_of(each) for each in pods} == {"web"}


def test_other_pods_share_by_their_owners_name_or_their_own() -> None:
    assert share_of(pod("db-0", of=stateful_set("db"))) == "db"
    assert share_of(pod("batch-x", of=job("batch"))) == "batch"
    assert share_of(pod("bare")) == "bare"


def test_the_pods_of_a_gang_have_one_share_whoever_owns_them() -> None:
    label = {"scheduling.x-k8s.io/pod-group": "train"}
    pods = [pod("a", of=stateful_set("a"), labels=label), pod("b", of=job("b"), labels=label)]
    assert {share_of(each) for each in pods} == {"group/train"}


def test_all_groups_of_a_leader_worker_set_have_one_share() -> None:
    """One StatefulSet makes their leaders."""
    groups = ({SET_NAME: "llm", GROUP_KEY: key} for key in ("3f2a", "b117"))
    assert {share_of(pod("a", labels=labels)) for labels in groups} == {"group/llm"}


def test_undivided_all_pods_are_number_0s() -> None:
    assert UNDIVIDED.number_of(pod()) == 0


def test_others_have_as_many_workloads_and_number_0_a_third_for_it_has_the_nodes() -> None:
    pods = [pod(f"w{number}", of=stateful_set(f"w{number}")) for number in range(1000)]
    found = Counter(map(Division(of=4).number_of, pods))
    assert found[0] == pytest.approx(100, rel=0.2)
    assert [found[number] for number in (1, 2, 3)] == pytest.approx([300] * 3, rel=0.15)


def test_a_whole_namespace_is_one_share() -> None:
    pods = [pod(f"w{number}", of=stateful_set(f"w{number}")) for number in range(40)]
    whole = Division(of=4, whole=frozenset([pods[0].namespace]))
    assert len(set(map(whole.number_of, pods))) == 1


@pytest.mark.parametrize(
    "note",
    [None, "", "{", '{"of": 1}', '{"of": 9}', '{"of": -1}', '{"of": "2"}'],
)
def test_a_note_that_makes_no_sense_divides_nothing(note: str | None) -> None:
    assert division_in(note) == UNDIVIDED


def test_a_note_says_how_it_is_divided_and_by_whom() -> None:
    divided = Division(of=3, whole=frozenset(["team-a"]), by="me")
    assert division_in(divided.note) == divided
    assert UNDIVIDED.note == ""


def test_a_version_that_writes_more_is_understood() -> None:
    text = msgspec.json.encode({"v": 1, "of": 2, "later": True}).decode()
    assert division_in(text).of == 2


def test_each_number_has_a_lease() -> None:
    assert [lease_of(number) for number in range(3)] == [
        "evenkeel-handover",
        "evenkeel-handover-1",
        "evenkeel-handover-2",
    ]
