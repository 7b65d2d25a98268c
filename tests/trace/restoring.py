"""Two runs of restore over one workload of six pods, each a walk: one moves a pod, one does not.

They are the handler's own calls. What the webhook is asked while a run goes on is left out.
"""

from collections.abc import Sequence
from typing import Any, Final

from evenkeel.handlers import Handler
from evenkeel.model import names
from evenkeel.ports import Clock, Cluster
from evenkeel_sandbox.simulator.webhook import HandlerWebhook
from tests.kit.manifests import Manifest, deployment, stateful_set
from tests.kit.restoring import RestoreScene
from tests.kit.reviews import TOKEN, answering
from tests.trace.calls import Said, Step, Trace
from tests.trace.walk import Walk

SIZE: Final = 6
FLOOR: Final = {names.ON_DEMAND: "1"}

ASKED: Final = "the webhook is asked"
ANSWERED: Final = "it has answered"


class _Told(RestoreScene):
    """A scene whose reviews are told of."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace
        build = answering(self.recorder)

        def told(cluster: Cluster, clock: Clock) -> Handler:
            handle = build(cluster, clock)

            def review(event: dict[str, Any], context: object) -> dict[str, Any]:
                trace.say(ASKED)
                answer = handle(event, context)
                trace.say(ANSWERED)
                return answer

            return review

        self.end_webhook()
        self.webhook = HandlerWebhook(self.cluster, TOKEN, told)
        self.start_webhook()


def walks() -> Sequence[Walk]:
    """One run each: no node has room for the pod that is to go to spot, and one has."""
    return [
        Walk("restore leaves a workload alone", _run(stateful_set("db", SIZE, notes=FLOOR))),
        Walk("restore moves a pod", _run(deployment("web", SIZE, notes=FLOOR), "s1", "s2")),
    ]


def _run(workload: Manifest, *spot: str) -> Sequence[Step]:
    """The steps of one run, over a workload on on-demand nodes beside these spot nodes."""
    trace = Trace()
    scene = _Told(trace)
    scene.place(workload, on="o1 o2")
    for node in spot:
        scene.add_node(node)
    scene.settle()
    handle = scene._restore()
    with trace.on():
        handle({}, None)
    scene.close()
    return without_reviews(trace.steps)


def without_reviews(steps: Sequence[Step]) -> Sequence[Step]:
    """The steps that are not of a review."""
    kept, is_review = list[Step](), False
    for step in steps:
        is_review = step == Said(ASKED) or (is_review and step != Said(ANSWERED))
        if not is_review:
            kept.append(step)
    return kept
