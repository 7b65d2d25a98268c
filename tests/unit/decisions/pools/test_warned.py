"""Which pools had a node that was warned."""

from datetime import timedelta

from evenkeel.decisions.pools.warned import warned
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.losses import Loss
from evenkeel.model.notice import NoticeKind
from evenkeel.model.pool import Pool
from tests.kit import builders
from tests.kit.builders import NOW


def test_a_spot_node_with_a_warning_tells_of_its_pool() -> None:
    labels = {names.INSTANCE_TYPE: "m5", names.ZONE: "a"}
    nodes = [
        builders.node("s1", labels=labels, notice=builders.notice()),
        builders.node("s2", labels=labels),
        builders.node("s3", labels=labels, notice=builders.hint()),
        builders.node("s4", labels=labels, notice=builders.notice(NoticeKind.STATE_CHANGE)),
        builders.node("o1", labels=labels, notice=builders.notice(), spot=False),
    ]
    assert list(warned(nodes, WELL_KNOWN, NOW)) == [Loss(Pool("m5", "a"), NOW)]


def test_a_node_that_stays_marked_tells_nothing_after_ten_minutes() -> None:
    """EC2 stops or hibernates some nodes, which keep their mark; and anybody may make one up."""
    labels = {names.INSTANCE_TYPE: "m5", names.ZONE: "a"}
    nodes = [builders.node("s1", labels=labels, notice=builders.notice())]
    later = [timedelta(minutes=minutes) for minutes in (-5, 9.9, 10, -5.1)]
    told = [bool(list(warned(nodes, WELL_KNOWN, NOW + each))) for each in later]
    assert told == [True, True, False, False]
