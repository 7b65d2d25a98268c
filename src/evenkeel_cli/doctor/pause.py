"""The pause: while it is in force nothing is touched."""

from evenkeel.ports import Cluster
from evenkeel_cli import pausing
from evenkeel_cli.doctor.findings import Finding, broken, fine
from evenkeel_cli.pausing import Pause
from evenkeel_cli.program import NAME

LINK = "pause"


def look(cluster: Cluster) -> Finding:
    """Read it and judge. Raises ClusterError."""
    return judge(pausing.find(cluster))


def judge(pause: Pause | None) -> Finding:
    """Whether Evenkeel may act."""
    if pause is None:
        return fine(LINK, "Evenkeel is not paused")
    return broken(LINK, f"Evenkeel is {pause}", f"{NAME} resume --apply")
