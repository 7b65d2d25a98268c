"""The agenda of all workloads together, as plans of one workload after the other change it."""

from evenkeel.decisions.drain.agenda import Forced
from evenkeel.flows.drain.cache.share import Share
from evenkeel.flows.drain.dispatch.forced_evictions import Answers, ForcedEvictions
from tests.kit import builders
from tests.kit.builders import NOW, seconds
from tests.kit.effort import measured

REPLICA_SET = builders.replica_set(of=builders.deployment())


def forced(name: str, evict_by: float = 0, *, is_replaced: bool = False) -> Forced:
    """A pod that has to be evicted so many seconds from now at the latest."""
    return Forced(
        pod=builders.pod(name, of=REPLICA_SET, grace=0),
        owner=builders.owner(REPLICA_SET),
        evict_by=NOW + seconds(evict_by),
        is_replaced=is_replaced,
    )


def due(agenda: ForcedEvictions, at: float = 0) -> list[str]:
    now = NOW + seconds(at)
    return [slot.forced.pod.name for slot in agenda.due(now, now)]


def agenda_of_all() -> ForcedEvictions:
    return ForcedEvictions(1000.0, 100, Answers(), Share())


def test_a_pod_that_its_plan_names_no_more_leaves_the_agenda_at_once() -> None:
    agenda = agenda_of_all()
    agenda.put("a", [forced("a0"), forced("a1")])
    agenda.put("b", [forced("b0")])
    assert due(agenda) == ["a0", "a1", "b0"]

    agenda.put("a", [forced("a1")])
    assert due(agenda) == ["a1", "b0"]
    agenda.put("b", [])
    assert due(agenda) == ["a1"]


def test_a_pod_that_comes_back_is_due_at_once() -> None:
    """Its eviction was refused."""
    agenda = agenda_of_all()
    agenda.put("a", [forced("a0")])
    assert due(agenda) == ["a0"]
    agenda.put("a", [])
    assert due(agenda) == []

    agenda.put("a", [forced("a0")])
    assert due(agenda) == ["a0"]


def test_slots_begin_the_later_the_more_pods_left_of_late() -> None:
    def first_of(leaving: int) -> float:
        """In how many seconds the first of 100 pods goes by force, if so many left in each."""
        agenda = ForcedEvictions(10.0, 100, Answers(), Share())
        agenda.settle()
        left = [forced(f"left-{number}", 60, is_replaced=True) for number in range(10 * leaving)]
        stay = [forced(f"stay-{number}", 60, is_replaced=True) for number in range(100)]
        for second in range(11):
            agenda.put("a", [*left[second * leaving :], *stay])
            assert due(agenda, second) == []
        found = agenda.next_at(NOW + seconds(10))
        assert found is not None
        return (found - NOW).total_seconds()

    begins = [first_of(leaving) for leaving in (0, 1, 2)]
    assert begins == sorted(begins)
    assert begins[0] < 50 < begins[2]


def test_the_work_of_a_storm_grows_with_its_pods_alone() -> None:
    """A turn looks at what is still to be sent, not at what was sent since the last count."""

    def effort(number: int) -> int:
        agenda = agenda_of_all()
        for each in range(number):
            agenda.put(f"{each}", [forced(f"p{each:03}", evict_by=60)])
        assert not due(agenda)
        now = NOW + seconds(60)
        with measured() as effort:
            for each in range(number):
                assert next(agenda.due(now, now)).forced.pod.name == f"p{each:03}"
                agenda.put(f"{each}", [])
        return effort.steps

    assert effort(400) < 12 * effort(40)
