"""What an API server answers where etcd has gone back: the watches of clients are ahead of it."""

import pytest

from tests.kit.control_plane import ControlPlane
from tests.kit.manifests import resource

pytestmark = pytest.mark.controlplane


@pytest.mark.parametrize("ahead", [0, 1_000], ids=["from now", "from what is yet to come"])
def test_a_watch_shows_nothing_up_to_the_version_that_it_was_asked_for(
    control_plane: ControlPlane, namespace: str, ahead: int
) -> None:
    """Nor does it say that anything is wrong.

    https://github.com/kubernetes/kubernetes/issues/107457
    """
    path = f"api/v1/namespaces/{namespace}/configmaps"
    version = int(control_plane.request("GET", path)["metadata"]["resourceVersion"]) + ahead
    query = f"watch=1&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds=3"
    with control_plane.stream(f"{path}?{query}") as response:
        control_plane.apply(resource("ConfigMap", "made", namespace))
        shown = response.read()
    assert (b'"made"' in shown) is (ahead == 0)
    assert (shown == b"") is (ahead > 0)
