"""What is read from the API server's counters."""

from typing import Any, cast

import pytest

from bench.lab import webhook
from tests.kit.control_plane import ControlPlane

TOLD = """\
# TYPE apiserver_request_total counter
apiserver_request_total{code="201",resource="pods",subresource="eviction",verb="POST"} 7
apiserver_request_total{code="429",resource="pods",subresource="eviction",verb="POST"} 3
apiserver_request_total{code="429",resource="pods",subresource="eviction",verb="CREATE"} 2
apiserver_request_total{code="429",resource="pods",subresource="",verb="POST"} 9
apiserver_request_total_bytes{code="429",subresource="eviction"} 50
"""


class _Telling:
    def text(self, path: str) -> str:
        assert path == "metrics"
        return TOLD


@pytest.fixture
def control_plane() -> ControlPlane:
    return cast("ControlPlane", cast("Any", _Telling()))


def test_refusals_are_the_evictions_that_were_answered_429(control_plane: ControlPlane) -> None:
    assert webhook.refusals(control_plane) == 5


def test_a_counter_that_is_not_there_yet_is_zero(control_plane: ControlPlane) -> None:
    assert webhook.total(control_plane, "apiserver_other_total") == 0
