"""Starts of the functions out of the built layer, each in a bare interpreter of its own.

It finds the layer, the function's folder and the standard library, and nothing else: a dependency
that the layer lacks is an ImportError.
"""

import base64
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from evenkeel import settings
from tests.kit.certificates import Authority
from tests.kit.reviews import TOKEN

FUNCTIONS = ("interruption", "handover")
TIMEOUT = 240

MEASURE = """
import json, sys, time
sys.path[:0] = {path!r}
wall, cpu = time.perf_counter(), time.process_time()
{what}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
import resource
import botocore
assert botocore.__file__.startswith({path!r}[0]), botocore.__file__
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([wall * 1e3, cpu * 1e3, peak]))
"""
START = """
import app
app.assemble()
"""
BARE = """
import boto3
import botocore.session
import botocore.auth
import msgspec
import urllib3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
"""
CLIENTS = """
from evenkeel.adapters.aws.clients import CONFIG
import boto3
boto3.client("ec2", region_name="eu-central-1", config=CONFIG)
boto3.client("sqs", region_name="eu-central-1", config=CONFIG)
"""


def start(layer: Path, folder: Path, code: str) -> Sequence[float]:
    """One process: ms of wall clock, of CPU, and MB. Raises CalledProcessError if it fails."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", program(layer, folder, code)],
        env=environment(),
        cwd="/",
        stdout=subprocess.PIPE,
        timeout=TIMEOUT,
        check=True,
    )
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def program(layer: Path, folder: Path, code: str) -> str:
    """What a process runs to measure ``code``."""
    return MEASURE.format(path=[str(layer), str(folder)], what=code)


def environment() -> Mapping[str, str]:
    """The functions' environment. No request is sent, so no server has to be there."""
    queue = "https://sqs.eu-central-1.amazonaws.com/123456789012"
    return {
        settings.shared.CLUSTER_NAME: "bench",
        settings.connection.CLUSTER_ENDPOINT: "https://127.0.0.1:6443",
        settings.connection.CLUSTER_CA: base64.b64encode(Authority().certificate.encode()).decode(),
        settings.shared.MODE: "act",
        settings.interruption.NOTICE_QUEUE_URL: f"{queue}/notices",
        settings.placement.WEBHOOK_TOKEN: TOKEN,
        settings.shared.WAKE_UP_QUEUE_URL: f"{queue}/wake-ups",
        settings.connection.REGION: "eu-central-1",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
    }
