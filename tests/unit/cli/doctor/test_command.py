"""The command on an API server that answers from memory: what it asks, what hides, what it says."""

import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from evenkeel.model.times import to_micro_time
from evenkeel_cli.doctor import rights
from evenkeel_cli.install import certificate
from evenkeel_runtime.serve.certificate import SERIES
from tests.kit.api_server import (
    Step,
    answer,
    hang,
    refusal,
    serving,
)
from tests.kit.certificates import Authority
from tests.unit.cli.doctor.scripted import HOOKS, Api, items, kubeconfig
from tests.unit.cli.running import run

METRICS = """\
apiserver_admission_webhook_fail_open_count{name="gate.evenkeel.dev",type="validating"} 2
apiserver_admission_webhook_admission_duration_seconds_count{name="gate.evenkeel.dev"} 9
"""


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as server:
        yield Api(server)


def doctor(api: Api, folder: Path, *arguments: str) -> Result:
    return run("doctor", "--kubeconfig", kubeconfig(api, folder), *arguments)


def found(api: Api, folder: Path) -> dict[str, dict[str, Any]]:
    done = doctor(api, folder, "-o", "json")
    findings = {each["link"]: each for each in json.loads(done.stdout)["items"]}
    is_broken = any(each["verdict"] == "broken" for each in findings.values())
    assert done.exit_code == int(is_broken)
    for each in findings.values():
        assert each["remedy"] or each["verdict"] not in ("broken", "unknown"), each
    return findings


def verdicts(api: Api, folder: Path, *, but: str = "fine") -> dict[str, str]:
    every = found(api, folder).items()
    return {link: each["verdict"] for link, each in every if each["verdict"] != but}


NOT_LOOKED = {
    "AWS": "not looked at",
    "webhook certificate": "not looked at",
    "spot nodes in EC2": "not looked at",
    "clock of the reconciler": "not looked at",
}


def test_a_cluster_in_which_all_holds_has_nothing_broken(api: Api, tmp_path: Path) -> None:
    assert verdicts(api, tmp_path) == NOT_LOOKED
    done = doctor(api, tmp_path)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith("None of 23 links is broken. 4 were not looked at.\n")


def test_nothing_is_written_but_in_dry_runs(api: Api, tmp_path: Path) -> None:
    doctor(api, tmp_path)
    writes = [each for each in api.server.seen if each.method != "GET"]
    reviews = [each for each in writes if each.path.endswith("/subjectaccessreviews")]
    others = [each for each in writes if each not in reviews]
    wanted = rights.granted(rights.in_manifests("rbac", "gate"))
    asked = {subject: each for subject, each in wanted.items() if subject.kind == "Group"}
    assert len(reviews) == sum(map(len, asked.values()))
    assert [each.path for each in others] == [
        "/api/v1/namespaces/shop/pods",
        "/api/v1/namespaces/shop/pods/web-1/eviction",
    ]
    assert all(each.query["dryRun"] == "All" for each in others)


def test_a_pause_and_a_missing_right_are_broken_links(api: Api, tmp_path: Path) -> None:
    api.refused.add("patch nodes")
    api.answers["/configmaps/evenkeel-paused"] = answer(
        200, {"metadata": {"name": "x"}, "data": {}}
    )
    assert verdicts(api, tmp_path) == NOT_LOOKED | {
        "pause": "broken",
        "rights of interruption": "broken",
        "rights of handover": "broken",
    }


def test_seats_without_their_right_or_their_priority_are_broken(api: Api, tmp_path: Path) -> None:
    api.refused.add("create pods")
    api.answers[f"priorityclasses/{names.SEAT_CLASS}"] = refusal(404, "NotFound")
    broken = {"rights of handover": "broken", "seats": "broken"}
    told = {link: each for link, each in found(api, tmp_path).items() if link in broken}
    assert {link: each["verdict"] for link, each in told.items()} == broken
    assert "create pods in evenkeel-system" in told["rights of handover"]["reason"]
    assert all("apply manifests/ again" in each["remedy"] for each in told.values())


def test_a_cluster_without_evenkeel_is_told_so_once(api: Api, tmp_path: Path) -> None:
    for path in (*HOOKS, *(f"clusterroles/{role}" for role in rights.ROLES)):
        api.answers[path] = refusal(404, "NotFound")
    assert verdicts(api, tmp_path)["installation"] == "broken"
    printed = doctor(api, tmp_path).stdout
    assert printed.splitlines()[1].split()[:2] == ["installation", "no"]
    assert printed.count("is not installed") == 1
    assert "rights of" not in printed
    assert "1 of 13 links is broken: installation." in printed


def test_poll_that_runs_with_rights_of_its_own_is_known(api: Api, tmp_path: Path) -> None:
    for path in (*HOOKS, *(f"clusterroles/{role}" for role in rights.ROLES)):
        api.answers[path] = refusal(404, "NotFound")
    note = {names.SCHEDULED_AT: to_micro_time(SystemClock().now())}
    lease = {"metadata": {"name": names.HANDOVER_LEASE, "annotations": note}, "spec": {}}
    api.answers[f"/leases/{names.HANDOVER_LEASE}"] = answer(200, lease)
    installation = found(api, tmp_path)["installation"]
    assert installation["verdict"] == "fine"
    assert (
        installation["reason"]
        == "without the roles of the manifests there is evenkeel poll at work"
    )


RESPONDER = "clusterroles/evenkeel-responder"
SERVED = "/apis/lifecycle.k8s.io/v1alpha1"


def test_the_responder_needs_its_rights_and_the_api(api: Api, tmp_path: Path) -> None:
    api.answers[RESPONDER] = answer(200, {"metadata": {}})
    api.refused.add("patch evictions")
    unmet = NOT_LOOKED | {"rights of placement": "broken", "EvictionRequests": "not looked at"}
    assert verdicts(api, tmp_path) == unmet
    api.refused.clear()
    api.answers[SERVED] = answer(200, {})
    path = "/namespaces/evenkeel-system/pods"
    for arguments, verdict in (
        (["--port=8443"], "unknown"),
        (["--responder", "--dry-run"], "unknown"),
        (["--responder"], "fine"),
    ):
        pod = {"spec": {"containers": [{"args": arguments}]}}
        api.answers[path] = answer(200, {"items": [pod]})
        assert found(api, tmp_path)["EvictionRequests"]["verdict"] == verdict


SERVICE = {"namespace": "evenkeel-system", "name": "evenkeel-serve"}


def test_the_webhook_in_the_cluster_is_asked_for_as_its_account(api: Api, tmp_path: Path) -> None:
    api.service = SERVICE
    every = found(api, tmp_path)
    assert every["rights of evenkeel-serve"]["verdict"] == "fine"


METRICS_OF_SERVE = "/services/evenkeel-serve:metrics/proxy/metrics"


def told(ends: datetime) -> Step:
    """What a process of the webhook tells of its certificate."""
    line = f'{SERIES}{{cluster="prod"}} {ends.timestamp()}'
    return answer(200, f"# HELP {SERIES} ...\n{line}\nother 1\n".encode())


@pytest.mark.parametrize(
    ("vouching", "served", "verdict"),
    [(9, 8, "fine"), (9, 6, "broken"), (6, 9, "broken"), (None, 8, "fine"), (None, 6, "broken")],
)
def test_of_the_webhook_in_the_cluster_what_it_serves_and_the_ca_bundle_have_to_last(
    vouching: int | None, served: int, verdict: str, api: Api, tmp_path: Path
) -> None:
    host, now = "evenkeel-serve.evenkeel-system.svc", SystemClock().now()
    api.service = SERVICE
    if vouching is not None:
        made_at = now + timedelta(days=vouching) - certificate.LASTS
        bundle = certificate.made(host, made_at).certificate
        api.bundle = b64encode(bundle.encode()).decode()
    api.answers[METRICS_OF_SERVE] = told(now + timedelta(days=served))
    finding = found(api, tmp_path)["webhook certificate"]
    assert finding["verdict"] == verdict
    end = now + timedelta(days=min(served, vouching or served))
    assert f"{host} " in finding["reason"]
    assert f"{end:%Y-%m-%d}" in finding["reason"]


DENIED = refusal(403, "Forbidden", "you may not")
UNTOLD = answer(200, b"other 1\n")


@pytest.mark.parametrize(
    ("answered", "said"), [(UNTOLD, "does not tell when"), (DENIED, "you may not")]
)
@pytest.mark.parametrize(("vouching", "verdict"), [(9, "not looked at"), (6, "broken")])
def test_a_ca_bundle_that_lasts_says_nothing_of_what_is_served(
    answered: Step, said: str, vouching: int, verdict: str, api: Api, tmp_path: Path
) -> None:
    api.service, api.answers[METRICS_OF_SERVE] = SERVICE, answered
    end = SystemClock().now() + timedelta(days=vouching)
    bundle = certificate.made("any", end - certificate.LASTS).certificate
    api.bundle = b64encode(bundle.encode()).decode()
    finding = found(api, tmp_path)["webhook certificate"]
    assert finding["verdict"] == verdict
    assert (said if verdict != "broken" else f"ends on {end:%Y-%m-%d}") in finding["reason"]


def test_a_ca_bundle_that_says_nothing_is_told(api: Api, tmp_path: Path) -> None:
    api.service, api.bundle = SERVICE, "bm9uZQ=="
    finding = found(api, tmp_path)["webhook certificate"]
    assert (finding["verdict"], "no certificate" in finding["reason"]) == ("broken", True)


@pytest.mark.parametrize(
    ("path", "links"),
    [
        ("/configmaps/evenkeel-paused", {"pause"}),
        ("/subjectaccessreviews", {"rights"}),
        ("/clusterroles/evenkeel-restore", {"installation"}),
        ("configurations/evenkeel", {"placement webhook"}),
        ("configurations/evenkeel-gate", {"eviction gate"}),
        ("/replicasets", {"placement webhook", "headroom"}),
        ("/eviction", {"eviction gate"}),
        ("/metrics", {"answers of webhooks"}),
        ("/v1/nodes", {"capacity labels", "other drainers", "headroom"}),
        ("/api/v1/pods", {"other drainers", "headroom"}),
        ("/leases/evenkeel-handover", {"clocks"}),
    ],
)
def test_what_a_missing_right_hides_is_unknown(
    path: str, links: set[str], api: Api, tmp_path: Path
) -> None:
    api.answers[path] = DENIED
    every = found(api, tmp_path)
    hidden = {link: each for link, each in every.items() if each["verdict"] == "unknown"}
    assert set(hidden) == links
    for each in hidden.values():
        assert "you may not" in each["reason"]
        assert "docs/troubleshoot.md" in each["remedy"]


def test_a_server_that_does_not_answer_is_broken_and_the_rest_is_left(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenkeel_cli.commands.doctor.BUDGET", timedelta(seconds=1))
    api.answers["/version"] = answer(500, {"message": "etcd is away"})
    assert verdicts(api, tmp_path) == {"AWS": "not looked at", "API server": "broken"}


def test_a_server_that_lets_nobody_in_is_unknown(api: Api, tmp_path: Path) -> None:
    api.answers["/version"] = refusal(401, "Unauthorized")
    assert verdicts(api, tmp_path) == {"AWS": "not looked at", "API server": "unknown"}


def test_a_link_that_hangs_holds_up_no_other(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenkeel_cli.commands.doctor.BUDGET", timedelta(seconds=2))
    api.answers["/metrics"] = hang
    assert verdicts(api, tmp_path) == NOT_LOOKED | {"answers of webhooks": "unknown"}


def test_pods_that_pass_unasked_and_reviews_without_an_answer_are_broken(
    api: Api, tmp_path: Path
) -> None:
    api.answers["/namespaces/shop/pods"] = lambda handler: (
        answer(201, {}) if handler.command == "POST" else answer(200, items("Pod"))
    )(handler)
    api.answers["/metrics"] = answer(200, METRICS.encode())
    assert verdicts(api, tmp_path) == NOT_LOOKED | {
        "placement webhook": "broken",
        "eviction gate": "not looked at",
        "answers of gate": "broken",
    }


def test_a_deferred_eviction_is_an_answer_of_the_gate_and_a_budgets_is_none(
    api: Api, tmp_path: Path
) -> None:
    cause = {"reason": "DisruptionBudget", "message": "it waits"}
    message = 'admission webhook "gate.evenkeel.dev" denied the request: it waits'
    api.answers["/eviction"] = refusal(429, "TooManyRequests", message, causes=[cause])
    assert verdicts(api, tmp_path) == NOT_LOOKED
    api.answers["/eviction"] = refusal(429, "TooManyRequests", "the budget", causes=[cause])
    assert verdicts(api, tmp_path) == NOT_LOOKED | {"eviction gate": "unknown"}


def test_without_webhooks_and_namespaces_there_is_nothing_to_look_at(
    api: Api, tmp_path: Path
) -> None:
    api.answers["/v1/namespaces"] = answer(200, items("Namespace"))
    every = found(api, tmp_path)
    assert every["eviction gate"]["reason"] == "it is for no namespace yet"
    assert every["placement webhook"]["remedy"].endswith("evenkeel.dev/managed=true")
    for path in HOOKS:
        api.answers[path] = refusal(404, "NotFound")
    every = found(api, tmp_path)
    assert "there is no Validating" in every["eviction gate"]["reason"]
    assert not any(link.startswith(("webhook cert", "answers")) for link in every)


@pytest.mark.parametrize("trusted", [True, False])
def test_the_certificate_is_verified_against_the_ca_bundle(
    trusted: bool,  # noqa: FBT001 - a table
    api: Api,
    tmp_path: Path,
) -> None:
    served, other = Authority(), Authority("other")
    with serving(served.server_context(tmp_path, "127.0.0.1")) as webhook:
        api.url = f"{webhook.url}/v1/token"
        bundle = (served if trusted else other).certificate
        api.bundle = b64encode(bundle.encode()).decode()
        finding = found(api, tmp_path)["webhook certificate"]
    assert finding["verdict"] == ("fine" if trusted else "broken")
    assert trusted or "does not vouch for 127.0.0.1" in finding["reason"]


def test_a_kubeconfig_that_is_named_tells_where_the_cluster_is(tmp_path: Path) -> None:
    done = run("doctor", "--cluster-name", "prod", "--kubeconfig", tmp_path / "absent")
    assert done.exit_code == 2
    assert "absent: there is no such file" in done.stderr


BINDING = items(
    "MutatingAdmissionPolicyBinding",
    {"name": names.PLACING},
    spec={"matchResources": {"namespaceSelector": {"matchLabels": {names.MANAGED: "true"}}}},
)
PLACED = {"metadata": {"annotations": {names.PLACED: '{"v":1,"as":"on-demand"}'}}}


@pytest.mark.parametrize(
    ("made", "verdict", "said"),
    [
        (PLACED, "fine", "a dry-run pod in shop that asks for on-demand is sent there"),
        ({}, "broken", "a dry-run pod in shop that asks for on-demand is left as it is"),
    ],
)
def test_a_policy_in_place_of_the_webhook_has_to_place_pods(
    api: Api, tmp_path: Path, made: dict[str, Any], verdict: str, said: str
) -> None:
    api.answers = {
        "mutatingwebhookconfigurations/evenkeel": refusal(404, "NotFound"),
        "mutatingadmissionpolicybindings": answer(200, BINDING),
        "namespaces/shop/pods": answer(201, made),
    }
    finding = found(api, tmp_path)["placement policy"]
    assert (finding["verdict"], finding["reason"]) == (verdict, said)


def test_a_policy_and_a_webhook_are_one_too_many(api: Api, tmp_path: Path) -> None:
    api.answers["mutatingadmissionpolicybindings"] = answer(200, BINDING)
    finding = found(api, tmp_path)["placement policy"]
    assert finding["verdict"] == "broken"
    assert "a webhook places pods, too" in finding["reason"]


def test_a_policy_for_no_namespace_is_told(api: Api, tmp_path: Path) -> None:
    spec = {"matchResources": {"namespaceSelector": {"matchLabels": {"team": "a"}}}}
    bound = items("MutatingAdmissionPolicyBinding", {"name": names.PLACING}, spec=spec)
    api.answers = {
        "mutatingwebhookconfigurations/evenkeel": refusal(404, "NotFound"),
        "mutatingadmissionpolicybindings": answer(200, bound),
    }
    assert found(api, tmp_path)["placement policy"]["verdict"] == "not looked at"


def test_an_api_server_without_policies_is_not_asked_for_them(api: Api, tmp_path: Path) -> None:
    api.answers["mutatingadmissionpolicybindings"] = refusal(404, "NotFound")
    assert "placement policy" not in found(api, tmp_path)


def configured(name: str, *rules: tuple[str, str, str]) -> dict[str, Any]:
    """A webhook configuration of these groups, operations and resources."""
    wire = [
        {"apiGroups": [group], "operations": [operation], "resources": [resource]}
        for group, operation, resource in rules
    ]
    hook = {"name": f"{name}.example.com", "clientConfig": {}, "rules": wire}
    return {"metadata": {"name": name}, "webhooks": [hook]}


def test_other_webhooks_on_evictions_and_deletions_of_pods_are_named(
    api: Api, tmp_path: Path
) -> None:
    mutating = [
        configured("evenkeel", ("", "CREATE", "pods")),
        configured("graceful", ("", "CREATE", "pods/eviction")),
        configured("kruise", ("", "DELETE", "pods"), ("", "CREATE", "pods/eviction")),
        configured("injector", ("", "CREATE", "pods")),
        configured("deleting", ("", "DELETE", "pods")),
    ]
    validating = [
        configured("evenkeel-gate", ("", "CREATE", "pods/eviction")),
        configured("all", ("*", "*", "*/*")),
        configured("apps", ("apps", "DELETE", "*")),
        configured("subresources", ("", "CREATE", "pods/*")),
        {"metadata": {"name": "empty"}, "webhooks": None},
    ]
    api.answers = {
        "/mutatingwebhookconfigurations": answer(200, {"items": mutating}),
        "/validatingwebhookconfigurations": answer(200, {"items": validating}),
    }
    every = json.loads(doctor(api, tmp_path, "-o", "json").stdout)["items"]
    told = [each for each in every if each["link"] == "other webhooks"]
    of_mutating, of_validating = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"
    both = "evictions and deletions of pods"
    assert [(each["verdict"], each["reason"]) for each in told] == [
        ("unknown", f"{of_mutating} graceful is asked about evictions, before the eviction gate"),
        ("unknown", f"{of_mutating} kruise is asked about {both}, before the eviction gate"),
        ("fine", f"{of_mutating} deleting is asked about deletions of pods"),
        ("fine", f"{of_validating} all is asked about {both}"),
        ("fine", f"{of_validating} subresources is asked about evictions"),
    ]


def test_a_cluster_without_other_webhooks_on_evictions_is_told_so(api: Api, tmp_path: Path) -> None:
    assert found(api, tmp_path)["other webhooks"]["verdict"] == "fine"


def test_a_gate_that_is_asked_before_other_mutating_webhooks_is_a_gate(
    api: Api, tmp_path: Path
) -> None:
    gate = configured("evenkeel-gate", ("", "CREATE", "pods/eviction"))
    gate["webhooks"][0]["namespaceSelector"] = {"matchLabels": {names.GATE: "true"}}
    api.answers = {
        "/validatingwebhookconfigurations/evenkeel-gate": refusal(404, "NotFound"),
        "/mutatingwebhookconfigurations/evenkeel-gate": answer(200, gate),
        "/mutatingwebhookconfigurations": answer(200, {"items": [gate]}),
    }
    told = found(api, tmp_path)
    assert told["eviction gate"]["verdict"] == "fine"
    assert told["other webhooks"]["verdict"] == "fine"
