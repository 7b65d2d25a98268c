"""Which pods are a reconciler's own in a shared storm, and how much of all pods that is."""

from evenkeel.flows.drain.cache.share import Share
from evenkeel.model.division import Division, share_of
from evenkeel.model.pod import Pod
from tests.kit import builders

TWO = Division(of=2)
PODS = [
    builders.pod("p", of=builders.replica_set(f"web{number}-1", of=None), namespace="default")
    for number in range(40)
]


def of_number(number: int, pods: list[Pod]) -> list[Pod]:
    return [pod for pod in pods if TWO.number_of(pod) == number]


def test_one_reconciler_has_all() -> None:
    share = Share()
    assert all(map(share.has, PODS))
    share.listed("s1", PODS)
    assert (share.part, share.others_on) == (1.0, frozenset())


def test_each_pod_is_one_reconcilers_own() -> None:
    assert len({share_of(pod) for pod in PODS}) == len(PODS)
    shares = [Share(TWO, number) for number in range(2)]
    assert all(sum(share.has(pod) for share in shares) == 1 for pod in PODS)


def test_its_part_is_that_of_the_pods_that_were_listed() -> None:
    share = Share(TWO, 1)
    assert share.part == 0.5
    own, others = of_number(1, PODS), of_number(0, PODS)
    share.listed("s1", [*own[:6], *others[:2]])
    share.listed("s2", [*own[6:7], *others[2:3]])
    assert share.part == 7 / 10
    assert share.others_on == {"s1", "s2"}
    share.listed("s1", own[:3])
    assert share.part == 4 / 5
    assert share.others_on == {"s2"}


def test_a_reconciler_without_a_pod_has_a_part_above_none() -> None:
    share = Share(TWO, 1)
    share.listed("s1", of_number(0, PODS)[:4])
    assert share.part == 1 / 4
