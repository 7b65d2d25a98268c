"""``evenkeel poll``: the functions without Lambda, fed from the same queues."""

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Final
from urllib.parse import urlsplit

import click

from evenkeel import settings
from evenkeel.adapters.aws.auto_scaling import AutoScaling
from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.model.metrics import Metric
from evenkeel.ports import Ports, Queue, Recorder
from evenkeel.settings import HandoverSettings, InterruptionSettings, Mode, RestoreSettings
from evenkeel.settings.handover import Role
from evenkeel_cli import decision_file, metering, options
from evenkeel_cli.command import Command
from evenkeel_cli.decision_file import DecisionLog
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.log import LineRecorder
from evenkeel_cli.program import NAME
from evenkeel_cli.targets import Target
from evenkeel_runtime.end_signal import LOOKING, EndSignal
from evenkeel_runtime.metrics import PrometheusRecorder
from evenkeel_runtime.notifying import UrlNotifications
from evenkeel_runtime.poll import sqs
from evenkeel_runtime.poll.application import Application, Outside
from evenkeel_runtime.poll.helpers import Helpers
from evenkeel_runtime.poll.in_process import InProcessQueue
from evenkeel_runtime.poll.sources import Source
from evenkeel_runtime.steady_clock import SteadyClock

SHARE: Final = "--share"
"""Given to a process that takes one share of a storm, and ends when it is done."""

NOTIFY_URL: Final = "EVENKEEL_NOTIFY_URL"


def _checked(_context: click.Context, _parameter: click.Parameter, url: str | None) -> str | None:
    """A URL that can be posted to. Raises BadParameter, which does not show it: it is a secret."""
    parts = urlsplit(url or "https://nowhere")
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise click.BadParameter("it should be a URL that begins with https:// or http://")
    return url


@click.command(cls=Command)
@click.option("--queue-url", required=True, metavar="URL", help="The notice queue.")
@click.option(
    "--wake-up-queue-url",
    metavar="URL",
    help="The wake-up queue. Without one, wake-ups stay in this process.",
)
@options.cluster
@options.cluster_name
@click.option(
    "--region",
    metavar="REGION",
    help="The queues' and instances' region; else from the queue's URL.",
)
@click.option(
    "--endpoint-url", metavar="URL", help="Where AWS answers; else $AWS_ENDPOINT_URL, else AWS."
)
@options.metrics_port
@click.option(
    "--decisions",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"Add each decision to this file as a line of JSON, for {NAME} history; - is standard"
    " output, and what people read goes to standard error.",
)
@click.option(
    "--notify-url",
    metavar="URL",
    envvar=NOTIFY_URL,
    show_envvar=True,
    callback=_checked,
    help="Post JSON there when an interruption begins and when it is over, such as to an incoming"
    " webhook of Slack.",
)
@click.option("--dry-run", is_flag=True, help="Only log and record Events; change nothing.")
@click.option(SHARE, is_flag=True, hidden=True, help="Take one share of a storm, and end.")
def poll(  # noqa: PLR0913 - a command has as many arguments as options
    *,
    queue_url: str,
    wake_up_queue_url: str | None,
    context: str | None,
    kubeconfig: Path | None,
    cluster_name: str | None,
    region: str | None,
    endpoint_url: str | None,
    metrics_port: int | None,
    decisions: Path | None,
    notify_url: str | None,
    dry_run: bool,
    share: bool,
) -> int:
    """Poll the notice queue and act on the cluster, as the Lambda functions do.

    For clusters without Lambda, for laptops and for tests: the same handlers, five batches of
    at most ten at a time, a schedule that looks for left work once a minute, and restore, once a
    minute too. Processes of its own share a storm of more than 7,500 pods. It acts without
    --apply; with --dry-run it observes. SIGTERM or Ctrl-C ends it when the batches under way are
    done.

    The settings of the functions (EVENKEEL_WINDOW and the others) are read from the
    environment here, too. It needs what the functions' roles allow, for the queues and for
    ec2:DescribeInstances. Do not let it and Lambda read the same queues.

    Examples:
        evenkeel poll --queue-url "$QUEUE_URL" --context prod --dry-run
    """
    target = Target(context, kubeconfig)
    clock = SteadyClock()
    facts = target.look()
    name = cluster_name or facts.cluster_name
    metrics = PrometheusRecorder(name)
    stream = sys.stderr if decisions == decision_file.STREAMED else None
    log = LineRecorder(clock, stream, partial(metrics.counted, Metric.LOG_LINES_LOST))
    mode = Mode.OBSERVE if dry_run else Mode.ACT
    client = sqs.connect(region, endpoint_url, queue_url)
    region_name, writer = client.meta.region_name, sqs.writing(client, endpoint_url)
    notices = sqs.SqsSource(client, queue_url)
    wake_ups: Source
    to_wake: Queue
    log.say(f"notices from {queue_url} ({notices.look()})")
    if wake_up_queue_url is None:
        wake_ups = to_wake = InProcessQueue(clock, "wake-ups")
        log.say("wake-ups stay in this process")
    else:
        wake_ups = in_sqs = sqs.SqsSource(client, wake_up_queue_url)
        to_wake = SqsQueue(wake_up_queue_url, region_name, writer)
        log.say(f"wake-ups through {wake_up_queue_url} ({in_sqs.look()})")
    environ: Mapping[str, str] = {
        **settings.environment(),
        settings.shared.MODE: mode.value,
        settings.shared.CLUSTER_NAME: name,
        settings.interruption.NOTICE_QUEUE_URL: queue_url,
        settings.shared.WAKE_UP_QUEUE_URL: wake_up_queue_url or queue_url,
    }
    role = Role.SHARE if share else Role.FIRST
    with ExitStack() as stack:
        recorders: list[Recorder] = [log, metrics]
        lines = stack.enter_context(
            decision_file.opened(
                decisions,
                adds=True,
                on_error=lambda error: log.say(f"--decisions: no more is written: {error}"),
            )
        )
        if lines is not None:
            recorders.append(DecisionLog(lines, clock, cluster=name, mode=mode))
        recorder = Tee(*recorders)
        cluster = stack.enter_context(target.connect(journal=recorder))
        application = Application(
            Outside(
                Ports(
                    cluster,
                    Ec2Instances(region_name, sqs.ec2(client, endpoint_url)),
                    clock,
                    recorder,
                    AutoScaling(region_name, sqs.auto_scaling(client, endpoint_url)),
                    UrlNotifications(notify_url) if notify_url else None,
                ),
                notices=SqsQueue(queue_url, region_name, writer),
                wake_ups=to_wake,
                note=log.say,
            ),
            lambda: InterruptionSettings.from_environment(environ),
            lambda: replace(HandoverSettings.from_environment(environ), role=role),
            RestoreSettings.from_environment(environ),
            notices,
            wake_ups,
            Helpers([] if share else [sys.executable, *sys.orig_argv[1:], SHARE], log.say),
        )
        where = f"the cluster {name} at {facts.server} ({facts.source})"
        acts = mode is Mode.ACT
        log.say(f"acts on {where}" if acts else f"observes {where}: nothing is changed")
        if share:
            _share(application)
        else:
            _run(application, log, metrics, metrics_port)
    return 0


def _share(application: Application) -> None:
    """Until the share is done, or somebody asks for the end."""
    end, done = EndSignal(), Event()

    def work() -> None:
        try:
            application.share(end.asked)
        finally:
            done.set()

    Thread(target=work, daemon=True).start()
    while not done.wait(LOOKING):
        pass


def _run(
    application: Application, log: LineRecorder, metrics: PrometheusRecorder, port: int | None
) -> None:
    """Work until somebody asks for the end."""
    end = EndSignal()
    application.start()
    if port is not None:
        metering.serve(metrics, "0.0.0.0", port, lambda: application.is_alive, log)  # noqa: S104 - Prometheus comes from elsewhere
    is_well = end.wait(lambda: application.is_alive)
    log.say("ends when the batches under way are done")
    if not application.stop():
        raise UnmetError("a batch did not end in time: its messages come again, nothing is lost")
    if not is_well:
        raise UnmetError("a part of it has ended by itself: start it anew, nothing is lost")
    log.say("ended")
