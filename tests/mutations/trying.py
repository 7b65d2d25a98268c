"""Runs tests against mutants, each in a process that is forked once all tests are collected.

All tests run once before, to see which of them execute which lines: a mutant is tried with those
that execute its statement until one fails. In the fork the functions of its module get the mutant's
code. A statement that ran at import cannot be changed so: then the fork imports everything anew,
with the mutant for the module, and runs all tests.
"""

import ast
import gc
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from tests.mutations.forking import CORES, called_in_forks
from tests.mutations.naming import around, importable

ENDLESS = 10
"""A test that takes so many times the CPU that it takes without a mutant, and a second, never ends:
its mutant is caught. One that waits without any is ended by pytest's own limit."""

LONGEST = 600
"""Seconds of CPU that all tests may take with a mutant that is imported anew."""

MOST = 2 << 30
"""Bytes that the tests of a mutant may take."""

TOOL = 2
"""One of sys.monitoring's numbers that is free: hypothesis has 3, tests/kit/effort.py 4."""

OPTIONS = (
    *("-qq", "-s", "-x", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"),
    *("-m", "not controlplane and not stack and not browser and not nightly"),
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
    text: str = field(repr=False)

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

    @property
    def function(self) -> range:
        """The lines of the function or class around it; none of what stands in none."""
        blocks = around(Path(self.module), self.line)
        return range(blocks[-1].lineno, (blocks[-1].end_lineno or 0) + 1) if blocks else range(0)


@dataclass(frozen=True)
class Recording:
    """What one run of all tests showed."""

    lines: Mapping[str, Mapping[int, Collection[str]]]
    """By file and line the tests that execute it; "" is the import."""
    seconds: Mapping[str, float]
    """Of CPU, by test."""

    def tests_of(self, mutant: Mutant, most: int | None) -> tuple[list[str], bool]:
        """The tests that may notice a mutant, and whether import has to.

        All unit tests come first, as they are fast and about what is broken. Then come so many
        others at most: the three fastest, for most tests notice most mutants, and then those that
        execute in its function what few others do.
        """
        lines = self.lines.get(mutant.module, {})
        tests = {test for line in mutant.statement for test in lines.get(line, ())}
        anew = "" in tests
        fastest = sorted(self.seconds if anew else tests, key=self.seconds.__getitem__)
        units = [test for test in fastest if test.startswith("tests/unit/")]
        others = [test for test in fastest if not test.startswith("tests/unit/")]
        seldom: defaultdict[str, float] = defaultdict(float)
        for line in mutant.function:
            for test in lines.get(line, ()):
                seldom[test] += 1 / len(lines[line])
        rest = sorted(others[3:], key=seldom.__getitem__, reverse=True)
        return [*units, *[*others[:3], *rest][:most]], anew


def survivors(
    mutants: Sequence[Mutant], folders: Sequence[str], most: int | None
) -> Iterator[Mutant]:
    """The mutants that all tests of some folders or files pass with, as they are found.

    ``most``: how many tests that are no unit tests a mutant is tried with; None is all.

    The tests run in a process of their own, since pytest imports what it tests only once.
    """
    context = get_context("fork")
    found = context.SimpleQueue()
    process = context.Process(target=_try_all, args=(_Trial(mutants, folders, most, found.put),))
    process.start()
    while (mutant := found.get()) is not None:
        yield mutant
    process.join()
    if process.exitcode:
        raise RuntimeError(f"the mutants of {mutants[0].module} could not all be tried")


def _try_all(trial: "_Trial") -> None:
    """Ends with 1 if tests fail without a mutant, and tells of None at the end in any case."""
    try:
        with trial.lines.noted():
            status = pytest.main([*OPTIONS, *trial.folders], [trial])
    finally:
        trial.tell(None)
    sys.exit(status)


class _Lines:
    """Notes which tests execute which lines of some modules, in all threads and greenlets."""

    def __init__(self, modules: Collection[str]) -> None:
        self.tests: dict[str, dict[int, set[str]]] = {
            module: defaultdict(set) for module in modules
        }
        self._test = ""

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note lines, of the import until a test begins."""
        sys.monitoring.use_tool_id(TOOL, "mutations")
        sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, self._note)
        sys.monitoring.set_events(TOOL, sys.monitoring.events.LINE)
        try:
            yield
        finally:
            self.end()

    def only(self, codes: Sequence[CodeType]) -> None:
        """From now on note the lines of these alone, which costs the tests next to nothing."""
        sys.monitoring.set_events(TOOL, 0)
        for code in codes:
            sys.monitoring.set_local_events(TOOL, code, sys.monitoring.events.LINE)

    def begin(self, test: str) -> None:
        """What runs from now on, a test does."""
        self._test = test
        sys.monitoring.restart_events()

    def end(self) -> None:
        """Note nothing any more."""
        sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, None)
        sys.monitoring.free_tool_id(TOOL)

    def _note(self, code: CodeType, line: int) -> object:
        """Once a line and test: it is told of no line again until the next test begins."""
        if code.co_filename in self.tests:
            self.tests[code.co_filename][line].add(self._test)
        return sys.monitoring.DISABLE


class _Trial:
    """Once all tests are collected, runs them in forks instead of once."""

    def __init__(
        self,
        mutants: Sequence[Mutant],
        folders: Sequence[str],
        most: int | None,
        tell: Callable[[Mutant | None], None],
    ) -> None:
        self.folders = folders
        self.tell = tell
        self.lines = _Lines({mutant.module for mutant in mutants})
        self._mutants = mutants
        self._most = most
        self._catchers: defaultdict[str, list[str]] = defaultdict(list)
        """By module, the tests that have caught a mutant of it: they are tried first."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        for module in self.lines.tests:
            import_module(importable(Path(module)))
        functions = _functions_of(self.lines.tests)
        made = [each.__code__ for of_module in functions.values() for each in of_module]
        self.lines.only([*made, *(inner for code in made for inner in _within(code))])
        gc.freeze()  # what is collected here is not looked through again in each fork
        recording = self._record(session.items)
        self.lines.end()
        for mutant, caught_by in called_in_forks(self._attempts(recording, items, functions)):
            if caught_by == "":
                self.tell(mutant)
            elif caught_by is not None:
                self._catchers[mutant.module].append(caught_by)
        return True

    def _record(self, items: Sequence[pytest.Item]) -> Recording:
        """Run all tests, some in each fork."""
        parts = [(number, items[number :: 4 * CORES]) for number in range(4 * CORES)]
        seconds: dict[str, float] = {}
        for _, part in called_in_forks((n, partial(self._part, part)) for n, part in parts if part):
            if part is None:
                raise RuntimeError("a fork was ended while no module was broken")
            seconds |= part.seconds
            for module, lines in part.lines.items():
                for line, tests in lines.items():
                    self.lines.tests[module][line] |= set(tests)
        return Recording(self.lines.tests, seconds)

    def _part(self, items: Sequence[pytest.Item]) -> Recording:
        seconds = {}
        for item in items:
            before = time.process_time()
            self.lines.begin(item.nodeid)
            if _fails(item):
                raise RuntimeError(f"{item.nodeid} fails without a mutant")
            seconds[item.nodeid] = time.process_time() - before
        return Recording({file: dict(lines) for file, lines in self.lines.tests.items()}, seconds)

    def _attempts(
        self,
        recording: Recording,
        items: Mapping[str, pytest.Item],
        functions: Mapping[str, Sequence[FunctionType]],
    ) -> Iterator[tuple[Mutant, Callable[[], str | None]]]:
        """What catches each mutant: of one whose import counts, any test."""
        for mutant in self._mutants:
            tests, anew = recording.tests_of(mutant, self._most)
            first = self._catchers[mutant.module]
            tests.sort(key=lambda test: test not in first)
            limits = {test: 1 + ceil(ENDLESS * recording.seconds[test]) for test in tests}
            if anew:
                yield mutant, partial(_catches_anew, mutant, tests, self.folders)
            else:
                chosen, changed = [items[test] for test in tests], functions[mutant.module]
                yield mutant, partial(_catches, mutant, changed, chosen, limits)


def _functions_of(modules: Collection[str]) -> Mapping[str, Sequence[FunctionType]]:
    """By module, the functions that have been made of it."""
    found: dict[str, list[FunctionType]] = {module: [] for module in modules}
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename in found:
            found[each.__code__.co_filename].append(each)
    return found


def _catches(
    mutant: Mutant,
    functions: Sequence[FunctionType],
    items: Sequence[pytest.Item],
    limits: Mapping[str, int],
) -> str:
    """The first test that fails with a mutant; empty if none does.

    ``functions``: those of its module, which get its code. ``limits``: how many seconds of CPU
    each test may take.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MOST, MOST))
    code = compile(mutant.text, mutant.module, "exec")
    codes = {(each.co_qualname, each.co_firstlineno): each for each in _within(code)}
    for each in functions:
        each.__code__ = codes[each.__code__.co_qualname, each.__code__.co_firstlineno]
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    for item in items:
        resource.setrlimit(
            resource.RLIMIT_CPU, (ceil(time.process_time()) + limits[item.nodeid], hard)
        )
        if _fails(item):
            return item.nodeid
    return ""


def _fails(item: pytest.Item) -> bool:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    return bool(item.session.testsfailed)


def _within(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _within(each)


class _InOrder:
    """Runs tests in the order of these, which were collected before."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._places]
        items.sort(key=lambda item: self._places[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid


def _catches_anew(mutant: Mutant, tests: Sequence[str], folders: Sequence[str]) -> str | None:
    """The same once all is imported again, with a mutant for its module; None: that fails."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST, MOST))
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
    for name in [name for name in sys.modules if name.startswith(("evenkeel", "tests"))]:
        del sys.modules[name]
    code = compile(mutant.text, mutant.module, "exec")
    usual = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        return code if self.path == mutant.module else usual(self, name)

    pytest.MonkeyPatch().setattr(SourceFileLoader, "get_code", get_code)
    ordered = _InOrder(tests)
    passed = pytest.main([*OPTIONS, *folders], [ordered]) == pytest.ExitCode.OK
    return "" if passed else ordered.failed or None
