"""Fixtures for all tests."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.kit.control_plane import ControlPlane, Options

# How long an example takes is bench's business.
settings.register_profile("default", deadline=None, max_examples=15)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the choice of another Kubernetes version."""
    parser.addoption(
        "--kube",
        default="",
        metavar="VERSION",
        help="the Kubernetes version of the control plane (default: the one of tools/go.mod)",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with hypothesis, its explicit examples too, are not traced: that takes minutes."""
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker("no_cover")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many states of small worlds were walked."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "walked":
                case = report.nodeid.partition("[")[2].removesuffix("]")
                terminalreporter.write_line(f"walked, {case}: {value}")


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A real control plane, one per test process."""
    with ControlPlane.launch(Options(kube=request.config.getoption("--kube"))) as started:
        yield started


@pytest.fixture(scope="session")
def control_plane_with_gangs(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A control plane with Kubernetes' own groups of pods, one per test process that needs it.

    It misses a silent node after 30 s, for those tests that wait for that.
    """
    options = Options(kube=request.config.getoption("--kube"), gangs=True, missed_after=30)
    with ControlPlane.launch(options) as started:
        yield started


@pytest.fixture(scope="session")
def control_plane_with_eviction_requests(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A control plane that serves EvictionRequests, one per test process that needs it."""
    options = Options(kube=request.config.getoption("--kube"), eviction_requests=True)
    with ControlPlane.launch(options) as started:
        yield started


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A fresh namespace on the real control plane; nodes added meanwhile go with it."""
    with control_plane.namespace() as name:
        yield name
