"""What nobody said stays as it is, and what does not fit together is refused before anything."""

from typing import Any

import pytest

from evenkeel.settings import Mode
from evenkeel_cli import manifests
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.doctor.check import broken, fine, unknown
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install import hooks, others, plan, serving
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.choices import Asked, Choices, Webhook, made
from evenkeel_cli.install.objects import named, title
from evenkeel_cli.install.policies import Policies
from evenkeel_cli.placement_policy import API, policy
from tests.kit.aws_clients import a_stack
from tests.stack.cloudformation import deployed, load
from tests.unit.cli.install.keeping import Account, Kept, a_site

BY_LAMBDA = {"PlacementUrl": "https://abc/v1/", "WebhookSecretArn": "arn"}
NEVER_MADE = a_stack() | {"StackStatus": "ROLLBACK_COMPLETE"}
HELD = ("evenkeel-departures", "evenkeel-events", "evenkeel-writes")
A_BUILD = Build(load(), {})
SERVING: dict[str, Any] = {
    **serving.DEPLOYMENT,
    "spec": {"template": {"spec": {"containers": [{"image": "reg/evenkeel:1"}]}}},
}


def chosen(
    asked: Asked,
    stack: dict[str, Any] | None = None,
    *objects: dict[str, Any],
    control_plane: ControlPlane = ControlPlane(),  # noqa: B008 - it is frozen
) -> Choices:
    kept = Kept({title(each): each for each in objects})
    site = a_site(kept, Account(stack))
    return made(asked, site.stack(), site.objects, control_plane)


def test_a_first_installation_observes_and_has_the_webhook() -> None:
    assert chosen(Asked()) == Choices(Mode.OBSERVE, Webhook.LAMBDA)


def test_a_stack_that_was_never_made_says_nothing_of_a_webhook() -> None:
    assert chosen(Asked(), NEVER_MADE).webhook is Webhook.LAMBDA


@pytest.mark.parametrize(
    ("stack", "objects", "choices"),
    [
        (a_stack(BY_LAMBDA), [], Choices(Mode.ACT, Webhook.LAMBDA)),
        (a_stack({"PlacementUrl": "https://abc/v1/"}), [], Choices(Mode.ACT, Webhook.LAMBDA)),
        (a_stack({"RightsVersion": "1"}), [], Choices(Mode.ACT, Webhook.NONE)),
        (a_stack(), [SERVING], Choices(Mode.ACT, Webhook.IN_CLUSTER, image="reg/evenkeel:1")),
    ],
    ids=[
        "a stack with a secret keeps its webhook",
        "a stack with a token as a parameter keeps its webhook",
        "a stack without a webhook stays without",
        "a webhook in the cluster stays there",
    ],
)
def test_what_is_there_stays(
    stack: dict[str, Any] | None, objects: list[dict[str, Any]], choices: Choices
) -> None:
    assert chosen(Asked(), stack, *objects) == choices


@pytest.mark.parametrize("there", Policies)
def test_policies_stay_as_they_are_and_are_of_this_version(there: Policies) -> None:
    objects = [dict(each) for each in there.documents]
    assert chosen(Asked(), a_stack(), *objects).policies is there
    assert chosen(Asked(policies=Policies.AUDIT), a_stack(), *objects).policies is Policies.AUDIT
    choices = Choices(Mode.ACT, Webhook.LAMBDA, policies=there)
    kept = Kept({title(each): each for each in objects})
    rights, *_ = plan.installation(a_site(kept, Account()), choices, A_BUILD)
    rights.do()
    bindings = [each for each in kept.objects.values() if each["kind"] == manifests.BINDING]
    actions = {each["metadata"]["name"]: each["spec"]["validationActions"] for each in bindings}
    held = {} if there is Policies.NONE else {name: [there.capitalize()] for name in HELD}
    always = {name: ["Deny"] for name in ("evenkeel-leases", "evenkeel-seats")}
    assert actions == always | held


def test_policies_that_nobody_wants_any_more_go() -> None:
    kept = Kept({title(each): dict(each) for each in Policies.DENY.documents})
    choices = Choices(Mode.ACT, Webhook.LAMBDA)
    steps = plan.installation(a_site(kept, Account()), choices, A_BUILD)
    (gone,) = [step for step in steps if step.title == "policies"]
    assert gone.look() == ["delete 3 ValidatingAdmissionPolicy, 3 ValidatingAdmissionPolicyBinding"]


@pytest.mark.parametrize("webhook", [None, Webhook.LAMBDA])
def test_a_first_installation_sets_what_the_template_has_by_default(
    webhook: Webhook | None,
) -> None:
    """So placement and gate are on or off alike, by whichever way the stack is made."""
    read = {"ClusterName", "ClusterEndpoint", "ClusterCertificateAuthority", "AccessEntries"}
    site = a_site(Kept(), Account())
    given = plan.parameters(site, chosen(Asked(webhook=webhook)))
    template = load()["Parameters"]
    assert {k: v for k, v in given.items() if k not in read} == {
        key: template[key]["Default"] for key in given if key not in read
    }


@pytest.mark.parametrize("mode", ["CUSTOMER_ROUTED", "CUSTOMER_ISOLATED"])
def test_where_the_api_server_calls_out_by_your_network_the_webhook_goes_into_the_cluster(
    mode: str,
) -> None:
    control_plane = ControlPlane(control_plane_egress_mode=mode)
    found = chosen(Asked(image="reg/evenkeel:1"), control_plane=control_plane)
    assert found.webhook is Webhook.IN_CLUSTER
    with pytest.raises(BadInputError, match=f"egress mode is {mode}, so .* needs --image"):
        chosen(Asked(), control_plane=control_plane)
    without = chosen(Asked(webhook=Webhook.NONE), control_plane=control_plane)
    assert without.webhook is Webhook.NONE
    there = chosen(Asked(), a_stack(BY_LAMBDA), control_plane=control_plane)
    assert there.webhook is Webhook.LAMBDA


def test_a_webhook_on_lambda_is_refused_where_the_api_server_cannot_call_out() -> None:
    asked = Asked(webhook=Webhook.LAMBDA)
    routed = ControlPlane(control_plane_egress_mode="CUSTOMER_ROUTED")
    assert chosen(asked, control_plane=routed).webhook is Webhook.LAMBDA
    isolated = ControlPlane(control_plane_egress_mode="CUSTOMER_ISOLATED")
    with pytest.raises(BadInputError, match=r"--webhook lambda: .* does not reach it"):
        chosen(asked, control_plane=isolated)


def test_a_list_is_a_parameter_whose_value_has_commas() -> None:
    found = chosen(Asked(parameters=("SubnetIds=subnet-a,subnet-b", "SecurityGroupIds=sg-a")))
    given = plan.deployed(a_site(Kept(), Account()), found, A_BUILD)
    assert "  SubnetIds=subnet-a,subnet-b" in given.look()
    stack = deployed(SubnetIds=found.parameters["SubnetIds"], SecurityGroupIds="sg-a")
    assert stack.globals["Function"]["VpcConfig"]["SubnetIds"] == ["subnet-a", "subnet-b"]


def test_what_is_asked_for_goes_before_what_is_there() -> None:
    asked = Asked(Mode.OBSERVE, Webhook.NONE, parameters=("Window=50", "Tracing=Active"))
    found = chosen(asked, a_stack(BY_LAMBDA), SERVING)
    assert (found.mode, found.webhook) == (Mode.OBSERVE, Webhook.NONE)
    assert found.parameters == {"Window": "50", "Tracing": "Active"}


def test_all_namespaces_take_part_in_placement_and_gate() -> None:
    found = chosen(Asked(is_everywhere=True))
    assert found.is_everywhere
    assert found.parameters == {"Namespaces": "all", "Gate": "managed"}
    assert chosen(Asked(), a_stack(Namespaces="all")).is_everywhere


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked(webhook=Webhook.IN_CLUSTER), "needs --image"),
        (Asked(namespaces=("shop", "shpo")), "there is no namespace shpo"),
        (Asked(parameters=("Window",)), "it should be KEY=VALUE"),
        (Asked(parameters=("=1",)), "it should be KEY=VALUE"),
        (Asked(parameters=("Mode=act",)), "the command's own options say that"),
    ],
)
def test_what_cannot_be_is_refused(asked: Asked, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        chosen(asked, None, named("v1", "Namespace", "shop"))


def test_two_act_only_when_told() -> None:
    others.check([fine("none is seen")], beside=False)
    for finding in (
        broken("it does not wait", "switch it off"),
        unknown("no pod of it is seen", "look"),
    ):
        others.check([finding], beside=True)
        with pytest.raises(BadInputError, match="add --beside-drainers"):
            others.check([finding], beside=False)


def titles(choices: Choices, kept: Kept | None = None) -> list[str]:
    site = a_site(kept or Kept(), Account())
    return [step.title for step in plan.installation(site, choices, A_BUILD)]


def test_what_answers_stands_before_it_is_asked() -> None:
    by_lambda = titles(Choices(Mode.ACT, Webhook.LAMBDA))
    assert by_lambda == ["rights", "stack", "aws-auth", "token", "webhooks", "namespaces"]
    in_cluster = titles(Choices(Mode.ACT, Webhook.IN_CLUSTER, image="reg/evenkeel:1"))
    assert in_cluster == ["rights", "serve", "webhooks", "stack", "aws-auth", "namespaces"]
    assert titles(Choices(Mode.ACT, Webhook.NONE)) == ["rights", "stack", "aws-auth", "namespaces"]


def test_a_policy_stands_before_the_webhook_goes_and_goes_once_a_webhook_is_asked() -> None:
    there = {title(each): dict(each) for each in (*policy(), hooks.PLACEMENT)}
    by_policy = titles(Choices(Mode.ACT, Webhook.POLICY), Kept(there))
    assert by_policy == ["rights", "policy", "webhooks", "stack", "aws-auth", "namespaces"]
    by_lambda = titles(Choices(Mode.ACT, Webhook.LAMBDA), Kept(there))
    assert by_lambda[-3:] == ["webhooks", "policy", "namespaces"]
    in_cluster = titles(Choices(Mode.ACT, Webhook.IN_CLUSTER, image="reg/evenkeel:1"), Kept(there))
    assert in_cluster[1:4] == ["serve", "webhooks", "policy"]
    assert titles(Choices(Mode.ACT, Webhook.NONE), Kept(there))[1:3] == ["webhooks", "policy"]


def test_a_policy_is_kept_and_refused_where_the_api_server_knows_none() -> None:
    (unbound, _) = policy()
    assert chosen(Asked(), None, dict(unbound)).webhook is Webhook.POLICY
    site = a_site(Kept(unserved=f"{API} MutatingAdmissionPolicy"), Account())
    with pytest.raises(BadInputError, match=r"--webhook policy: .* stable since Kubernetes 1\.36"):
        made(Asked(webhook=Webhook.POLICY), None, site.objects, ControlPlane())


def test_a_policy_is_bound_where_evenkeel_acts_and_goes_by_the_labels_of_the_stack() -> None:
    kept = Kept()
    site = a_site(kept, Account(a_stack(CapacityLabels="lifecycle=Ec2Spot")))
    acts = plan.policed(site, Choices(Mode.ACT, Webhook.POLICY, is_everywhere=True))
    assert acts.look() == [
        "make MutatingAdmissionPolicy evenkeel, MutatingAdmissionPolicyBinding evenkeel"
    ]
    acts.do()
    assert not acts.look()
    unbound, binding = kept.objects.values()
    assert "Ec2Spot" in str(unbound)
    assert "matchLabels" not in binding["spec"]["matchResources"]["namespaceSelector"]

    observes = plan.policed(site, Choices(Mode.OBSERVE, Webhook.POLICY))
    assert observes.look() == ["delete MutatingAdmissionPolicyBinding evenkeel"]
    observes.do()
    assert [*kept.objects.values()] == [unbound]


def test_a_webhook_that_is_taken_away_is_first_asked_no_more() -> None:
    asked = {title(each): each for each in (hooks.PLACEMENT, hooks.GATE, SERVING)}
    before = titles(Choices(Mode.ACT, Webhook.NONE), Kept(asked))
    assert before == ["rights", "webhooks", "stack", "aws-auth", "serve", "namespaces"]


def test_the_webhook_in_the_cluster_has_the_settings_of_the_stack_s() -> None:
    template = load()
    ours = {"WebhookToken", "Mode", "ClusterName", "ClusterEndpoint", "ClusterCertificateAuthority"}
    globally = template["Globals"]["Function"]["Environment"]["Variables"]
    own = template["Resources"]["PlacementFunction"]["Properties"]["Environment"]["Variables"]
    by_parameter = {
        each["Ref"]: name
        for name, each in {**globally, **own}.items()
        if "Ref" in each and each["Ref"] in template["Parameters"]
    }
    assert {k: v for k, v in by_parameter.items() if k not in ours} == plan.SETTINGS
    site = a_site(Kept(), Account(a_stack(Window="50", Gate="managed", RestoreMoves="9")))
    served = plan.served(site, Choices(Mode.OBSERVE, Webhook.IN_CLUSTER, image="reg/evenkeel:1"))
    (deployment,) = [each for each in served.documents if each["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    told = {each["name"]: each.get("value") for each in container["env"]}
    assert (told["EVENKEEL_WINDOW"], told["EVENKEEL_GATE"]) == ("50", "managed")
    assert told["EVENKEEL_CLUSTER_NAME"] == "prod"
    assert "EVENKEEL_RESTORE_MOVES" not in told
    assert container["image"] == "reg/evenkeel:1"
    assert "--dry-run" in container["args"]
