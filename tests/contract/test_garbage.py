"""What becomes of objects whose owners go; pods whose nodes go are in test_lost_nodes.py."""

from typing import Any

from evenkeel.model.cluster_objects import ConfigMap
from tests.contract.ground import Ground
from tests.contract.manifests import config_map


def owned_by(ground: Ground, *owners: str) -> dict[str, Any]:
    """A patch that makes ConfigMaps of these names the owners."""
    references = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": name,
            "uid": ground.get(ConfigMap, name).uid,
        }
        for name in owners
    ]
    return {"metadata": {"ownerReferences": references}}


def names(ground: Ground) -> set[str]:
    return {c.name for c in ground.list(ConfigMap)} - {"kube-root-ca.crt"}


def test_an_object_goes_with_its_only_owner(ground: Ground) -> None:
    ground.apply(config_map("owner"), config_map("owned"), config_map("free"))
    ground.patch(ConfigMap, "owned", owned_by(ground, "owner"))
    ground.delete(ground.get(ConfigMap, "owner"))
    ground.eventually(lambda: names(ground) == {"free"})


def test_an_object_stays_while_another_owner_is_there(ground: Ground) -> None:
    ground.apply(config_map("one"), config_map("two"), config_map("owned"))
    ground.patch(ConfigMap, "owned", owned_by(ground, "one", "two"))
    ground.delete(ground.get(ConfigMap, "one"))

    def owners() -> list[str]:
        return [o.name for o in ground.get(ConfigMap, "owned").metadata.owner_references]

    ground.eventually(lambda: owners() == ["two"])
    ground.delete(ground.get(ConfigMap, "two"))
    ground.eventually(lambda: not names(ground))


def test_an_object_whose_owner_never_was_goes_too(ground: Ground) -> None:
    ground.apply(config_map("owner"), config_map("owned"))
    late = owned_by(ground, "owner")
    ground.delete(ground.get(ConfigMap, "owner"))
    ground.patch(ConfigMap, "owned", late)
    ground.eventually(lambda: not names(ground))
