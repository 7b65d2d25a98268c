"""What a seat asks for: what the next pod in a pod's place will ask for."""

from typing import Any

import msgspec

from evenkeel.model import names
from evenkeel.model.meta import LabelSelector
from evenkeel.model.pod import Pod
from evenkeel.model.seat import controller_key, is_seat, new_seat
from tests.kit import builders

KEY = "default/set-uid"

APP = {"matchLabels": {"app": "db"}}


def pod(**spec: Any) -> Pod:
    return msgspec.convert(
        {"metadata": {"name": "db-0", "namespace": "default", "uid": "pod-uid"}, "spec": spec}, Pod
    )


def asked(of: Pod, zone: str = "") -> dict[str, Any]:
    """Its spec as the API server gets it."""
    sent: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(new_seat(of, KEY, zone)))
    return sent["spec"]  # type: ignore[no-any-return] # it is an object


def test_a_seat_says_whose_it_is() -> None:
    seat = new_seat(pod(), KEY).stored
    assert is_seat(seat)
    assert controller_key(seat) == KEY
    assert seat.metadata.labels == {names.SEAT: "pod-uid", names.SEAT_OF: "set-uid"}
    assert (seat.namespace, seat.name) == ("evenkeel-system", "seat-pod-uid")
    assert not is_seat(builders.pod(labels={names.SEAT: "x"})), "a tenant's"


def test_it_asks_for_as_much_as_all_containers_together() -> None:
    requests = {"cpu": "250m", "memory": "64Mi", "nvidia.com/gpu": "1"}
    of = pod(
        containers=[
            {"resources": {"requests": requests}},
            {"resources": {"requests": {"cpu": "1"}}},
        ]
    )
    (container,) = asked(of)["containers"]
    assert container["resources"] == {
        "requests": {"cpu": "1250m", "memory": str(64 * 2**20), "nvidia.com/gpu": "1"},
        "limits": {"nvidia.com/gpu": "1"},
    }


def test_it_has_the_rules_and_tolerations_of_the_pod() -> None:
    preferred = [
        {"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
    ]
    nodes = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    of = pod(
        nodeSelector={"disk": "fast"},
        affinity={"nodeAffinity": nodes},
        tolerations=[{"key": "gpu", "operator": "Exists"}],
        schedulerName="other",
    )
    spec = asked(of, "a")
    assert spec["nodeSelector"] == {"disk": "fast"}
    assert spec["affinity"] == {"nodeAffinity": nodes}
    assert spec["tolerations"] == [{"key": "gpu", "operator": "Exists"}]
    assert spec["schedulerName"] == "other"


ZONE_A = {"key": names.ZONE, "operator": "In", "values": ["a"]}


def required(spec: dict[str, Any]) -> Any:
    nodes = spec["affinity"].get("nodeAffinity", {})
    return nodes.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms")


def test_a_pod_with_a_volume_has_its_seat_in_its_zone() -> None:
    volumes = [{"persistentVolumeClaim": {"claimName": "data"}}]
    assert required(asked(pod(volumes=volumes), "a")) == [{"matchExpressions": [ZONE_A]}]
    assert required(asked(pod(volumes=volumes))) is None, "its zone is not known"
    arm = {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [arm]}]}
    own = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    assert required(asked(pod(volumes=volumes, affinity=own), "a")) == [
        {"matchExpressions": [arm, ZONE_A]}
    ]


def test_a_pod_that_is_spread_over_zones_has_it_there_too() -> None:
    spread = {"maxSkew": 1, "topologyKey": names.ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    assert required(asked(pod(topologySpreadConstraints=[spread]), "a"))
    for other in ({"topologyKey": names.HOSTNAME}, {"whenUnsatisfiable": "ScheduleAnyway"}):
        assert required(asked(pod(topologySpreadConstraints=[spread | other]), "a")) is None


def apart(key: str) -> dict[str, Any]:
    rule = {"topologyKey": key, "labelSelector": APP}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}


def test_it_keeps_off_the_nodes_of_its_peers_and_of_their_seats() -> None:
    rules = asked(pod(affinity=apart(names.HOSTNAME)), "a")["affinity"]["podAntiAffinity"]
    assert rules["requiredDuringSchedulingIgnoredDuringExecution"] == [
        {"topologyKey": names.HOSTNAME, "labelSelector": APP, "namespaces": ["default"]},
        {
            "topologyKey": names.HOSTNAME,
            "labelSelector": msgspec.to_builtins(
                LabelSelector(match_labels={names.SEAT_OF: "set-uid"})
            ),
        },
    ]


def test_the_pod_itself_keeps_it_out_of_no_zone() -> None:
    """It is gone by then. The next pod comes to the same zone."""
    spec = asked(pod(affinity=apart(names.ZONE)), "a")
    assert "podAntiAffinity" not in spec["affinity"]
    assert required(spec) == [{"matchExpressions": [ZONE_A]}]
