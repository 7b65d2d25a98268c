"""What is read for a workload because no watch shows it."""

import pytest

from evenkeel.flows import selections
from evenkeel.flows.drain.cache.facts import SOON_AGAIN_AFTER
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.workload.needs import nodes_of
from evenkeel.model.meta import OwnerReference
from evenkeel.model.notice import NoticeKind
from evenkeel.model.pod import Pod
from tests.kit import builders

DAEMON = OwnerReference(api_version="apps/v1", kind="DaemonSet", name="d", uid="d", controller=True)
BARE = builders.pod("bare", node="s1")
OF_NODE = builders.pod("agent", of=DAEMON, node="s1")


@pytest.mark.parametrize(
    ("pod", "kind", "is_read"),
    [
        pytest.param(BARE, NoticeKind.INTERRUPTION, True, id="a bare pod on a node that dies"),
        pytest.param(BARE, NoticeKind.REBALANCE, False, id="a bare pod on one that may live"),
        pytest.param(OF_NODE, NoticeKind.INTERRUPTION, False, id="a pod that stays with its node"),
    ],
)
def test_the_pods_of_a_dying_node_are_read_where_no_watch_selects_one(
    pod: Pod,
    kind: NoticeKind,
    is_read: bool,  # noqa: FBT001 - a case of a table
) -> None:
    view = View()
    view.update(builders.node("s1", notice=builders.notice(kind)))
    view.update(pod)
    fact = selections.candidates_on("s1")
    needs = nodes_of(view, pod.origin_key, [pod])
    assert needs.get(fact) == (SOON_AGAIN_AFTER if is_read else None)
