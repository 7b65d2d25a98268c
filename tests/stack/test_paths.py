"""The paths of the functions are all that there are, and each of their tests is there."""

import ast

import pytest

from tests.kit import iam
from tests.kit.control_plane import ROOT
from tests.kit.operations import LAYER, named_in
from tests.stack.cloudformation import deployed
from tests.stack.paths import PATHS, Path
from tests.stack.sets import CLUSTER, OF_LAMBDA
from tests.stack.sources import variables

DEPLOYED = ROOT / "tests" / "stack" / "deployed"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.function}: {path.what}")
def test_the_test_that_shows_a_path_is_there_and_runs_on_the_stack(path: Path) -> None:
    module = ast.parse((DEPLOYED / f"test_{path.file}.py").read_text())
    assert path.test in {each.name for each in module.body if isinstance(each, ast.FunctionDef)}
    assert any(ast.unparse(each) == "pytestmark = pytest.mark.stack" for each in module.body)


@pytest.mark.parametrize("function", ["interruption", "handover", "restore", "placement"])
def test_each_call_that_a_role_allows_is_on_a_path_and_no_other_is(function: str) -> None:
    stack = deployed(**CLUSTER, Webhook="true", LifecycleHook="evenkeel")
    allowed = {action for action, _ in stack.statements(f"{function.capitalize()}Role")}
    shown = {call for path in PATHS if path.function == function for call in path.calls}
    assert shown == allowed - OF_LAMBDA


def test_each_operation_that_the_code_names_is_on_a_path_and_no_other_is() -> None:
    named = {iam.action(*each) for each in named_in(LAYER, ROOT / "functions")}
    assert {call for path in PATHS for call in path.calls} == named


def test_each_variable_that_the_code_reads_is_on_a_path() -> None:
    named = {setting for path in PATHS for setting in path.settings}
    shown = {name if name.startswith("AWS_") else f"EVENKEEL_{name}" for name in named}
    assert shown == variables()
