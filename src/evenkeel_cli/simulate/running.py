"""Many storms, each in a process of its own, with a bar that says how long it still takes."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from evenkeel_cli import console
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.simulate import trial, weathering
from evenkeel_cli.simulate.results import Trial
from evenkeel_cli.simulate.trial import Ground, Objects, Setting
from evenkeel_cli.simulate.weathering import DaySetting

type Case = tuple[Objects, Setting]
"""The objects of a cluster, and what happens there."""

_CASES: Final[list[Case]] = []
"""All cases, in a process that lets storms come."""


def storms(cases: Sequence[Case], seeds: Sequence[int], jobs: int) -> Sequence[Sequence[Trial]]:
    """For each case the storms of all seeds, in their order; ``jobs`` of them at a time."""
    tasks = [(number, seed) for number in range(len(cases)) for seed in seeds]
    if not tasks:
        return [[] for _ in cases]
    found: dict[tuple[int, int], Trial] = {}
    with (
        ProcessPoolExecutor(
            min(jobs, len(tasks)),
            mp_context=get_context("spawn"),
            initializer=_begin,
            initargs=(cases,),
        ) as pool,
        _bar(console.standard_error(), len(tasks)) as bar,
    ):
        running = {pool.submit(_run, n, seed): (n, seed) for n, seed in tasks}
        try:
            for done in as_completed(running):
                found[running[done]] = _outcome(done.result())
                bar.advance(bar.task_ids[0])
        except BrokenProcessPool:
            raise UnmetError(
                "the process of a storm died, perhaps for lack of memory: try -j 1, or a smaller"
                " cluster"
            ) from None
        except BaseException:
            _end(pool)
            raise
    return [[found[number, seed] for seed in seeds] for number in range(len(cases))]


def _begin(cases: Sequence[Case]) -> None:
    _CASES[:] = cases


def _run(number: int, seed: int) -> Trial | str:
    """A storm; what went wrong in words, for not every error can go from process to process."""
    try:
        ground, setting = _ground(number), _CASES[number][1]
        if isinstance(setting, DaySetting):
            return weathering.run(ground, setting, seed)
        return trial.run(ground, setting, seed)
    except Exception as error:  # noqa: BLE001 - told where the command runs
        return f"{type(error).__name__}: {error}"


@cache
def _ground(number: int) -> Ground:
    return Ground.of(_CASES[number][0])


def _outcome(found: Trial | str) -> Trial:
    if isinstance(found, str):
        raise UnmetError(
            f"a storm could not be simulated ({found}): see whether the snapshot is whole, and"
            " report it"
        )
    return found


def _end(pool: ProcessPoolExecutor) -> None:
    """End the storms that run, which may take minutes more."""
    for process in list((pool._processes or {}).values()):  # noqa: SLF001 - public from 3.14 on
        process.terminate()
    pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _bar(where: Console, storms: int) -> Iterator[Progress]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    shown = console.can_show_live(where)
    with Progress(*columns, console=where, transient=True, disable=not shown) as bar:
        bar.add_task("storms", total=storms)
        yield bar
