"""What a workload's candidate reckons once is reckoned anew of pods that were read again."""

from tests.unit.decisions.restore.candidates import candidate, deployment, pods_of


def test_pods_that_were_read_again_are_counted_anew() -> None:
    web = deployment(3, "1")
    before = candidate(web, "o1", "o1", "s1")
    assert (len(before.owned), before.standing.on_demand, before.standing.surplus) == (3, 2, 1)
    bigger = deployment(2, "2")
    now = before.with_pods(pods_of(web, "o1", "s1"), bigger)
    assert now.workload is now.standing.workload is bigger
    assert (len(now.owned), now.standing.on_demand, now.standing.surplus) == (2, 1, 0)
    assert (now.standing.floor, now.fleet) == (before.standing.floor, before.fleet)
