"""Several Recorders as one."""

from evenkeel.model.decision import Decision
from evenkeel.model.metrics import Metric
from evenkeel.model.pod_count import PodCount
from evenkeel.ports import Recorder


class Tee:
    """A Recorder that hands all on to several others, in the order in which they were given."""

    def __init__(self, *recorders: Recorder) -> None:
        self._recorders = recorders

    def decided(self, decision: Decision) -> None:
        """Hand on a decision."""
        for recorder in self._recorders:
            recorder.decided(decision)

    def counted_pods(self, count: PodCount) -> None:
        """Hand on how many pods of a workload are available."""
        for recorder in self._recorders:
            recorder.counted_pods(count)

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Hand on a count."""
        for recorder in self._recorders:
            recorder.counted(metric, value)

    def noted(self, message: str, **details: object) -> None:
        """Hand on a note."""
        for recorder in self._recorders:
            recorder.noted(message, **details)

    def flush(self) -> None:
        """Flush each."""
        for recorder in self._recorders:
            recorder.flush()
