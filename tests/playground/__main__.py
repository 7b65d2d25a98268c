# ruff: noqa: T201 - standard output is what this program is for
"""A control plane to play with, until Ctrl-C.

python -m tests.playground              nodes and workloads: make cluster
python -m tests.playground --every 180  Evenkeel on it, and a storm every 180 s: make playground
"""

import argparse
import json
import shlex
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from evenkeel.model import names
from tests.e2e.manifests import budget, deployment, stateful_set
from tests.e2e.placement.webhook import Ground
from tests.e2e.polling import polling
from tests.kit import moto_server
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.manifests import SYSTEM, resource
from tests.kit.moto_server import CREDENTIALS, Aws
from tests.playground.storms import Storms, warning
from tests.stack.event_bus import put_rules

EVENKEEL: Final = ROOT / ".venv" / "bin" / "evenkeel"
NAMESPACE: Final = "shop"
ON_DEMAND: Final = 2
SPOT: Final = 6
WORKLOADS: Final = (
    deployment("web", 12, annotations={names.ON_DEMAND: "25%"}, start="3s"),
    deployment("login", 1, start="3s"),
    budget("login", minAvailable=1),
    deployment("mailer", 2, start="3s", strategy={"type": "Recreate"}),
    stateful_set("db", 3, start="3s"),
)


def main() -> int:
    """Play until Ctrl-C, or until SIGTERM."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=float, metavar="SECONDS", help="play storms, so far apart")
    every: float | None = parser.parse_args().every
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print("starting a control plane", flush=True)
    with (
        suppress(KeyboardInterrupt),
        tempfile.TemporaryDirectory() as folder,
        ControlPlane.launch() as plane,
    ):
        if every is None:
            with furnished(
                plane, Path(folder), lambda ground: ground.add_nodes(spot=SPOT, on_demand=0)
            ):
                told(plane)
                signal.pause()
        else:
            stormy(plane, Path(folder), every)
    return 0


def stormy(plane: ControlPlane, folder: Path, every: float) -> None:
    """Evenkeel at work in both of its processes, behind the stack's own rules.

    moto plays EventBridge, SQS and EC2.
    """
    with moto_server.started() as aws:
        put_rules(aws.events, aws.notice_queue_arn)
        storms = Storms(plane, aws)

        def prepared(ground: Ground) -> None:
            storms.add_nodes(SPOT)
            plane.kubectl("apply", "-k", str(ROOT / "manifests" / "rbac"))
            plane.kubectl("apply", "-k", str(ROOT / "manifests" / "gate"))
            ground.serve()
            ground.gate()

        wake_ups = ("--wake-up-queue-url", aws.wake_up_queue)
        log = ("--decisions", str(folder / "decisions.jsonl"))
        with (
            furnished(plane, folder, prepared),
            polling(plane, aws, folder / "poll.log", *wake_ups, *log),
        ):
            told(plane)
            print(
                f"  {EVENKEEL} history --from {folder}/decisions.jsonl\n  tail -F {folder}/*.log",
                flush=True,
            )
            told_of_bus(aws, storms.latest)
            storms.play(every)


@contextmanager
def furnished(
    plane: ControlPlane, folder: Path, prepare: Callable[[Ground], object]
) -> Iterator[None]:
    """Nodes and a namespace; workloads come when ``prepare`` has made what they need."""
    namespace = resource("Namespace", NAMESPACE, labels={names.MANAGED: "true"})
    plane.apply(SYSTEM, namespace, resource("ServiceAccount", "default", NAMESPACE))
    ground = Ground(plane, NAMESPACE, folder)
    ground.add_nodes(spot=0, on_demand=ON_DEMAND)
    try:
        prepare(ground)
        ground.apply(*WORKLOADS)
        yield
    finally:
        for webhook in ground.webhooks:
            webhook.kill()


def told(plane: ControlPlane) -> None:
    """Print how the cluster is reached."""
    print(
        f"Kubernetes {plane.binaries.name.partition('-')[0]}, with workloads in the namespace"
        f" {NAMESPACE}. kwok plays the kubelets: no container runs. Ctrl-C ends it.\n\n"
        f"  export KUBECONFIG={plane.kubeconfig} PATH={plane.binaries}:$PATH\n"
        f"  kubectl get pods -n {NAMESPACE} -o wide\n"
        f"  {EVENKEEL} watch",
        flush=True,
    )


def told_of_bus(aws: Aws, instance_id: str) -> None:
    """Print how an event of one's own gets there."""
    credentials = " ".join(f"{name}={value}" for name, value in CREDENTIALS.items())
    entries = shlex.quote(json.dumps([warning(instance_id)]))
    print(
        "\nEach storm goes over an event bus with the stack's own rules, and so does an event of"
        f" yours:\n\n  export {credentials}\n"
        f"  aws events put-events --endpoint-url {aws.endpoint} --entries {entries}",
        flush=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
