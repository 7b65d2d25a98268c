"""Which region AWS is asked in: one rule for all commands."""

import base64
from pathlib import Path

import pytest
from botocore.exceptions import NoRegionError

from evenkeel.adapters.aws.eks_token import PREFIX
from evenkeel.errors import SettingsError
from evenkeel_cli.aws import asking, eks
from evenkeel_cli.aws.asking import Aws
from evenkeel_runtime import aws
from evenkeel_runtime.poll import sqs

LOCAL = "http://127.0.0.1:5000/123456789012/notices"


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials, and no region."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("region", "default", "found"),
    [
        ("eu-west-3", "", "eu-west-3"),
        ("", "eu-west-1", "eu-west-1"),
        ("eu-west-3", "eu-west-1", "eu-west-3"),
    ],
)
def test_aws_region_goes_before_aws_default_region(
    monkeypatch: pytest.MonkeyPatch, region: str, default: str, found: str
) -> None:
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_DEFAULT_REGION", default)

    asked = asking.of_environment()
    assert isinstance(asked, Aws)
    assert asked.region == found
    assert sqs.connect(None, None, LOCAL).meta.region_name == found


def test_a_region_that_is_named_goes_before_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    assert sqs.connect("eu-north-1", None, LOCAL).meta.region_name == "eu-north-1"
    of_aws = "https://sqs.eu-central-1.amazonaws.com/123456789012/notices"
    assert sqs.connect(None, None, of_aws).meta.region_name == "eu-central-1"


def test_a_region_and_a_profile_that_are_named_go_before_the_environment_s(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile ops]\nregion = eu-south-1\naws_access_key_id = OPS\n")
    config.write_text(f"{config.read_text()}aws_secret_access_key = x\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))

    of_ops = asking.of_environment(profile="ops")
    assert isinstance(of_ops, Aws)
    assert of_ops.region == "eu-south-1"
    assert of_ops._make_client("sqs")._get_credentials().access_key == "OPS"
    signed = eks.tokens(of_ops, "prod").token().removeprefix(PREFIX)
    assert b"X-Amz-Credential=OPS%2F" in base64.urlsafe_b64decode(f"{signed}==")
    named = asking.of_environment("eu-west-2", "ops")
    assert isinstance(named, Aws)
    assert named.region == "eu-west-2"
    nobody = asking.of_environment(profile="nobody")
    assert isinstance(nobody, str)
    assert "nobody" in nobody


@pytest.mark.parametrize(("service", "longest"), [("s3", 60), ("cloudformation", 60), ("sqs", 2)])
def test_an_upload_may_take_longer_than_a_question(
    monkeypatch: pytest.MonkeyPatch, service: str, longest: int
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    asked = asking.of_environment()
    assert isinstance(asked, Aws)
    assert asked._make_client(service).meta.config.read_timeout == longest


def test_a_bucket_is_found_where_its_region_s_s3_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "cn-north-1")
    asked = asking.of_environment()
    assert isinstance(asked, Aws)
    assert asked.endpoint("s3") == "https://s3.cn-north-1.amazonaws.com.cn"


def test_without_a_region_a_client_is_refused() -> None:
    assert asking.of_environment() == "no AWS region is named: set AWS_REGION"
    with pytest.raises(SettingsError, match="set AWS_REGION, or give --region"):
        sqs.connect(None, None, LOCAL)
    with pytest.raises(NoRegionError):
        aws.session().client("sqs")
