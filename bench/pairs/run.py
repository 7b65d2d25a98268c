"""Storms of two commits in turn, each in a new cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench import conditions, store
from bench.pairs.results import Deletion, Pair, Pairs, Run
from bench.repository import Repository
from bench.say import Say
from bench.storm import worker
from bench.storm.results import summary
from bench.storm.scenario import Scenario
from bench.storm.storm import Storm, prepared

SLOW: Final = 45.0
"""Where a cluster takes longer to fill, in seconds, the machine is too busy to compare on."""
TRIES: Final = 3


class SlowError(Exception):
    """A cluster took too long to fill."""


def run(scenario: Scenario, base: str, pairs: int, say: Say, *, beside: bool) -> Pairs:
    """So many pairs with this tree and another commit; ``beside``: with a bare deletion each."""
    repository = Repository(store.ROOT)
    this, other = repository.here, repository.name_of(base)
    with repository.checked_out(base) as tree:
        measure = _Pairing(scenario, tree, say, beside=beside)
        say(f"this is {this}, base is {other}")
        done = [measure.pair(number) for number in range(pairs)]
    return Pairs(
        scenario=scenario.name,
        title=scenario.title,
        condition=scenario.limit.value,
        nodes=scenario.spot,
        pods=scenario.pods,
        conditions=conditions.look(),
        worker=worker.how_held(),
        base=other,
        pairs=done,
    )


class _Pairing:
    def __init__(self, scenario: Scenario, base: Path, say: Say, *, beside: bool) -> None:
        self._scenario = scenario
        self._trees = {"this": store.ROOT, "base": base}
        self._say = say
        self._beside = beside

    def pair(self, number: int) -> Pair:
        """One pair; which of them goes first changes. A slow one is tried again, twice at most."""
        for tries in range(TRIES):
            is_last = tries == TRIES - 1
            limit = float("inf") if is_last else SLOW
            try:
                return self._try(number, limit, tries)
            except SlowError as error:
                self._say(f"{error}: the pair begins again")
        raise AssertionError("the last try has no limit")

    def _try(self, number: int, limit: float, slow: int) -> Pair:
        sides = ("base", "this") if number % 2 == 0 else ("this", "base")
        runs = {side: self._storm(f"pairs-{number + 1}-{side}", side, limit) for side in sides}
        deletion = self._deletion(limit) if self._beside else None
        return Pair(this=runs["this"], base=runs["base"], deletion=deletion, slow=slow)

    def _storm(self, name: str, side: str, limit: float) -> Run:
        self._say(f"{name}:")
        log = store.new_log(name)
        with (
            self._filled(limit) as storm,
            worker.started(storm.aws, storm.kubeconfig, log, self._trees[side]) as process,
        ):
            round_ = storm.round(process)
            process.end()
            self._say(f"{name}: {summary(round_.outcome, storm.fill)}")
            return Run(
                pods=self._scenario.pods,
                fill=storm.fill,
                outcome=round_.outcome,
                seconds=round_.seconds,
                cpu_seconds=round_.cpu_seconds,
                peak_mb=process.peak_mb,
                requests=round_.own,
            )

    def _deletion(self, limit: float) -> Deletion:
        self._say("beside it: every pod deleted at once")
        with self._filled(limit) as storm:
            outcome = storm.delete_all().outcome
            self._say(summary(outcome, storm.fill))
            return Deletion(fill=storm.fill, outcome=outcome)

    @contextmanager
    def _filled(self, limit: float) -> Iterator[Storm]:
        with prepared(self._scenario, self._say) as storm:
            if storm.fill > limit:
                raise SlowError(f"the cluster took {storm.fill:.1f} s to fill")
            yield storm
