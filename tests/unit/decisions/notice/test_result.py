"""What becomes of a notice that was delivered."""

from evenkeel.decisions.notice.result import acknowledged
from evenkeel.model.decision import Verb
from evenkeel.model.metrics import Metric
from evenkeel.model.reasons import Reason


def test_a_notice_that_concerns_no_node_is_acknowledged_about_its_instance() -> None:
    done = acknowledged("i-1", Reason.OTHER_CLUSTER, "another's", Metric.NOTICES_FOREIGN)
    assert (done.decision.verb, done.decision.reason) == (Verb.ACKNOWLEDGE, "OtherCluster")
    assert (done.decision.subject.kind, done.decision.subject.name) == ("Instance", "i-1")
    assert (done.decision.node, done.decision.write) == ("", None)
    assert done.metric == Metric.NOTICES_FOREIGN
