"""What is read for a workload because no watch shows it."""

import msgspec
import pytest

from evenkeel.flows import selections
from evenkeel.flows.drain.cache.facts import SOON_AGAIN_AFTER
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.workload.needs import nodes_of
from evenkeel.model import names
from evenkeel.model.affinity import Affinity, PodAntiAffinity, PodTerm
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


APART = Affinity(pod_anti_affinity=PodAntiAffinity(required=(PodTerm(topology_key=names.ZONE),)))


@pytest.mark.parametrize(
    ("bound", "node", "is_read"),
    [
        pytest.param("apart", "s1", True, id="kept apart by zone"),
        pytest.param("claim", "s1", True, id="with a volume"),
        pytest.param("", "s1", False, id="bound to no zone"),
        pytest.param("apart", "s2", False, id="on a node that no notice marks"),
    ],
)
def test_other_nodes_of_a_marked_one_s_zone_are_looked_for_where_a_pod_may_be_bound_to_it(
    bound: str,
    node: str,
    is_read: bool,  # noqa: FBT001 - a case of a table
) -> None:
    view = View()
    view.update(builders.node("s1", notice=builders.notice(), labels={names.ZONE: "a"}))
    pod = builders.pod(node=node, of=builders.replica_set(), claim="c" if bound == "claim" else "")
    if bound == "apart":
        spec = msgspec.structs.replace(pod.spec, affinity=APART)
        pod = msgspec.structs.replace(pod, spec=spec)
    view.update(pod)
    assert (selections.left_in("a") in nodes_of(view, pod.origin_key, [pod])) == is_read


def test_a_zone_has_another_node_if_one_takes_pods() -> None:
    takes = selections.left_in("a").kept
    assert takes is not None
    assert takes(builders.node())
    assert not takes(builders.node(ready=False))
    assert not takes(builders.node(unschedulable=True))
