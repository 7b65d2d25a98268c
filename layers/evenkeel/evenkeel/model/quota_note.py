"""What is kept on a ReplicaSet to which a quota refuses pods."""

from datetime import datetime, timedelta
from typing import ClassVar, Final, override

from evenkeel.model import names
from evenkeel.model.notes import VERSION, Note
from evenkeel.model.release import LONGEST_RELEASE

MOST_TRIES: Final = 4
"""How many times more it is tried to make a pod in the place of one that is gone.

The quota's own controller has to count it first. After these tries another pod has the place.
"""


class QuotaNote(Note, frozen=True, kw_only=True, rename="camel"):
    """The annotation ``evenkeel.dev/refused`` of a ReplicaSet.

    Each time that it is written, the ReplicaSet's controller tries to make pods at once: it was
    written ``at`` a time, and so many ``tries`` ago for no other reason.

    - Its pods go in turns ``until`` then, so that there are so many ``pods`` of it again and again;
      None: they are handed over, or wait for their last moments.
    - ``going`` of its pods were being deleted, the last one told so at ``told_at``.
    - A turn ``took`` so many seconds; 0 if none is over.
    """

    key: ClassVar = names.REFUSED

    v: int = VERSION
    at: datetime
    tries: int = 0
    until: datetime | None = None
    pods: int = 0
    going: int = 0
    told_at: datetime | None = None
    took: float = 0

    @property
    @override
    def makes_sense(self) -> bool:
        """Whether Evenkeel can have written this. Anybody who may annotate ReplicaSets may have."""
        return (
            super().makes_sense
            and (self.until or self.at) - self.at <= LONGEST_RELEASE
            and 0 <= self.tries <= MOST_TRIES
            and min(self.pods, self.going) >= 0
            and 0 <= self.took <= timedelta(days=1).total_seconds()
        )

    def is_over(self, now: datetime) -> bool:
        """Whether it says of turns that they are over by now."""
        return self.until is not None and now >= self.until
