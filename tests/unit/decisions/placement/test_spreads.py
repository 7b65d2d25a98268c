"""What a workload's spreads lack, to stay as even as their owner wants them."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.placement.spreads import is_upset, soft_operations, spread_operations
from evenkeel.model.affinity import TopologySpread
from evenkeel.model.meta import LabelSelector, LabelSelectorRequirement
from tests.unit.decisions.placement.pods import Document, document, patched, read, required

WEB = LabelSelector(match_labels={"app": "web"})
HASH = {"pod-template-hash": "1"}
OF_WEB = {"matchLabels": {"app": "web"}}
EVERY = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
BY_HASH = {"matchLabelKeys": ["pod-template-hash"]}
HONORED = {"nodeTaintsPolicy": "Honor"}
IGNORED = {"nodeTaintsPolicy": "Ignore"}


def spread(**fields: Any) -> Document:
    return {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": OF_WEB,
        **fields,
    }


def placed(*spreads: Document, labels: dict[str, str] | None = None) -> list[Document]:
    """The spreads of a new pod as they are stored."""
    pod = document(labels=labels, topologySpreadConstraints=list(spreads))
    made = patched(pod, list(spread_operations(read(pod), WEB)))
    found: list[Document] = made["spec"]["topologySpreadConstraints"]
    return found


@pytest.mark.parametrize(
    ("own", "added", "upset"),
    [
        pytest.param({}, HONORED | BY_HASH, True, id="it says nothing"),
        pytest.param({"matchLabelKeys": []}, HONORED | BY_HASH, True, id="it names no key"),
        pytest.param(
            {"matchLabelKeys": ["revision"]},
            HONORED | {"matchLabelKeys": ["revision", "pod-template-hash"]},
            True,
            id="another key is its owner's",
        ),
        pytest.param(BY_HASH, HONORED, False, id="it goes by the hash"),
        pytest.param(
            {"labelSelector": {"matchLabels": {"app": "web"} | HASH}},
            HONORED,
            False,
            id="it selects by the hash",
        ),
        pytest.param(HONORED, BY_HASH, False, id="taints are honored"),
        pytest.param(IGNORED, BY_HASH, True, id="its owner has taints ignored"),
        pytest.param(
            {"labelSelector": EVERY}, HONORED, True, id="it counts pods of other workloads"
        ),
        pytest.param(
            IGNORED | {"labelSelector": EVERY}, {}, False, id="both are its owner's business"
        ),
        pytest.param({"labelSelector": None}, {}, False, id="it counts no pod"),
        pytest.param(
            {"labelSelector": OF_WEB | EVERY},
            HONORED | BY_HASH,
            True,
            id="it counts some of its workload's pods",
        ),
        pytest.param({"whenUnsatisfiable": "ScheduleAnyway"}, {}, False, id="it is soft"),
        pytest.param({"minDomains": 2}, {}, False, id="it wants several domains"),
        pytest.param({"minDomains": 1}, HONORED | BY_HASH, True, id="it wants one domain"),
    ],
)
def test_a_spread_gets_what_it_lacks_and_keeps_what_its_owner_says(
    own: Document, added: Document, *, upset: bool
) -> None:
    constraint = spread(**own)
    (found,) = placed(constraint, labels=HASH)
    assert found == constraint | added
    assert is_upset(msgspec.convert(constraint, TopologySpread), WEB) is upset


def test_each_of_several_is_looked_at_and_once() -> None:
    soft = spread(whenUnsatisfiable="ScheduleAnyway")
    again = placed(*placed(soft, spread(), labels=HASH), labels=HASH)
    assert again == [soft, spread() | HONORED | BY_HASH]


@pytest.mark.parametrize("labels", [None, {"app": "web"}])
def test_a_pod_without_a_template_hash_is_left(labels: dict[str, str] | None) -> None:
    assert placed(spread(), labels=labels) == [spread()]


def test_a_workload_that_selects_by_expressions_is_told_by_them() -> None:
    clause = LabelSelectorRequirement(key="app", operator="Exists")
    constraint = msgspec.convert(spread(labelSelector=EVERY, **IGNORED), TopologySpread)
    assert is_upset(constraint, LabelSelector(match_expressions=(clause,)))


SOFT = {"whenUnsatisfiable": "ScheduleAnyway"}
WIDE = {"nodeAffinityPolicy": "Ignore"}
ARM = {"kubernetes.io/arch": "arm64"}
CLAUSE = {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}


@pytest.mark.parametrize(
    ("own", "rules", "added"),
    [
        pytest.param(SOFT, {}, WIDE, id="it is soft"),
        pytest.param({}, {}, {}, id="it is hard"),
        pytest.param(SOFT | {"nodeAffinityPolicy": "Honor"}, {}, {}, id="its owner says it"),
        pytest.param(SOFT, {"nodeSelector": ARM}, {}, id="it has a node selector"),
        pytest.param(
            SOFT,
            {"affinity": required({"matchExpressions": [CLAUSE]})},
            {},
            id="it has node affinity",
        ),
    ],
)
def test_a_soft_spread_of_a_pod_of_one_capacity_type_counts_both(
    own: Document, rules: Document, added: Document
) -> None:
    pod = document(topologySpreadConstraints=[spread(**own)], **rules)
    (found,) = patched(pod, list(soft_operations(read(pod))))["spec"]["topologySpreadConstraints"]
    assert found == spread(**own) | added


def test_a_pod_without_a_spread_gets_none() -> None:
    assert list(soft_operations(read(document()))) == []
