"""What is on the screen at one time: a value, whoever paints it.

A terminal paints what fits of it (``watch/terminal.py``). The page (``page/``) gets it as the JSON
that programs get, too. All times but the first three are seconds after the interruption began.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from evenkeel_cli.history.listing import WorkloadHistory
from evenkeel_cli.output import Item, Listing, ObjectItem


class Fate(StrEnum):
    """What becomes of a node with a notice, in the order in which the screen has them.

    It is undecided while its notice is a hint, after which it may well live on. It stays if its
    notice was taken back, or was a hint whose time is over. It is gone if it has ended, or its time
    is over and no pod is left on it that has to move.
    """

    GOES = "goes"
    UNDECIDED = "undecided"
    STAYS = "stays"
    GONE = "gone"


class Told(NamedTuple):
    """One decision about a node or a pod: when it was made, its verb and reason, and in words."""

    at: float
    verb: str
    reason: str
    message: str


class Point(NamedTuple):
    """From so many seconds on so many of the wanted pods of all workloads serve."""

    at: float
    serving: int
    wanted: int


class Counted(NamedTuple):
    """From so many seconds on so many pods of a workload are available (None: not known).

    ``wanted``: of how many; ``by_others``: there are fewer, and not on the interruption's part.
    """

    at: float
    available: int | None
    wanted: int
    by_others: bool


class Moves(NamedTuple):
    """So many pods went in this second on Evenkeel's part; ``restoring``: not for a notice."""

    at: int
    pods: int
    restoring: bool


class Minute(Item, frozen=True, kw_only=True):
    """What happened in the minute that begins ``at``.

    How many nodes had their notice and how many their deadline, how many replacements were asked
    for, how many pods went and how many of all were late, and how many workloads had too few pods.
    """

    at: int
    noticed: int
    deadlines: int
    released: int
    went: int
    late: int
    below: int


class Course(Item, frozen=True, kw_only=True):
    """The time line, up to ``now``; ``lasts`` is where the line ends.

    ``points`` are of the workloads whose counts are all known, ``plain`` of the same in a plain
    eviction: empty where none was simulated. A pod beyond those that its workload wants serves
    nobody here: it does not make up for one that another workload lacks.
    """

    now: float
    lasts: float
    points: Sequence[Point] = ()
    plain: Sequence[Point] = ()
    moves: Sequence[Moves] = ()
    minutes: Sequence[Minute] = ()


class NodeView(Item, frozen=True, kw_only=True):
    """A node with a notice, or with pods that had to move.

    ``kind`` is the reason of its mark, and empty with ``noticed`` and ``fate`` null if none is
    known. ``seconds`` are left until its ``deadline``. ``in_words`` is ``73s``, or what becomes of
    it. ``pods`` were decided about, and ``left`` of those that have to move are still on it.
    """

    name: str
    pool: str
    kind: str
    noticed: float | None
    deadline: float | None
    seconds: int | None
    fate: Fate | None
    in_words: str
    pods: int
    left: int
    late: int
    steps: Sequence[Told]

    @property
    def is_going(self) -> bool:
        """Whether it goes, or may go."""
        return self.fate in {Fate.GOES, Fate.UNDECIDED}


class PoolView(Item, frozen=True, kw_only=True):
    """The nodes of a pool: how many are there, and how many of them go or may go.

    ``pods`` of it were decided about, and ``left`` have yet to move. ``ends`` says in a few words
    what becomes of each node with a notice: ``73s (2)`` are the seconds and the pods left to it.
    """

    name: str
    nodes: int
    going: int
    pods: int
    left: int
    late: int
    ends: Sequence[str]


class WorkloadView(WorkloadHistory, frozen=True, kw_only=True):
    """A workload, as WorkloadHistory has it, and its ``counts`` over time.

    ``name`` is kind and name in short. ``ready`` are available now. ``pods`` were decided about;
    ``floor`` is how many somebody asked to have on on-demand nodes.
    """

    name: str
    pods: int
    floor: int | None
    counts: Sequence[Counted]

    @property
    def is_low(self) -> bool:
        """Whether it has fewer pods than wanted now."""
        return self.ready is not None and self.ready < (self.wanted or 0)

    @property
    def is_zero(self) -> bool:
        """Whether it has none of those that are wanted."""
        return self.ready == 0 and self.is_low


class PodView(ObjectItem, frozen=True, kw_only=True):
    """A pod, the way that it went, and why. ``workload`` as ``shop/deploy/web``, or empty."""

    workload: str
    node: str
    way: str
    released: float | None
    went: float | None
    late: bool
    why: str
    steps: Sequence[Told]


class LateView(Item, frozen=True, kw_only=True):
    """How many pods were late for one reason, of which workloads, and what prevents it."""

    pods: int
    why: str
    change: str
    workloads: Sequence[str]


class FloorView(ObjectItem, frozen=True, kw_only=True):
    """A floor that somebody asked for: how many of ``floor`` pods are Ready on on-demand nodes."""

    name: str
    floor: int
    survivors: int

    @property
    def stands(self) -> bool:
        """Whether it holds if all spot nodes die now."""
        return self.survivors >= self.floor


class Money(Item, frozen=True, kw_only=True):
    """What the nodes cost a month, and what spot saves, in US dollars.

    Below it what each workload costs: the titles of the columns, the first that of names, the rows,
    and a note about both.
    """

    now: float
    saved: float
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class Said(Item, frozen=True, kw_only=True):
    """A decision in plain words, and how many seconds after the beginning it was made."""

    at: float
    verb: str
    text: str
    warning: bool


class Fact(Item, frozen=True, kw_only=True):
    """Something else that is to be known, under its name; ``bad``: a person should act."""

    name: str
    text: str
    bad: bool = False


class Note(NamedTuple):
    """Something that was logged, and is no decision."""

    at: float
    message: str


class Screen(Item, frozen=True, kw_only=True):
    """All of it. ``begins`` is when the interruption did, None before the first.

    ``calm``: no node is going. ``over``: all of it is told, and nothing more comes. ``figures``:
    what the interruption comes to; ``facts``: what else there is to know of the cluster.
    ``sentences``: what is to be said beside the headline once no node goes. ``decisions``: the
    latest first, of so many that were ``decided``.
    """

    at: datetime
    source: str
    headline: str
    calm: bool
    over: bool = False
    begins: datetime | None = None
    figures: Sequence[Fact] = ()
    facts: Sequence[Fact] = ()
    sentences: Sequence[str] = ()
    course: Course | None = None
    pools: Sequence[PoolView] = ()
    nodes: Sequence[NodeView] = ()
    workloads: Sequence[WorkloadView] = ()
    pods: Sequence[PodView] = ()
    late: Sequence[LateView] = ()
    floors: Sequence[FloorView] = ()
    money: Money | None = None
    decisions: Sequence[Said] = ()
    decided: int = 0
    notes: Sequence[Note] = ()


class ScreenList(Listing, frozen=True, kw_only=True):
    """What ``evenkeel watch`` shows at one time: one screen."""

    items: Sequence[Screen]
