"""What is known of a cluster at one time: what each source gives, and of which the screen is made.

A source is a real cluster, a storm that is simulated, or a decision log.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from evenkeel.decisions.floor.standing import Standing
from evenkeel.model.pod_count import PodCount
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.nodes.listing import LeaseHolder
from evenkeel_cli.screen.views import Money

ON_DEMAND: Final = "on-demand"
"""What the nodes are called that are in no pool of spot nodes."""


class Around(NamedTuple):
    """What a cluster shows beside the interruption.

    ``headroom`` is a sentence, if there is one; ``money`` is None where no price is known.
    """

    standings: Sequence[Standing] = ()
    headroom: str = ""
    money: Money | None = None


class Known(NamedTuple):
    """What is known then. ``account`` is that of the interruption up to now, or of the last one.

    ``source`` says where it is from. ``over``: all of it is known, and what is ``around`` is what
    there was before. ``pools``: by node the pool, of all nodes that are or were there; those that
    are ``left`` are. ``plain``: what is counted where a plain eviction empties the same nodes.
    ``mode`` is act, observe, or empty where that is not known. ``lease`` says who is or was at
    work, and ``paused`` since when Evenkeel is paused, by whom, and why. ``note``: what went wrong.
    """

    at: datetime
    source: str
    account: Incident | None = None
    over: bool = False
    pools: Mapping[str, str] = {}
    left: Collection[str] = ()
    plain: Sequence[PodCount] = ()
    around: Around | None = None
    mode: str = ""
    lease: LeaseHolder | None = None
    paused: str = ""
    note: str = ""


class Source(Protocol):
    """Where it comes from."""

    def looks(self) -> Iterator[Known]:
        """What is known, each time that there is something to show, and no faster than that.

        It ends when nothing more can come. Raises ClusterError where nothing can be read at first.
        """
