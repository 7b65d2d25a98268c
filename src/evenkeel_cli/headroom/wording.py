"""What is said of headroom in one line: what there is, and what is needed."""

from collections.abc import Iterator

from evenkeel.decisions.restore.snapshot import Snapshot
from evenkeel.errors import ForbiddenError
from evenkeel.ports import Cluster
from evenkeel_cli import words
from evenkeel_cli.headroom import present, sizing
from evenkeel_cli.headroom.sizing import Need


def told(cluster: Cluster, snapshot: Snapshot) -> str:
    """The line; empty where there is no headroom and none is needed. Raises ClusterError."""
    needs = "; ".join(_needs(snapshot))
    try:
        found = " and ".join(map(str, present.find(cluster, snapshot)))
    except ForbiddenError as error:
        found = f"what there is cannot be seen ({error})"
    if not found and not needs:
        return ""
    return ". ".join(filter(None, [f"Headroom: {found or 'none is seen'}", needs])) + "."


def of_singles(need: Need) -> str:
    """What single replicas need."""
    return f"{words.counted(need.pods, 'single replica')} on spot, or free to go there, {need}"


def _needs(snapshot: Snapshot) -> Iterator[str]:
    if pool := sizing.of_largest_pool(snapshot):
        its, need = pool
        yield f"{words.counted(need.pods, 'pod')} of the largest spot pool ({its}) {need}"
    if (singles := sizing.of_singles(snapshot)).pods or singles.others:
        yield of_singles(singles)
