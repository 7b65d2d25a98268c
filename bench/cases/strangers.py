"""What the account's other instances take.

Events of instances that end and are no node. The function `interruption` gets 10,000 of them, *one
by one* as they come in a steady stream, and *ten at a time* as they come when a fleet ends. EC2
and the API server are another process, which answers at once, so the times lack what EC2 takes.
"""

import contextlib
import io
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import batched
from multiprocessing.connection import Connection
from typing import Final
from urllib.parse import parse_qsl

import boto3
from aws_lambda_powertools import Logger

from bench.cases.plan import KUBECONFIG
from bench.figure import Figure
from bench.lab.lab import Lab
from evenkeel.adapters.aws.clients import CONFIG
from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.telemetry.lambda_function import LambdaRecorder
from evenkeel.handlers.interruption import build
from evenkeel.ports import Ports
from evenkeel.settings import InterruptionSettings, Mode
from evenkeel_hosting.events import BATCH, REGION, Message, batch_event
from evenkeel_runtime.kubeconfig import from_kubeconfig
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.queues import SimulatedQueue
from tests.kit.http_server import Answer, HttpServer, Request
from tests.kit.moto_server import CREDENTIALS

NOTES: Final = ""
SIZES: Final = ("one by one", "ten at a time")
EVENTS: Final = 10_000
DESCRIBE, GET, LIST = "DescribeInstances", "nodes asked for", "lists of all nodes"
WARM: Final = 20
"""The first invocations make clients and connections."""


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """Hand the events over, batch by batch."""
    together = BATCH if size == "ten at a time" else 1
    batches = list(batched(_events(), together, strict=False))
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,))
    server.start()
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            handler = _handler(lab, ours.recv(), printed)
            for one in batches[:WARM]:
                handler(one)
            cpu, began = time.process_time(), time.monotonic()
            for one in batches[WARM:]:
                handler(one)
            cpu, wall = time.process_time() - cpu, time.monotonic() - began
        ours.send(None)
        asked: Counter[str] = ours.recv()
    finally:
        server.terminate()
        server.join()
    number = len(batches) - WARM
    return [
        Figure("events", EVENTS),
        Figure("invocations", len(batches)),
        *(Figure(name, asked[name]) for name in (DESCRIBE, GET, LIST)),
        Figure("CPU of an invocation", 1000 * cpu / number, "ms"),
        Figure("time of an invocation", 1000 * wall / number, "ms"),
        Figure("log of an event", len(printed.getvalue()) / EVENTS, "bytes"),
    ]


def _events() -> Sequence[str]:
    now = SystemClock().now()
    return [
        json.dumps(
            {
                "version": "0",
                "id": f"00000000-0000-0000-0000-{number:012x}",
                "detail-type": "EC2 Instance State-change Notification",
                "source": "aws.ec2",
                "account": "123456789012",
                "time": now.isoformat(timespec="seconds"),
                "region": REGION,
                "resources": [],
                "detail": {"instance-id": f"i-{number:017x}", "state": "shutting-down"},
            }
        )
        for number in range(EVENTS)
    ]


def _handler(lab: Lab, url: str, printed: io.StringIO) -> Callable[[Sequence[str]], None]:
    kubeconfig = lab.log("kubeconfig")
    cluster = {"name": "made-up", "cluster": {"server": url}}
    kubeconfig.write_text(json.dumps({**KUBECONFIG, "clusters": [cluster]}))
    client = boto3.client(
        "ec2",
        region_name=REGION,
        endpoint_url=url,
        config=CONFIG,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )
    clock = SystemClock()
    queues = SimulatedQueue(SimulatedClock(clock.now()), "unused")
    # One service has one logger in a process: a new name each time is a new one.
    logger = Logger(service=f"strangers-{id(printed)}", location=None, stream=printed)
    handle = build(
        InterruptionSettings(mode=Mode.ACT, cluster_name="prod"),
        Ports(
            from_kubeconfig(kubeconfig=str(kubeconfig)),
            Ec2Instances(REGION, client),
            clock,
            LambdaRecorder(clock, cluster="prod", mode="act", logger=logger),
        ),
        queues,
        queues,
    )

    def invoke(bodies: Sequence[str]) -> None:
        now = clock.now()
        messages = [Message(body[:80], body, now, now, receives=1) for body in bodies]
        assert handle(batch_event(messages, "notices"), None) == {"batchItemFailures": []}

    return invoke


def _serve(pipe: Connection) -> None:
    """EC2 and an API server, until something comes through the pipe; then what they were asked."""
    asked: Counter[str] = Counter()

    def answer(request: Request) -> Answer:
        if request.method == "POST":
            asked[DESCRIBE] += 1
            return _instances([v for k, v in parse_qsl(request.body.decode()) if ".Value." in k])
        name = request.path.removeprefix("/api/v1/nodes").removeprefix("/")
        asked[GET if name else LIST] += 1
        if name:
            return Answer(b'{"kind":"Status","reason":"NotFound","code":404}', 404)
        return Answer(b'{"metadata":{"resourceVersion":"1"},"items":[]}')

    with HttpServer(answer) as server:
        pipe.send(server.url)
        pipe.recv()
        pipe.send(asked)


def _instances(ids: Sequence[str]) -> Answer:
    """What EC2 says of instances without the tag of a cluster."""
    found = "".join(
        "<item><instancesSet><item>"
        f"<instanceId>{each}</instanceId><privateDnsName>ip-{each}.ec2.internal</privateDnsName>"
        "<instanceState><code>32</code><name>shutting-down</name></instanceState>"
        "<tagSet><item><key>team</key><value>batch</value></item></tagSet>"
        "</item></instancesSet></item>"
        for each in ids
    )
    text = (
        '<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
        f"<reservationSet>{found}</reservationSet></DescribeInstancesResponse>"
    )
    return Answer(text.encode(), headers={"Content-Type": "text/xml"})
