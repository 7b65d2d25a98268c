"""``evenkeel install``, and ``uninstall``, by which all is as it was before.

The commands run as a stranger runs them: out of a wheel, in an empty folder, by the credentials of
a user who has no more rights in AWS than docs/install.md names. EKS's token lets that user into
the cluster, too.
"""

import json
import re
import subprocess
import tempfile
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError

from evenkeel.model import names
from evenkeel_cli import manifests
from evenkeel_cli.install import roles
from evenkeel_cli.install.template import uris
from tests.e2e.manifests import bare_pod, deployment
from tests.kit import documented
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.manifests import resource
from tests.stack.cloudformation import load
from tests.stack.deployed import wheel
from tests.stack.deployed.conftest import (
    REPLAYS,
    Deployed,
    endpoint_of,
    owned_by,
    taking_tokens,
)
from tests.stack.deployed.installer import DOCTOR, USER, Installer, keys_of
from tests.stack.deployed.ministack import REGION, Ministack
from tests.stack.deployed.process import plain_environment
from tests.stack.deployed.verifier import Verifier

pytestmark = pytest.mark.stack

NAME = "installed"
STACK = f"evenkeel-{NAME}"
NAMESPACE = "shop"
BUCKET = "evenkeel-artifacts"
MOST_BYTES_INLINE, MOST_BYTES_BY_URL = 51_200, 1_000_000
"""https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html"""
LONGEST = 600.0
ONLY_IN_AWS = {
    # What CloudWatch counts.
    *("calls of interruption", "calls of handover", "calls of restore", "calls of placement"),
    "probe",
    # The HTTP API's name, which AWS alone answers for.
    *("placement webhook", "answers of placement", "eviction gate", "answers of gate"),
    "webhook certificate",
    # The endpoint that EKS names, which is not the one that is given here.
    "network of functions",
}
"""Links of the doctor's that are not fine here."""
TRUSTING = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "eks.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Account:
    """An account with a cluster of EKS's that was made before access entries.

    ``programs`` has the wheel's command, and ``folder`` nothing.
    """

    ministack: Ministack
    control_plane: ControlPlane
    verifier: Verifier
    installer: Installer
    programs: Path
    folder: Path

    def run(self, command: str, *arguments: str, code: int = 0) -> str:
        """Run a command on this cluster; what it prints. Fails with that if its code differs."""
        endpoint = endpoint_of(self.control_plane, NAME)
        authority = self.programs.parent / "ca.crt"
        authority.write_bytes(b64decode(endpoint["ClusterCertificateAuthority"]))
        where = (
            *("--cluster-name", NAME, "--server", endpoint["ClusterEndpoint"]),
            *("--certificate-authority", authority),
        )
        done = subprocess.run(
            [self.programs / "evenkeel", command, *where, *arguments],
            cwd=self.folder,
            env={
                **plain_environment(),
                **self.installer.environment,
                "KUBECONFIG": "/nowhere",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr[-4000:]
        return done.stdout if code == 0 else done.stderr

    def doctor(self) -> Mapping[str, str]:
        """The verdicts that are not fine, by their links."""
        where = ("--kubeconfig", self.control_plane.kubeconfig, "--stack-name", STACK)
        done = subprocess.run(
            [self.programs / "evenkeel", "doctor", *where, "-o", "json"],
            cwd=self.folder,
            env={
                **plain_environment(),
                **keys_of(self.ministack, DOCTOR, documented.DOCTOR.policies()[0]),
                "AWS_ENDPOINT_URL": self.ministack.url,
                "AWS_ENDPOINT_URL_EC2": self.ministack.compute.url,
                "AWS_ENDPOINT_URL_SQS": self.ministack.compute.url,
            },
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        found = json.loads(done.stdout)["items"]
        return {each["link"]: each["verdict"] for each in found if each["verdict"] != "fine"}

    def released(self) -> list[dict[str, Any]]:
        """The pods of its workload that are released."""
        pods = self.control_plane.items("v1", "Pod", NAMESPACE)
        return [pod for pod in pods if names.RELEASED_FROM in pod["metadata"]["labels"]]

    def in_cluster(self) -> set[str]:
        """Every object by kind and name, and the labels of namespaces; but what comes and goes."""
        listed = self.control_plane.kubectl("api-resources", "--verbs=list", "-o", "name")
        kinds = {*listed.split()} - {
            *("events", "events.events.k8s.io", "componentstatuses", "endpoints"),
            *("endpointslices.discovery.k8s.io", "leases.coordination.k8s.io"),
            *("pods", "replicasets.apps"),
        }
        found = self.control_plane.kubectl("get", ",".join(sorted(kinds)), "-A", "-o", "name")
        labels = self.control_plane.kubectl("get", "namespaces", "--show-labels", "--no-headers")
        of_namespaces = {" ".join(line.split()[::3]) for line in labels.splitlines()}
        return {*found.split(), *of_namespaces, self._roles_text()}

    def is_at_rest(self) -> bool:
        """Whether controllers have made what each namespace gets, and nothing more meanwhile."""
        found = self.in_cluster()
        each = {"configmap/kube-root-ca.crt", "serviceaccount/default"}
        return each <= found == self.in_cluster()

    def in_aws(self) -> set[str]:
        """What the account holds that a stack makes.

        But log groups: those of functions that work while they are deleted ministack makes anew.
        Evenkeel's roles may not.
        """
        of = self.ministack.client
        return {
            *(each["RoleName"] for each in of("iam").list_roles()["Roles"]),
            *(each["FunctionName"] for each in of("lambda").list_functions()["Functions"]),
            *(each["LayerName"] for each in of("lambda").list_layers()["Layers"]),
            *(of("sqs").list_queues().get("QueueUrls") or ()),
            *(each["Name"] for each in of("events").list_rules()["Rules"]),
            *(each["Name"] for each in of("scheduler").list_schedules()["Schedules"]),
            *(each["Name"] for each in of("secretsmanager").list_secrets()["SecretList"]),
            *(each["ApiId"] for each in of("apigatewayv2").get_apis()["Items"]),
            *(each["Name"] for each in of("s3").list_buckets()["Buckets"]),
        }

    def give_access(self) -> None:
        """Let roles in as aws-auth says, which on EKS an authenticator reads."""
        for each in yaml.safe_load(self._roles_text()):
            (group,) = each["groups"]
            self.verifier.groups[each["rolearn"].rpartition("/")[2]] = group

    def _roles_text(self) -> str:
        found = self.control_plane.get("v1", "ConfigMap", "aws-auth", "kube-system")
        text: str = found["data"][roles.KEY]
        return text

    def stack(self) -> Deployed:
        """The stack that is installed."""
        self.ministack.correct_mappings()
        found = self.ministack.client("cloudformation").describe_stacks(StackName=STACK)
        (stack,) = found["Stacks"]
        outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
        return Deployed(STACK, NAME, self.ministack, self.control_plane, outputs)

    def parameters(self) -> Mapping[str, str]:
        """Its parameters."""
        found = self.ministack.client("cloudformation").describe_stacks(StackName=STACK)
        (stack,) = found["Stacks"]
        return {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}


@pytest.fixture(scope="module")
def account(
    ministack: Ministack,
    installer: Installer,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Account]:
    folder = tmp_path_factory.mktemp("installed")
    role = ministack.client("iam").create_role(
        RoleName="eks", AssumeRolePolicyDocument=json.dumps(TRUSTING)
    )["Role"]["Arn"]
    ministack.client("eks").create_cluster(
        name=NAME,
        roleArn=role,
        resourcesVpcConfig={},
        accessConfig={"authenticationMode": "CONFIG_MAP"},
    )
    with (
        Verifier(ministack.url, NAME) as verifier,
        taking_tokens(verifier, folder, request) as control_plane,
    ):
        verifier.groups[USER] = "system:masters"
        of_nodes = [{"rolearn": "arn:aws:iam::1:role/nodes", "groups": ["system:nodes"]}]
        control_plane.apply(
            {**roles.AUTH, "data": {roles.KEY: f"# ours\n{yaml.safe_dump(of_nodes)}"}},
            resource("Namespace", NAMESPACE),
        )
        empty = tmp_path_factory.mktemp("empty")
        programs = wheel.installed(tmp_path_factory.mktemp("wheel"))
        made = Account(ministack, control_plane, verifier, installer, programs, empty)
        control_plane.wait_for("its controllers to have made all of theirs", made.is_at_rest)
        yield made


def test_an_installation_acts_and_leaves_nothing_behind(account: Account) -> None:
    in_cluster, in_aws = account.in_cluster(), account.in_aws()
    chosen = ("--mode", "act", "--manage", NAMESPACE, "--policies", "deny")
    wanted = (*chosen, "--parameter", f"ReplaySource={REPLAYS}")

    told = account.run("install", *wanted)
    assert f"make {STACK}" in told
    assert "nothing was changed" in told
    assert account.in_cluster() ^ in_cluster == set()
    assert account.in_aws() ^ in_aws == set()

    told = account.run("install", *wanted, "--change-set")
    assert "to execute it: aws cloudformation execute-change-set" in told
    assert account.in_cluster() ^ in_cluster == set()

    told = account.run("install", *wanted, "--apply")
    assert told.count("done\n") == 6, told
    assert " CREATE_COMPLETE  HandoverFunction\n" in told
    account.give_access()

    again = account.run("upgrade", "--apply")
    assert "done\n" not in again
    for step in ("rights", "stack", "aws-auth", "webhooks", "namespaces"):
        assert f"{step:12}  as wanted" in again, again
    assert account.parameters()["Mode"] == "act"

    assert_hands_over(account)
    not_fine = account.doctor()
    assert sorted(not_fine.keys() - ONLY_IN_AWS) == []
    assert "probe" in not_fine

    # A slow machine takes longer than the two minutes of a warning until here.
    released = account.released()
    told = account.run("uninstall", "--no-wait", "--apply")
    assert ("give released pods back" in told) == bool(released)
    assert account.in_cluster() ^ in_cluster == {"node/doomed", "deployment.apps/web"}
    assert account.in_aws() ^ in_aws == set()
    (node,) = account.control_plane.items("v1", "Node")
    assert not node["spec"].get("unschedulable")
    assert not {key for key in node["metadata"].get("annotations", {}) if "evenkeel" in key}
    assert "nothing of it is there" in account.run("uninstall", "--apply")


def assert_hands_over(account: Account) -> None:
    """A notice releases the pods of a node; there is no other that could take replacements."""
    stack = account.stack()
    instance = stack.launch(owned_by(NAME))
    account.control_plane.add_node(
        "doomed",
        spot=True,
        provider_id=f"aws:///{instance['Placement']['AvailabilityZone']}/{instance['InstanceId']}",
    )
    account.control_plane.apply(deployment("web", 2), namespace=NAMESPACE)

    def running() -> bool:
        pods = account.control_plane.items("v1", "Pod", NAMESPACE)
        return [pod["status"]["phase"] for pod in pods] == ["Running"] * 2

    account.control_plane.wait_for("the workload to run", running)
    stack.put_event(instance["InstanceId"])
    account.control_plane.wait_for("its pods to be released", lambda: len(account.released()) == 2)


@pytest.mark.nightly
def test_what_was_added_later_goes_too(account: Account) -> None:
    """A second scheduler with its extender's rights, and a webhook that was given up."""
    in_cluster, in_aws = account.in_cluster(), account.in_aws()
    account.run("install", "--apply")
    profile = str(ROOT / "manifests" / "scheduler" / "profile")
    account.control_plane.kubectl("apply", "-k", profile)
    account.control_plane.apply(*manifests.documents("scheduler/extender"))
    waiting = bare_pod("waiting", schedulerName="evenkeel")
    account.control_plane.apply(waiting, namespace=NAMESPACE)

    assert "gate" not in account.run("install", "--apply")
    told = account.run("install", "--webhook", "none", "--apply")
    assert "delete ClusterRole evenkeel-gate, ClusterRoleBinding evenkeel-gate" in told
    assert "clusterrole.rbac.authorization.k8s.io/evenkeel-gate" not in account.in_cluster()

    before = account.in_cluster()
    refused = account.run("uninstall", "--apply", code=3)
    assert "these name the scheduler evenkeel" in refused
    assert account.in_cluster() == before

    account.control_plane.delete("v1", "Pod", "waiting", NAMESPACE)
    account.run("uninstall", "--no-wait", "--apply")
    assert account.in_cluster() ^ in_cluster == set()
    assert account.in_aws() ^ in_aws == set()


def test_everything_is_written_as_files_instead(account: Account) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "evenkeel"
        told = account.run("install", "--mode", "act", "--render", str(folder))
        assert "its README.md says what to do" in told
        parameters = json.loads((folder / "stack" / "parameters.json").read_text())
        assert {"ParameterKey": "Mode", "ParameterValue": "act"} in parameters
        for kind in account.control_plane.kubectl(
            "apply", "--dry-run=client", "-o", "name", "-k", str(folder / "kubernetes")
        ).split():
            assert kind
        template = load(folder / "stack" / "template.json")
        for uri in uris(template).values():
            assert (folder / "stack" / uri).is_file()
        refused = account.run("install", "--render", str(folder), code=2)
        assert "is not empty" in refused


def test_files_that_were_uploaded_are_a_stack_for_those_who_make_no_change_sets(
    account: Account,
) -> None:
    """As the sample for Terraform does, with the URL that README.md names."""
    s3 = account.ministack.client("s3")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "evenkeel"
        account.run("install", "--render", str(folder), "--bucket", BUCKET)
        readme = (folder / "README.md").read_text()
        parameters = json.loads((folder / "stack" / "parameters.tfvars.json").read_text())
    (url,) = re.findall(r"`template.json` is at (\S+),", readme)
    sample = (ROOT / "deploy" / "terraform" / "main.tf").read_text()
    (capabilities,) = map(json.loads, re.findall(r"capabilities = (.*)", sample))
    assert capabilities == ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
    key = url.partition(f"/{BUCKET}/")[2]
    size = s3.head_object(Bucket=BUCKET, Key=key)["ContentLength"]
    assert MOST_BYTES_INLINE < size < MOST_BYTES_BY_URL
    cloudformation = account.ministack.client("cloudformation")
    make = partial(
        cloudformation.create_stack,
        StackName=STACK,
        TemplateURL=url,
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()],
    )
    for each in capabilities:
        with pytest.raises(ClientError, match="InsufficientCapabilities"):
            make(Capabilities=[each])
    make(Capabilities=capabilities)
    often = {"Delay": 1, "MaxAttempts": 60}
    named = {"StackName": STACK}
    cloudformation.get_waiter("stack_create_complete").wait(**named, WaiterConfig=often)
    cloudformation.delete_stack(**named)
    cloudformation.get_waiter("stack_delete_complete").wait(**named, WaiterConfig=often)
