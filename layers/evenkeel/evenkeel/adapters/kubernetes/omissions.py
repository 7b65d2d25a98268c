"""Objects that cannot be read, and so are left out."""

from collections.abc import Sequence

from evenkeel.adapters.kubernetes.occasional import Occasional
from evenkeel.errors import UnreadableObjectError
from evenkeel.model.metrics import Metric
from evenkeel.ports import Clock, Journal


class Omissions:
    """Reports objects that were left out. Several threads report at once."""

    def __init__(self, clock: Clock, journal: Journal) -> None:
        self._report = Occasional(clock, journal, Metric.OBJECTS_LEFT_OUT)

    def __call__(self, errors: Sequence[UnreadableObjectError]) -> None:
        """Report the objects of one answer; each error says which one, and why."""
        if errors:
            others = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
            line = f"left out what Evenkeel cannot read: {errors[0]}{others}"
            self._report(line, len(errors))
