"""What is read from the API server's counters."""

from typing import Any, cast

import pytest

from bench.storm import metrics
from tests.kit.control_plane import ControlPlane

TOLD = """\
# TYPE apiserver_request_total counter
apiserver_request_total{code="201",resource="pods",subresource="eviction",verb="POST"} 7
apiserver_request_total{code="429",resource="pods",subresource="eviction",verb="POST"} 3
apiserver_request_total{code="429",resource="pods",subresource="eviction",verb="CREATE"} 2
apiserver_request_total{code="429",resource="pods",subresource="",verb="POST"} 9
apiserver_request_total_bytes{code="429",subresource="eviction"} 50
apiserver_admission_webhook_fail_open_count{name="a",type="validating"} 4
"""


class _Telling:
    def text(self, path: str) -> str:
        assert path == "metrics"
        return TOLD


@pytest.fixture
def control_plane() -> ControlPlane:
    return cast("ControlPlane", cast("Any", _Telling()))


def test_refusals_are_the_evictions_that_were_answered_429(control_plane: ControlPlane) -> None:
    assert metrics.refusals(control_plane) == 5


def test_a_review_that_was_not_answered_in_time_is_unasked(control_plane: ControlPlane) -> None:
    assert metrics.unasked(control_plane) == 4


def test_a_counter_that_is_not_there_yet_is_zero(control_plane: ControlPlane) -> None:
    assert metrics.total(control_plane, "apiserver_other_total") == 0
