"""A pod is taken away on fresh knowledge, and by a plan of which nothing has changed."""

from collections.abc import Iterable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.drain.cache.view import Listed, View
from evenkeel.flows.drain.dispatch.sending import Evictions
from evenkeel.flows.drain.workload.workload_plan import WorkloadPlan
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.reasons import Reason
from tests.kit import builders
from tests.kit.builders import NOW
from tests.unit.flows.drain.changes import taken

WEB = builders.replica_set("web")
POD = builders.pod("web-1", of=WEB)


class Planned:
    """A workload whose plan evicts one pod, and what is done about that."""

    def __init__(self) -> None:
        self.view = View()
        self.sent: list[Decision] = []
        self.listed: list[str] = []
        eviction = Decision.about(
            POD, Verb.EVICT, Reason.REPLACEMENT_AVAILABLE, "", write=writes.evict(POD)
        )
        plan = WorkloadPlan(plan=Plan(evictions=[eviction]))
        plans: Any = SimpleNamespace(
            having=lambda has: [(WEB.key, plan)] if has in plan.has else [],
            follow=set,
        )
        writer: Any = SimpleNamespace(may_write=lambda *_: True, submit_all=self.sent.extend)
        listings: Any = SimpleNamespace(refresh=self._list)
        self.evictions = Evictions(plans, writer, self.view, listings)

    def _list(self, keys: Iterable[str], _now: object) -> None:
        self.listed += keys

    def see_list(self) -> None:
        """The workload is listed, and planned for by that."""
        listed = Listed(controller=WEB, pods=[POD], revision=100)
        self.view.replace_workload(WEB.key, listed, NOW)
        taken(self.view.queue)


@pytest.fixture
def planned() -> Planned:
    return Planned()


def test_it_goes_when_its_workload_was_listed_within_the_second(planned: Planned) -> None:
    planned.see_list()
    planned.evictions.send(NOW + timedelta(seconds=1))
    assert [step.subject.uid for step in planned.sent] == [POD.uid]
    assert not planned.listed


def test_its_workload_is_listed_when_that_is_longer_ago(planned: Planned) -> None:
    planned.see_list()
    planned.evictions.send(NOW + timedelta(seconds=1.1))
    assert not planned.sent
    assert planned.listed == [WEB.key]


def test_it_waits_for_a_new_plan_when_something_has_changed(planned: Planned) -> None:
    planned.see_list()
    planned.view.queue.add([WEB.key])
    planned.evictions.send(NOW)
    assert not planned.sent
    assert not planned.listed
