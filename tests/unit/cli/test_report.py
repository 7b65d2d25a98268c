import pytest

from evenkeel.model.meta import Reference
from evenkeel_cli.moves import Fate, Move
from evenkeel_cli.report import Report
from evenkeel_sandbox.observer.health import Health, Outage
from tests.kit.builders import NOW

WEB = Reference(kind="Deployment", namespace="shop", name="web")
DOWN = Outage(NOW)
NO_PLACE = Outage(NOW, "no place for a replacement: 0/3 nodes")
ON_BOTH = frozenset({"warned", "unwarned"})
POD = Reference(kind="Pod", namespace="shop", name="web-1", uid="u")


def health(
    *,
    before: int = 2,
    lowest: int = 0,
    outage: Outage | None = DOWN,
    nodes: frozenset[str] = ON_BOTH,
) -> Health:
    return Health(
        workload=WEB,
        wanted=2,
        before=before,
        lowest=lowest,
        outage=outage,
        first_nodes=nodes,
        nodes={"a": "", "b": ""},
    )


def report(seen: Health, *, movable: bool = True, namespace: str = "") -> Report:
    return Report(
        workloads=[seen],
        fates=[Fate(POD, WEB, Move.HANDED_OVER, "its replacement ran before it went")],
        movable=[WEB] if movable else [],
        unwarned=["unwarned"],
        namespace=namespace,
    )


@pytest.mark.parametrize(
    ("seen", "movable", "fails"),
    [
        pytest.param(health(), True, True, id="it could have been handed over"),
        pytest.param(health(), False, False, id="it could not"),
        pytest.param(health(lowest=1, outage=None), True, False, id="one pod was ready always"),
        pytest.param(health(before=0), True, False, id="it had no ready pod to begin with"),
        pytest.param(health(outage=NO_PLACE), True, False, id="its replacement found no place"),
        pytest.param(
            health(nodes=frozenset({"unwarned"})), True, False, id="its node gave no warning"
        ),
        pytest.param(health(nodes=frozenset({"warned"})), True, True, id="its node gave one"),
    ],
)
def test_an_outage_fails_the_run_only_where_a_handover_was_possible(
    seen: Health, *, movable: bool, fails: bool
) -> None:
    assert bool(report(seen, movable=movable).failures) is fails


def test_the_verdict_names_what_failed() -> None:
    assert report(health()).verdict == (
        "Not as wanted: without a ready pod, though a handover was possible: shop/deploy/web."
    )
    assert report(health(lowest=2, outage=None)).verdict.startswith("Of 1 workload that could be")


def test_a_failure_counts_when_its_namespace_is_not_shown() -> None:
    elsewhere = report(health(), namespace="other")

    assert elsewhere.concerned == []
    assert elsewhere.failures


def test_programs_get_numbers() -> None:
    (item,) = report(health()).of_workloads()
    assert not item.ok
    assert (item.wanted, item.lowest, item.moves) == (2, 0, {"handed over": 1})
