"""Cancelling a notice that was wrong: the node lives, everything goes back."""

from collections.abc import Sequence

from evenkeel.decisions.drain import writes
from evenkeel.decisions.node import held
from evenkeel.decisions.notice import mark
from evenkeel.errors import ClusterError, ConflictError, InvalidError, NotFoundError
from evenkeel.flows.reads import ask
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Get, List, Selection
from evenkeel.ports import Cluster, Recorder

ATTEMPTS = 5
"""How often the node and its pods are read again when others write to them as well."""


def cancel(
    cluster: Cluster, node_name: str, recorder: Recorder, *, act: bool
) -> Sequence[Decision]:
    """Lift the mark of a node and our cordon, then roll back what was released from it.

    The mark is lifted first, so that the reconciler releases no more pods meanwhile. Pods that it
    has evicted already do not come back. ``act`` False: only decide. Answers each decision once;
    none if there was nothing to do. Raises NotFoundError without such a node, and the ClusterError
    of a write that failed.
    """
    made: dict[tuple[str, Verb], Decision] = {}
    for attempt in range(ATTEMPTS):
        decisions = _decide(cluster, node_name)
        made |= {(decision.subject.uid, decision.verb): decision for decision in decisions}
        if not act or not decisions:
            break
        failures = [_apply(cluster, decision) for decision in decisions]
        errors = [error for error in failures if error is not None]
        if not errors:
            break
        if attempt == ATTEMPTS - 1 or not all(map(_is_worth_a_retry, errors)):
            raise errors[0]
    for decision in made.values():
        recorder.decided(decision)
    return list(made.values())


def _decide(cluster: Cluster, node_name: str) -> Sequence[Decision]:
    node = ask(cluster, Get(Node, node_name))
    selection = Selection(Pod, labels=names.RELEASED_FROM, fields=f"spec.nodeName={node_name}")
    released = ask(cluster, List(selection)).items
    decisions = []
    unmark = mark.unmark(node, lift_any=True)
    if unmark is not None:
        decisions.append(
            Decision.about(
                node, Verb.LIFT, Reason.CANCELLED, "the notice was cancelled by hand", write=unmark
            )
        )
    if held.bears_hold(node):
        decisions.append(held.let_go(node))
    decisions += [
        Decision.about(
            pod,
            Verb.ROLL_BACK,
            Reason.CANCELLED,
            "the notice was cancelled by hand: back to its owner",
            write=writes.roll_back_patch(pod, pod.release),
        )
        for pod in released
        if pod.active
    ]
    return decisions


def _apply(cluster: Cluster, decision: Decision) -> ClusterError | None:
    """Carry out one decision; its error if it failed, unless the object is gone."""
    if decision.write is None:
        return None
    (reply,) = cluster.perform([decision.write])
    return None if isinstance(reply.error, NotFoundError) else reply.error


def _is_worth_a_retry(error: ClusterError) -> bool:
    return isinstance(error, ConflictError | InvalidError)
