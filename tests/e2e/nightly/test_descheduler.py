"""The real descheduler, beside pods that Evenkeel placed where their preference cannot be kept."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from evenkeel.model import names
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.restoring import all_ready
from tests.e2e.placement.webhook import Ground, on_demand
from tests.kit.drainers import binaries
from tests.kit.manifests import Manifest

pytestmark = [pytest.mark.controlplane, pytest.mark.nightly]

PLUGIN: Final = "RemovePodsViolatingNodeAffinity"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
NOT_PLACED: Final = {"matchExpressions": [{"key": names.CAPACITY, "operator": "DoesNotExist"}]}
"""Selects the pods that Evenkeel did not place."""
RUNS: Final = 3
LONGEST: Final = 120
TIMES: Final[Mapping[str, Any]] = {"start": "200ms", "stop": "200ms"}


def descheduled(ground: Ground, *types: str, **arguments: Manifest) -> Sequence[str]:
    """Run the descheduler once; the names of the pods that it evicted.

    ``types``: of affinity that it looks at. ``arguments`` are further ones of its plugin.
    """
    configs = [
        {"name": PLUGIN, "args": {"nodeAffinityType": [*types], **arguments}},
        {"name": "DefaultEvictor", "args": {}},
    ]
    enabled = {"deschedule": {"enabled": [PLUGIN]}}
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [{"name": "affinity", "pluginConfig": configs, "plugins": enabled}],
    }
    file = ground.folder / "policy.json"
    file.write_text(json.dumps(policy))
    done = subprocess.run(
        [
            *(binaries() / "descheduler", f"--kubeconfig={ground.control_plane.kubeconfig}"),
            *(f"--policy-config-file={file}", "--descheduling-interval=0"),
            *("--secure-port=0", "--v=1"),
        ],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = re.findall(rf'"Evicted pod".*pod="{ground.namespace}/([^"]+)"', done.stderr)
    (total,) = re.findall(r'"Number of evictions/requests" totalEvicted=(\d+)', done.stderr)
    assert len(found) == int(total), done.stderr
    return found


@pytest.mark.parametrize("placed_by", ["webhook", "policy"])
def test_pods_that_prefer_spot_while_it_is_full_go_to_and_fro_unless_they_are_left_out(
    ground: Ground, placed_by: str
) -> None:
    plane = ground.control_plane
    plane.add_node(f"{ground.namespace}-spot-0", spot=True, pods=2)
    plane.add_node(f"{ground.namespace}-demand-0")
    if placed_by == "webhook":
        ground.serve()
    else:
        ground.police()
    web = deployment("web", 4, **TIMES)
    web["spec"]["template"]["metadata"]["annotations"][names.ON_DEMAND] = "none"
    ground.apply(web)
    for _ in range(RUNS):
        away = named(on_demand(all_ready(ground, 4)))
        assert len(away) == 2
        assert {*descheduled(ground, PREFERRED)} == away
    away = named(on_demand(all_ready(ground, 4)))
    assert descheduled(ground, REQUIRED) == []
    assert descheduled(ground, PREFERRED, labelSelector=NOT_PLACED) == []

    plane.add_node(f"{ground.namespace}-spot-1", spot=True)
    assert {*descheduled(ground, PREFERRED)} == away
    assert on_demand(all_ready(ground, 4)) == []
    assert descheduled(ground, PREFERRED) == []


def test_an_ordinal_of_a_default_floor_that_on_demand_has_no_room_for_goes_at_each_run(
    ground: Ground,
) -> None:
    plane = ground.control_plane
    plane.add_node(f"{ground.namespace}-spot-0", spot=True)
    plane.add_node(f"{ground.namespace}-demand-0", pods=1)
    ground.police()
    ground.apply(stateful_set("db", 3, **TIMES))
    for _ in range(RUNS):
        assert named(on_demand(all_ready(ground, 3))) == {"db-0"}
        assert descheduled(ground, PREFERRED) == ["db-1"]
    all_ready(ground, 3)
    assert descheduled(ground, PREFERRED, labelSelector=NOT_PLACED) == []


def named(pods: Sequence[Manifest]) -> set[str]:
    """The pods' names."""
    return {pod["metadata"]["name"] for pod in pods}
