"""What lists select, and how they are read."""

import pytest

from evenkeel.errors import ClusterError
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.meta import Metadata
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
from tests.contract.ground import Ground
from tests.contract.manifests import config_map, pod
from tests.kit.manifests import resource

LABELLED = {
    "one": {"app": "web", "tier": "front"},
    "two": {"app": "web", "tier": "back"},
    "three": {"app": "db", "tier": "back", "canary": ""},
    "four": {},
}


def add_labelled(ground: Ground) -> None:
    for name, own in LABELLED.items():
        ground.apply(resource("ConfigMap", name, labels=own))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("", {"one", "two", "three", "four"}),
        ("app=web", {"one", "two"}),
        ("app==web,tier=back", {"two"}),
        ("app!=web", {"three", "four"}),
        ("app in (web, db),tier notin (front)", {"two", "three"}),
        ("canary", {"three"}),
        ("!canary", {"one", "two", "four"}),
        ("app,!canary", {"one", "two"}),
        ("canary=", {"three"}),
        ("app in (absent)", set()),
    ],
)
def test_a_label_selector_selects(ground: Ground, labels: str, expected: set[str]) -> None:
    add_labelled(ground)
    found = {c.name for c in ground.list(ConfigMap, labels)} - {"kube-root-ca.crt"}
    assert found == expected


def test_of_each_object_only_that_is_read_which_is_kept(ground: Ground) -> None:
    add_labelled(ground)

    def bare(item: ConfigMap) -> ConfigMap | None:
        kept = ConfigMap(metadata=Metadata(name=item.name))
        return kept if "app" in item.metadata.labels else None

    listing = ground.ask(List(Selection(ConfigMap, ground.namespace), kept=bare))
    assert {item.name for item in listing.items} == {"one", "two", "three"}
    assert all(item.metadata.labels == {} for item in listing.items)


def test_a_selector_is_refused_when_it_makes_no_sense(ground: Ground) -> None:
    for selection in (
        Selection(Pod, ground.namespace, labels="a in b"),
        Selection(Pod, ground.namespace, fields="spec.absent=x"),
    ):
        assert isinstance(ground.refused(List(selection)), ClusterError)


def test_a_field_selector_selects_by_name_node_and_phase(ground: Ground) -> None:
    name = ground.add_node("n")
    ground.apply(pod("bound"), pod("waits", nodeSelector={"example.org/none": "x"}))
    ground.eventually(lambda: ground.get(Pod, "bound").ready)
    for fields, expected in (
        (f"spec.nodeName={name}", ["bound"]),
        ("spec.nodeName=", ["waits"]),
        (f"spec.nodeName!={name}", ["waits"]),
        ("status.phase=Running", ["bound"]),
        (f"metadata.name=waits,metadata.namespace={ground.namespace}", ["waits"]),
    ):
        assert [p.name for p in ground.list(Pod, fields=fields)] == expected, fields


def test_a_list_is_sorted_by_name_and_cut_when_a_limit_is_set(ground: Ground) -> None:
    for name in ("c", "a", "b"):
        ground.apply(config_map(name))
    selection = Selection(ConfigMap, ground.namespace, fields="metadata.name!=kube-root-ca.crt")
    everything = ground.ask(List(selection))
    assert [c.name for c in everything.items] == ["a", "b", "c"]
    assert [c.name for c in ground.ask(List(selection, limit=2)).items] == ["a", "b"]


def test_a_limited_list_goes_on_until_it_holds_something_that_is_kept(ground: Ground) -> None:
    for name in "abcdefg":
        ground.apply(config_map(name, mode="act" if name in "ef" else "observe"))
    selection = Selection(ConfigMap, ground.namespace, fields="metadata.name!=kube-root-ca.crt")

    def keeping(mode: str, limit: int) -> list[str]:
        def kept(item: ConfigMap) -> ConfigMap | None:
            return item if item.data["mode"] == mode else None

        return [c.name for c in ground.ask(List(selection, limit=limit, kept=kept)).items]

    assert keeping("act", 2) == ["e", "f"]
    assert keeping("act", 5) == ["e"]  # the end of a page that held something
    assert keeping("observe", 2) == ["a", "b"]
    assert keeping("none", 2) == []


def test_a_list_of_metadata_brings_no_data(ground: Ground) -> None:
    ground.apply(config_map("settings", mode="act"))
    selection = Selection(ConfigMap, ground.namespace, fields="metadata.name=settings")
    found = ground.ask(List(selection, metadata_only=True)).items[0]
    assert found.metadata == ground.get(ConfigMap, "settings").metadata
    assert found.data == {}


def test_a_fresh_list_sees_a_write_at_once_and_the_cache_soon(ground: Ground) -> None:
    for turn in range(5):
        ground.apply(config_map("settings", turn=str(turn)))
        selection = Selection(ConfigMap, ground.namespace, fields="metadata.name=settings")
        assert ground.ask(List(selection)).items[0].data == {"turn": str(turn)}

        def in_cache(selection: Selection[ConfigMap] = selection, turn: int = turn) -> bool:
            items = ground.ask(List(selection, fresh=False)).items
            return bool(items) and items[0].data == {"turn": str(turn)}

        ground.eventually(in_cache, seconds=5)
