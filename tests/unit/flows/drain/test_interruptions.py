"""The account that the reconciler adds to, and that another process left on the Lease."""

import pytest

from evenkeel.flows.drain.interruptions import Interruptions
from evenkeel.model.interruption import Account, Dip, Interruption, Tally
from evenkeel.model.meta import Reference
from evenkeel.model.pod_count import PodCount
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW, seconds

WEB = Reference(kind="Deployment", name="web", namespace="shop", uid="1")


def counted(at: float, available: int | None, wanted: int = 3) -> PodCount:
    return PodCount(at=NOW + seconds(at), workload=WEB, available=available, wanted=wanted)


def noted(available: int) -> Account:
    """What a process left that counted the workload at two of three pods, and so many last."""
    dip = Dip(
        kind="Deployment", namespace="shop", name="web", lowest=2, wanted=3, available=available
    )
    tallies = {0: Tally(pods=2, below=1, worst=(dip,))}
    return Account(open=Interruption(began_at=NOW, active_at=NOW, nodes=1, tallies=tallies))


@pytest.mark.parametrize(
    ("available", "lowest", "at_zero"),
    [(2, 0, 1), (3, 2, 0)],
    ids=[
        "it was low, so it is lower by the same interruption",
        "it was whole, so others took pods",
    ],
)
def test_a_dip_that_another_process_counted_goes_on(
    available: int, lowest: int, at_zero: int
) -> None:
    known = Interruptions(SimulatedClock(NOW))
    known.load(noted(available))
    known.counted_pods(counted(10, 0))
    tally = known.account.tally_of(0)
    assert (tally.below, tally.at_zero) == (1, at_zero)
    assert [each.lowest for each in tally.worst] == [lowest]


def test_what_the_process_noted_itself_it_knows_better() -> None:
    known = Interruptions(SimulatedClock(NOW))
    known.load(noted(2))
    known.counted_pods(counted(10, None))
    known.load(known.account)
    known.counted_pods(counted(20, 0))
    assert [each.lowest for each in known.account.tally_of(0).worst] == [2]
