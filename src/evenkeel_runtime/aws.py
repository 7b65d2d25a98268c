"""AWS as a command asks it: in which region, where the functions have their own settings."""

import boto3

from evenkeel.settings import environment
from evenkeel.settings.connection import REGION


def session(region: str | None = None, profile: str | None = None) -> boto3.Session:
    """A session in this region, else in that of AWS_REGION, else as boto3 finds one.

    ``profile`` is one of AWS's configuration, else that of AWS_PROFILE.

    boto3 itself reads AWS_DEFAULT_REGION and the profile alone; AWS's other SDKs, and the AWS
    command line, read AWS_REGION first:
    https://docs.aws.amazon.com/sdkref/latest/guide/feature-region.html

    Raises BotoCoreError where there is no such profile.
    """
    return boto3.Session(
        region_name=region or environment().get(REGION) or None, profile_name=profile or None
    )
