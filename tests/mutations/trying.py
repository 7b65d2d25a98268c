"""Runs tests against mutants, each in a process that is forked once all tests are collected.

All tests run once before, to see which of them execute which lines: a mutant is tried with those
that execute its statement, the fastest first, until one fails. In the fork the functions of its
module get the mutant's code. A statement that ran at import cannot be changed so: then the fork
imports everything anew, with the mutant for the module, and runs all tests.
"""

import ast
import gc
import os
import resource
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FunctionType
from typing import Never

import pytest
from coverage import Coverage

LONGEST = 30
"""Seconds of CPU that the tests of one mutant may take: one that never ends is caught."""

MOST = 2 << 30
"""Bytes that they may take meanwhile."""

BROKEN = 9
"""How a fork exits that could not try its mutant."""

OPTIONS = (
    *("-qq", "-s", "-x", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"),
    "--hypothesis-profile=ci",
)
"""The profile is hypothesis's own: no chance, and nothing kept from one mutant to the next."""


@dataclass(frozen=True, order=True)
class Mutant:
    """A module, by its path, broken in one place: the first line that differs, before and after."""

    module: str
    line: int
    before: str
    after: str
    text: str

    @property
    def statement(self) -> range:
        """The lines of the statement that differs; of a compound one, of its head."""
        found = range(self.line, self.line + 1)
        for node in ast.walk(ast.parse(Path(self.module).read_text())):  # outer ones first
            if isinstance(node, ast.stmt | ast.ExceptHandler):
                body = getattr(node, "body", None)
                end = body[0].lineno if body else (node.end_lineno or 0) + 1
                if self.line in (lines := range(node.lineno, end)):
                    found = lines
        return found


@dataclass(frozen=True)
class Recording:
    """What one run of all tests showed."""

    lines: Mapping[str, Mapping[int, Collection[str]]]
    """By file and line the tests that execute it; "" is the import."""
    seconds: Mapping[str, float]
    """By test."""

    def tests_of(self, mutant: Mutant) -> tuple[list[str], bool]:
        """The tests that may notice a mutant, fastest first, and whether import has to."""
        lines = self.lines.get(mutant.module, {})
        tests = {test for line in mutant.statement for test in lines.get(line, ())}
        anew = not tests or "" in tests
        return sorted(self.seconds if anew else tests, key=self.seconds.__getitem__), anew


def survivors(mutants: Sequence[Mutant], folder: str) -> list[Mutant]:
    """The mutants that all tests of a folder pass with."""
    return _apart(_try, folder, mutants, _apart(_record, folder))


def _apart[**P, T](function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a process of its own, since pytest imports what it tests only once."""
    with get_context("fork").Pool(1) as pool:
        return pool.apply(function, args, kwargs)


def _record(folder: str) -> Recording:
    coverage = Coverage(data_file=None, config_file=False, include=["*/evenkeel/*"])
    recorder = _Recorder(coverage)
    coverage.start()
    status = pytest.main([*OPTIONS, folder], [recorder])
    coverage.stop()
    if status != pytest.ExitCode.OK:
        raise RuntimeError(f"the tests of {folder} fail without a mutant")
    data = coverage.get_data()
    lines = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
    return Recording(lines, recorder.seconds)


class _Recorder:
    """Tells coverage which test runs, and takes the time."""

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        result = yield
        self._coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration


def _try(folder: str, mutants: Sequence[Mutant], recording: Recording) -> list[Mutant]:
    trial = _Trial(folder, mutants, recording)
    status = pytest.main([*OPTIONS, folder], [trial])
    if status != pytest.ExitCode.OK:
        raise RuntimeError(f"the mutants of {folder} could not all be tried")
    return trial.survivors


@dataclass
class _Trial:
    """Once all tests are collected, runs them in forks instead of once."""

    folder: str
    mutants: Sequence[Mutant]
    recording: Recording
    survivors: list[Mutant] = field(default_factory=list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        module = self.mutants[0].module
        unchanged = Mutant(module, 1, "", "", Path(module).read_text())
        attempts = [(unchanged, list(items), False), (unchanged, list(items), True)]
        attempts += [(mutant, *self.recording.tests_of(mutant)) for mutant in self.mutants]
        under_way: dict[int, Mutant] = {}
        for mutant, tests, anew in attempts:
            if len(under_way) == (os.process_cpu_count() or 1):
                self._wait(under_way)
            child = os.fork()
            if not child:
                _end(mutant, [items[test] for test in tests], self.folder if anew else "")
            under_way[child] = mutant
        while under_way:
            self._wait(under_way)
        if self.survivors.count(unchanged) != 2:
            raise RuntimeError("tests fail in a fork without a mutant")
        self.survivors = [mutant for mutant in self.survivors if mutant != unchanged]
        return True

    def _wait(self, under_way: dict[int, Mutant]) -> None:
        child, status = os.wait()
        mutant = under_way.pop(child)
        if status == 0:
            self.survivors.append(mutant)
        elif os.waitstatus_to_exitcode(status) == BROKEN:
            raise RuntimeError(f"{mutant.module}:{mutant.line} could not be tried: {mutant.after}")


def _end(mutant: Mutant, items: Sequence[pytest.Item], folder: str) -> Never:
    """In a fork, try a mutant with these tests, and exit with 0 where it survives.

    ``folder``: they are collected there anew; empty: they are not.
    """
    status = BROKEN
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        resource.setrlimit(resource.RLIMIT_DATA, (MOST, MOST))
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = compile(mutant.text, mutant.module, "exec")
        if folder:
            status = int(_fails_anew(folder, items, mutant.module, code))
        else:
            status = int(_fails(items, mutant.module, code))
    except BaseException:  # noqa: BLE001 - no fork may get out of here
        traceback.print_exc()
    finally:
        os._exit(status)


def _fails(items: Sequence[pytest.Item], module: str, code: CodeType) -> bool:
    """Whether any test fails once the functions of a module have other code."""
    codes = {(each.co_qualname, each.co_firstlineno): each for each in _within(code)}
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename == module:
            each.__code__ = codes[each.__code__.co_qualname, each.__code__.co_firstlineno]
    session = items[0].session
    for item in items:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed:
            return True
    return False


def _within(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _within(each)


class _InOrder:
    """Runs tests in the order of these, which were collected before."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self._places = {item.nodeid: place for place, item in enumerate(items)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._places.get(item.nodeid, 0))


def _fails_anew(folder: str, items: Sequence[pytest.Item], module: str, code: CodeType) -> bool:
    """Whether any test fails once all is imported again, with other code for a module."""
    for name in [name for name in sys.modules if name.startswith(("evenkeel", "tests"))]:
        del sys.modules[name]
    usual = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        return code if self.path == module else usual(self, name)

    pytest.MonkeyPatch().setattr(SourceFileLoader, "get_code", get_code)
    return pytest.main([*OPTIONS, folder], [_InOrder(items)]) != pytest.ExitCode.OK
