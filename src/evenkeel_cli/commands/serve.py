"""``evenkeel serve``: the webhook without Lambda."""

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Thread

import click

from evenkeel import settings
from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.flows.gate.flow import GateFlow
from evenkeel.handlers.placement import adds_nothing
from evenkeel.handlers.requests import Answerer, authenticate
from evenkeel.model.metrics import Metric
from evenkeel.settings import WEBHOOK_REQUEST, GateSettings, Mode, PlacementSettings
from evenkeel_cli import metering, options
from evenkeel_cli.command import Command
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.log import LineRecorder
from evenkeel_cli.targets import Target
from evenkeel_extender import calls
from evenkeel_extender.extender import Extender
from evenkeel_extender.store import Store
from evenkeel_extender.watching import Watching
from evenkeel_hosting import functions
from evenkeel_hosting.following import Following
from evenkeel_responder.naming import named
from evenkeel_responder.responder import Responder
from evenkeel_responder.responding import Responding
from evenkeel_runtime.end_signal import EndSignal
from evenkeel_runtime.metrics import PrometheusRecorder
from evenkeel_runtime.serve.certificate import Certificate
from evenkeel_runtime.serve.events import EventsBeside
from evenkeel_runtime.serve.server import WebhookServer
from evenkeel_runtime.serve.sharing import SharingCluster
from evenkeel_runtime.steady_clock import SteadyClock


@click.command(cls=Command)
@click.option(
    "--port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    required=True,
    help="0 takes a free one.",
)
@click.option(
    "--bind",
    metavar="ADDRESS",
    default="0.0.0.0",  # noqa: S104 - the API server comes from elsewhere
    show_default=True,
    help="The address to listen on.",
)
@click.option(
    "--tls-cert",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="The server's certificate, PEM.",
)
@click.option(
    "--tls-key",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="Its key, PEM.",
)
@options.cluster
@options.cluster_name
@options.metrics_port
@click.option(
    "--extender",
    is_flag=True,
    help="Answer the scheduler, too, as its extender; watches all nodes and pods.",
)
@click.option(
    "--responder",
    is_flag=True,
    help="Answer EvictionRequests, too (lifecycle.k8s.io/v1alpha1, Kubernetes 1.37 and newer).",
)
@click.option("--dry-run", is_flag=True, help="Only log; change no pod.")
def serve(  # noqa: PLR0913 - a command has as many arguments as options
    *,
    port: int,
    bind: str,
    tls_cert: Path,
    tls_key: Path,
    context: str | None,
    kubeconfig: Path | None,
    cluster_name: str | None,
    metrics_port: int | None,
    extender: bool,
    responder: bool,
    dry_run: bool,
) -> int:
    """Serve the mutating webhook over HTTPS, as the Lambda function does behind its HTTP API.

    POST /v1/TOKEN, with the token from $EVENKEEL_WEBHOOK_TOKEN (or two, comma-separated: the
    current one and the one before). evenkeel webhook-config prints what tells the API server.
    With --extender the scheduler asks at /v1/TOKEN/filter and /v1/TOKEN/prioritize, and is
    answered from watches. With --responder new pods name Evenkeel as a responder to their
    evictions, and EvictionRequests about them are answered as the gate answers evictions. Probes
    ask the port of --metrics-port, which no crowd at this one holds up; GET /healthz is answered
    here, too. SIGTERM or Ctrl-C ends it when the requests under way are answered. It acts without
    --apply; with --dry-run it observes.

    Examples:
        evenkeel serve --port 8443 --tls-cert tls.crt --tls-key tls.key
    """
    target = Target(context, kubeconfig)
    clock, facts = SteadyClock(), target.look()
    name = cluster_name or facts.cluster_name
    metrics = PrometheusRecorder(name)
    log = LineRecorder(clock, on_loss=partial(metrics.counted, Metric.LOG_LINES_LOST))
    mode = Mode.OBSERVE if dry_run else Mode.ACT
    environ: Mapping[str, str] = {
        **settings.environment(),
        settings.shared.MODE: mode.value,
        settings.shared.CLUSTER_NAME: name,
    }
    chosen = PlacementSettings.from_environment(environ)
    gate = GateSettings.from_environment(environ)
    try:
        certificate = Certificate(tls_cert, tls_key, metrics.registry, name)
    except (OSError, ValueError) as error:
        raise BadInputError(f"{tls_cert} and {tls_key} do not go together: {error}") from None

    def note(client: str, method: str, status: int, seconds: float) -> None:
        told = {"method": method, "status": status, "ms": round(seconds * 1000)}
        log.noted("answered" if status else "gave up", client=client, **told)
        log.flush()

    known = partial(authenticate, tokens=chosen.tokens)
    with (
        target.connect(budget=WEBHOOK_REQUEST, journal=Tee(log, metrics)) as cluster,
        EventsBeside(ClusterEvents(cluster, clock, log, observes=mode is Mode.OBSERVE)) as events,
        ExitStack() as beside,
    ):
        shared = SharingCluster(cluster)
        recorder = Tee(events, log, metrics)
        besides: Mapping[str, Answerer] = {}
        if extender:
            labels = chosen.capacity_labels
            store = Store(labels, clock)
            watching = Watching(store, recorder)
            beside.enter_context(
                Following(watching, cluster, recorder, name="the scheduler's watch", pause=1)
            )
            asked = Extender(
                *(store, labels, clock, recorder), mode=mode, everywhere=chosen.everywhere
            )
            besides = calls.answerers(asked, recorder)
        responds = responder and mode is Mode.ACT
        if responds:
            flow = GateFlow(gate, shared, clock, recorder)
            answering = Responder(flow, shared, clock, recorder)
            responding = Responding(answering, clock, recorder)
            # Where the API is not served it is asked for again and again.
            beside.enter_context(
                Following(responding, cluster, recorder, name="the watch of evictions", pause=10)
            )
        adds = named if responds else adds_nothing
        handler = functions.placement(chosen, gate, shared, clock, recorder, besides, adds)
        try:
            server = WebhookServer((bind, port), certificate.tls, handler, known, note)
        except OSError as error:
            raise UnmetError(f"port {port} of {bind} cannot be served: {error}") from None
        doing = "places" if mode is Mode.ACT else "observes"
        log.say(f"{doing} pods of the cluster at {facts.server} ({facts.source})")
        log.say(f"serves https on port {server.server_address[1]}")
        serving = Thread(target=server.serve_forever, name="evenkeel-serve", daemon=True)
        if metrics_port is not None:
            metering.serve(metrics, bind, metrics_port, serving.is_alive, log)
        _run(server, serving, certificate, log)
    return 0


def _run(
    server: WebhookServer, serving: Thread, certificate: Certificate, log: LineRecorder
) -> None:
    """Serve until somebody asks for the end."""
    end = EndSignal()
    serving.start()

    def goes_on() -> bool:
        try:
            if certificate.read_if_newer():
                server.tls = certificate.tls
                log.say(f"serves a new certificate, until {certificate.ends_at:%Y-%m-%d}")
        except (OSError, ValueError) as error:
            log.noted(f"serves the certificate that was there before: {error}")
        return serving.is_alive()

    is_well = end.wait(goes_on)
    log.say("ends when the requests under way are answered")
    if not server.end():
        raise UnmetError("a request was not answered in time: its pod passes as it is")
    if not is_well:
        raise UnmetError("its server has ended by itself: start it anew")
    log.say("ended")
