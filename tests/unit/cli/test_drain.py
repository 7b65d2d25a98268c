"""What ``evenkeel drain`` makes of the pods that it sees, and of the time that it is given."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import click
import pytest
from msgspec.structs import replace

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.model.decision import Verb
from evenkeel.model.pod import EmptyDir, Pod, Volume
from evenkeel_cli.decisions.draining import LONGEST, SHORTEST
from evenkeel_cli.draining.pods import IN_TIME, Pods, Watch
from evenkeel_cli.draining.run import summary
from evenkeel_cli.duration import Duration
from evenkeel_cli.ways import Situation
from tests.kit import builders
from tests.kit.builders import NOW

DURATION = Duration(SHORTEST, LONGEST)
WEB = builders.replica_set(replicas=2)


def standing(*pods: Pod, kind: str = "") -> Pods:
    """The pods of a ReplicaSet, or of another kind of owner."""
    owner = Owner(kind=kind) if kind else builders.owner(WEB)
    return Pods.of([Situation(pod, owner, NamespaceObjects(), NOW) for pod in pods])


def web(name: str = "a", **options: Any) -> Pod:
    """A pod of the ReplicaSet."""
    return builders.pod(name, of=WEB, **options)


def with_volumes(pod: Pod, *volumes: Volume) -> Pod:
    return replace(pod, spec=replace(pod.spec, volumes=volumes))


def told(watch: Watch, *pods: Pod) -> Sequence[tuple[str, Verb]]:
    """What is new about these pods, and those seen before."""
    return [(step.pod.name, step.verb) for step in watch.look(standing(*pods))]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("15m", 900), ("90s", 90), ("1h30m", 5400), ("1h", 3600), (" 2m ", 120), ("1.5h", 5400)],
)
def test_a_time_is_read_as_kubectl_reads_it(text: str, seconds: int) -> None:
    assert DURATION.convert(text, None, None) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    ["", "15", "m", "-1m", "30s", "13h", "0m", "99999h", "\uff11m", "1m\n2m"],
)
def test_another_time_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        DURATION.convert(text, None, None)


def test_pods_that_belong_to_their_node_are_not_counted() -> None:
    assert standing(builders.pod("agent"), kind="DaemonSet").situations == []
    assert standing(builders.pod("done", phase="Succeeded")).situations == []


def test_a_pod_that_is_handed_over_is_waited_for() -> None:
    pods = standing(web())
    assert pods.going == pods.situations


@pytest.mark.parametrize(("kind", "waits"), [("Job", True), ("Workflow", False)])
def test_what_a_hint_leaves_is_waited_for_only_if_it_may_end_by_itself(
    kind: str, *, waits: bool
) -> None:
    pods = standing(builders.pod("a"), kind=kind)
    assert bool(pods.going) is waits
    assert len(pods.situations) == 1


def test_a_pod_that_is_being_deleted_is_waited_for() -> None:
    assert standing(web(leaving=True)).going


def test_a_pod_tells_each_step_once() -> None:
    watch = Watch()
    released = web(released=builders.release(WEB))
    assert told(watch, web()) == []
    assert told(watch, released) == [("a", Verb.RELEASE)]
    assert told(watch, released) == []
    assert told(watch, web(released=builders.release(WEB), leaving=True)) == [("a", Verb.EVICT)]
    assert told(watch) == [("a", Verb.COMPLETE)]
    assert told(watch) == []


def test_a_pod_that_goes_back_is_told() -> None:
    watch = Watch()
    told(watch, web(released=builders.release(WEB)))
    assert told(watch, web()) == [("a", Verb.ROLL_BACK)]


def test_what_stayed_is_told_with_why() -> None:
    (item,) = standing(web(node="n1")).listing().items
    assert (item.subject.name, item.node, item.why) == ("a", "n1", IN_TIME)
    (item,) = standing(builders.pod("b"), kind="Workflow").listing().items
    assert item.why.startswith("its controller is a Workflow, and no budget says")
    assert item.why.endswith(": no gap is made while its node lives")


SCRATCH = (Volume(empty_dir=EmptyDir()),)


@pytest.mark.parametrize(
    ("pod", "kind", "loses"),
    [
        (web(), "", False),
        (with_volumes(web(), *SCRATCH), "", True),
        (with_volumes(web(), Volume()), "", False),
        (with_volumes(builders.pod("a"), *SCRATCH), "DaemonSet", False),
        (with_volumes(builders.pod("a", phase="Succeeded"), *SCRATCH), "", False),
        (with_volumes(builders.pod("a"), *SCRATCH), "Workflow", False),
        (with_volumes(web(leaving=True), *SCRATCH), "", False),
    ],
    ids=["none", "moves", "another", "of its node", "finished", "stays", "goes already"],
)
def test_pods_that_move_lose_what_is_in_their_empty_dirs(
    pod: Pod, kind: str, *, loses: bool
) -> None:
    assert bool(standing(pod, kind=kind).losing_data) is loses


def test_the_last_line_says_what_became_of_the_nodes() -> None:
    ends = "2 nodes drained; the cordon stays: kubectl uncordon NODE ends it"
    assert summary(["a", "b"], standing()) == ends
    assert summary(["a"], standing(web())) == "1 pod stayed; the cordon stays, too"
