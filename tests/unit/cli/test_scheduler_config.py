"""``evenkeel scheduler-config``, and manifests/scheduler."""

from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from evenkeel.decisions.placement import clauses
from evenkeel.model import names
from evenkeel.model.affinity import NodeAffinity
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel_cli import schedulers
from evenkeel_extender.store import SELECTIONS
from tests.kit.control_plane import ROOT
from tests.unit.cli.running import URL, run

FOLDER = ROOT / "manifests" / "scheduler"
OF_KUBERNETES = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}
"""The weights of the plugins that score by default, Kubernetes 1.36."""
SPREADING = (
    "PodTopologySpread",
    "NodeResourcesFit",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
)


def printed(*arguments: str) -> dict[str, Any]:
    done = run("scheduler-config", *arguments)
    assert done.exit_code == 0
    assert "&id" not in done.stdout
    found: dict[str, Any] = yaml.safe_load(done.stdout)
    return found


def affinity_of(config: dict[str, Any]) -> NodeAffinity:
    (profile,) = config["profiles"]
    (plugin,) = profile["pluginConfig"]
    return msgspec.convert(plugin["args"]["addedAffinity"], NodeAffinity)


def test_the_profile_of_the_manifests_is_what_the_command_prints() -> None:
    kept = yaml.safe_load((FOLDER / "profile" / "config.yaml").read_text())
    assert kept == printed()
    assert "extenders" not in kept


def test_the_profile_prefers_what_the_webhook_prefers() -> None:
    found = affinity_of(printed())
    named = msgspec.structs.replace(WELL_KNOWN, names_interruptible=True)
    lighter = [msgspec.structs.replace(e, weight=24) for e in clauses.rather_spot(named)]
    assert found == NodeAffinity(preferred=tuple(lighter))


@pytest.mark.parametrize("number", [1, 5, 60])
def test_a_pods_own_preference_for_on_demand_weighs_more_than_the_profiles_for_spot(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    keys = [f"example.com/capacity-{each}" for each in range(number)]
    monkeypatch.setenv("EVENKEEL_CAPACITY_LABELS", ",".join(keys))
    weights = [term.weight for term in affinity_of(printed()).preferred or ()]
    (own,) = clauses.rather_on_demand(WELL_KNOWN)
    assert 0 < sum(weights) < own.weight
    assert min(weights) >= 1


def test_the_profile_goes_by_the_labels_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENKEEL_CAPACITY_LABELS", "example.com/capacity")
    found = affinity_of(printed())
    assert found.preferred is not None
    terms = [term.preference.match_expressions or () for term in found.preferred]
    keys = [[clause.key for clause in term] for term in terms]
    assert keys == [["example.com/capacity"], [names.INTERRUPTIBLE]]


def test_preferring_spot_weighs_more_than_what_spreads_and_a_step_more_than_all() -> None:
    spreading = sum(OF_KUBERNETES[each] for each in SPREADING)
    assert spreading < schedulers.PREFERENCE
    most = 100 * sum({**OF_KUBERNETES, "NodeAffinity": schedulers.PREFERENCE}.values())
    assert most < 10 * schedulers.STEP


def test_with_a_url_the_extender_is_asked_and_may_be_missing(authority: Path) -> None:
    found = printed("--url", URL, "--certificate-authority", str(authority))
    (extender,) = found.pop("extenders")
    assert found == printed()
    assert extender.pop("urlPrefix") == URL
    assert b64decode(extender.pop("tlsConfig")["caData"]) == authority.read_bytes()
    assert extender == {
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": schedulers.STEP,
        "httpTimeout": "1s",
        "nodeCacheCapable": True,
        "ignorable": True,
        "enableHTTPS": True,
    }


def test_an_authority_without_a_url_is_refused(authority: Path) -> None:
    done = run("scheduler-config", "--certificate-authority", str(authority))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--certificate-authority goes with --url" in done.stderr


def test_the_extender_may_watch_what_it_watches_and_no_more() -> None:
    documents = list(yaml.safe_load_all((FOLDER / "extender" / "access.yaml").read_text()))
    rules = [rule for each in documents for rule in each.get("rules", ())]
    assert all(rule["verbs"] == ["list", "watch"] for rule in rules)
    allowed = {
        (group, resource)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    kinds = [selection.kind.resource for selection in SELECTIONS]
    assert allowed == {(kind.group, kind.plural) for kind in kinds}
    assert _names(rules, "configmaps") == ["evenkeel-paused"]


def _names(rules: Sequence[dict[str, Any]], resource: str) -> list[str]:
    (rule,) = [each for each in rules if resource in each["resources"]]
    return list(rule["resourceNames"])
