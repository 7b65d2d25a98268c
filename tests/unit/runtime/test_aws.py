"""Which region AWS is asked in: one rule for all commands."""

import pytest
from botocore.exceptions import NoRegionError

from evenkeel.errors import SettingsError
from evenkeel_cli.aws import asking
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


def test_without_a_region_a_client_is_refused() -> None:
    assert asking.of_environment() == "no AWS region is named: set AWS_REGION"
    with pytest.raises(SettingsError, match="set AWS_REGION, or give --region"):
        sqs.connect(None, None, LOCAL)
    with pytest.raises(NoRegionError):
        aws.session().client("sqs")
