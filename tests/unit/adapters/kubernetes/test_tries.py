"""What is tried again, how often and how long, and what each refusal becomes."""

from datetime import timedelta

import pytest

from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel.errors import (
    AlreadyExistsError,
    ClusterError,
    ConflictError,
    DisruptionRefusedError,
    ExpiredError,
    ForbiddenError,
    InvalidError,
    MultipleBudgetsError,
    NotFoundError,
    ThrottledError,
    UnauthenticatedError,
    UnavailableError,
)
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.meta import Metadata
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, Delete, Request
from tests.kit.api_server import (
    HandClock,
    Handler,
    ScriptedServer,
    Step,
    answer,
    hang,
    refusal,
    reset,
)
from tests.unit.adapters.kubernetes.making import (
    EVICT,
    HASTY,
    LIST,
    READ,
    WRITE,
    Connect,
    error_of,
    page,
    pod,
)

CREATE = Create(ConfigMap(metadata=Metadata(name="settings", namespace="shop")))
DELETE = Delete(Pod, "web-1", "shop", uid="u1")
BUDGET = {"reason": "DisruptionBudget", "message": "The disruption budget web needs 1 healthy pods"}
TWO_BUDGETS = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"
    " support."
)
DONE = answer(200, pod())
CREATED = answer(201, {"kind": "Status", "status": "Success"})


@pytest.mark.parametrize("request_", [READ, WRITE, EVICT, DELETE], ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("code", [429, 503])
def test_a_throttled_request_is_sent_again_after_the_time_it_was_told(
    request_: Request, code: int, server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(answer(code, {"message": "too many requests"}, Retry_After="2"), DONE)
    assert error_of(connect(), request_) is None
    assert len(server.seen) == 2
    (nap,) = clock.naps
    assert 2 <= nap <= 2.5


def test_throttling_without_a_time_waits_a_second(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(answer(503, b"<html>upstream is away</html>"), DONE)
    assert error_of(connect(), READ) is None
    (nap,) = clock.naps
    assert 1 <= nap <= 1.25


def test_throttling_that_outlasts_the_budget_is_reported_with_its_time(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(always=answer(429, {}, Retry_After="3"))
    error = error_of(connect(), WRITE)
    assert isinstance(error, ThrottledError)
    assert error.retry_after == 3
    assert sum(clock.naps) < 10
    assert len(server.seen) == len(clock.naps) + 1 > 2


@pytest.mark.parametrize("seconds", ["3600", "99999999999999", "9" * 400])
def test_a_server_that_asks_for_hours_is_not_believed(
    seconds: str, server: ScriptedServer, connect: Connect
) -> None:
    """And no number is too long to be reckoned with."""
    by_header = answer(503, {}, Retry_After=seconds)
    by_body = answer(429, {"details": {"retryAfterSeconds": int(seconds[:18])}})
    server.script(by_header, by_body)
    cluster = connect()
    for _ in range(2):
        error = error_of(cluster, READ)
        assert isinstance(error, ThrottledError)
        assert error.retry_after == 60


def test_it_does_not_wait_when_the_server_asks_for_more_time_than_there_is(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(always=answer(503, {}, Retry_After="60"))
    error = error_of(connect(), READ)
    assert isinstance(error, ThrottledError)
    assert error.retry_after == 60
    assert (len(server.seen), clock.naps) == (1, [])


def test_a_budgets_refusal_is_no_throttling(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(refusal(429, "TooManyRequests", "Cannot evict pod", causes=[BUDGET]))
    error = error_of(connect(), EVICT)
    assert isinstance(error, DisruptionRefusedError)
    assert "needs 1 healthy pods" in str(error)
    assert (len(server.seen), clock.naps) == (1, [])


@pytest.mark.parametrize("code", [429, 503])
def test_a_webhooks_refusal_is_no_throttling_whatever_its_code(
    server: ScriptedServer, clock: HandClock, connect: Connect, code: int
) -> None:
    said = 'admission webhook "no.example.com" denied the request: not today'
    server.script(refusal(code, "TooManyRequests", said))
    error = error_of(connect(), EVICT)
    assert not isinstance(error, ThrottledError)
    assert "not today" in str(error)
    assert (len(server.seen), clock.naps) == (1, [])


def test_a_refusal_keeps_what_webhooks_said(server: ScriptedServer, connect: Connect) -> None:
    """As the API server hands it on: the text in quotes, with backslashes before quotes."""
    server.script(answer(403, {}, Warning='299 - "evenkeel: it \\"waits\\""'))
    error = error_of(connect(), WRITE)
    assert isinstance(error, ForbiddenError)
    assert error.warnings == ('evenkeel: it "waits"',)


@pytest.mark.parametrize("fault", [reset, hang, answer(504, {}), answer(500, {})])
def test_a_read_is_tried_again_when_its_outcome_is_unknown(
    fault: Step, server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(fault, fault, page(pod()))
    assert error_of(connect(HASTY), LIST) is None
    first, second = clock.naps
    assert 0 < first <= 0.1 < second <= 0.2


@pytest.mark.parametrize("write", [WRITE, EVICT, DELETE, CREATE], ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("fault", [reset, hang, answer(504, {})])
def test_a_write_is_not_tried_again_when_its_outcome_is_unknown(
    fault: Step, write: Request, server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(fault, always=DONE)
    assert isinstance(error_of(connect(HASTY), write), UnavailableError)
    assert (len(server.seen), clock.naps) == (1, [])


def test_a_write_is_tried_again_when_there_was_no_connection(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    cluster = connect()
    server.shutdown()
    server.server_close()
    error = error_of(cluster, WRITE)
    assert isinstance(error, UnavailableError)
    assert "no connection" in str(error)
    assert len(clock.naps) > 3
    assert sum(clock.naps) < 10


def test_a_read_that_always_fails_ends_with_its_budget(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(always=reset)
    limits = Limits(budget=timedelta(seconds=3))
    assert isinstance(error_of(connect(limits), READ), UnavailableError)
    assert 2 <= sum(clock.naps) < 3


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (refusal(400, "BadRequest"), ClusterError),
        (refusal(401, "Unauthorized"), UnauthenticatedError),
        (refusal(403, "Forbidden"), ForbiddenError),
        (refusal(404, "NotFound"), NotFoundError),
        (refusal(405, "MethodNotAllowed"), ClusterError),
        (refusal(409, "Conflict"), ConflictError),
        (refusal(409, "AlreadyExists"), AlreadyExistsError),
        (refusal(410, "Expired"), ExpiredError),
        (refusal(422, "Invalid"), InvalidError),
        (refusal(500, "", TWO_BUDGETS), MultipleBudgetsError),
        (refusal(500, "InternalError"), UnavailableError),
        (answer(302, {}, Location="/login"), ClusterError),
    ],
)
def test_each_refusal_becomes_the_error_of_its_meaning(
    step: Step, expected: type[ClusterError], server: ScriptedServer, connect: Connect
) -> None:
    server.script(step)
    error = error_of(connect(), EVICT)
    assert type(error) is expected
    assert str(error).startswith("evict pod shop/web-1: ")
    assert len(server.seen) == 1


def test_a_proxys_page_is_quoted_when_it_answers_instead_of_the_api_server(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(answer(403, b"<html>blocked by policy</html>"))
    error = error_of(connect(), READ)
    assert isinstance(error, ForbiddenError)
    assert "blocked by policy" in str(error)


@pytest.mark.parametrize("body", [b"<html>welcome</html>", b'{"metadata":', b'{"metadata":{}}'])
def test_an_answer_that_is_no_kubernetes_object_is_no_answer(
    body: bytes, server: ScriptedServer, connect: Connect
) -> None:
    server.script(answer(200, body))
    error = error_of(connect(), READ)
    assert isinstance(error, UnavailableError)
    assert "not the answer of a Kubernetes API" in str(error)


def test_a_list_ends_when_the_server_always_knows_of_one_page_more(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    def another(handler: Handler) -> None:
        clock.advance(timedelta(seconds=1))
        page(pod(), more=f"t{len(server.seen)}")(handler)

    server.script(always=another)
    error = error_of(connect(Limits(listing=timedelta(seconds=12))), LIST)
    assert isinstance(error, UnavailableError)
    assert len(server.seen) == 12


def test_a_list_ends_at_once_when_its_pages_go_round_in_circles(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(always=page(pod(), more="t1"))
    assert isinstance(error_of(connect(), LIST), UnavailableError)
    assert len(server.seen) == 2
