"""How long the functions take from nothing to ready for their first event, out of the built layer.

    python -m bench.cold_start LAYER [--runs N]

LAYER is the folder that a function sees as /opt/python. Every start is a process of its own, of a
bare interpreter (no site-packages, nothing written) that finds the layer, the function's folder and
the standard library, and nothing else: a dependency that the layer lacks is an ImportError here.

One start is the import of the function's module and the assembly of its handler with settings, TLS
and telemetry, all that precedes the first event. Beside it, in turns with it, so that both see the
same machine: the bare imports of what the functions need of others, and nothing made of them. What
a notice pays for later, the first clients of EC2 and SQS, is a figure of its own.

The times are wall clock; the CPU time beside them tells how much of it was waiting for a processor.
"""

import argparse
import base64
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final

import msgspec

from bench import conditions
from evenkeel import settings
from tests.kit.certificates import Authority

ROOT: Final = Path(__file__).resolve().parents[1]
RESULT: Final = ROOT / "bench" / "results" / "cold-start.json"
FUNCTIONS: Final = ("interruption", "handover")
RUNS: Final = 20
TIMEOUT: Final = 60

LIMIT_MS: Final = 300
LIMIT_RATIO: Final = 1.4
"""What import and assembly may take, at all and as a multiple of the bare imports."""

MEASURE: Final = """
import json, sys, time

sys.path[:0] = {path!r}
wall, cpu = time.perf_counter(), time.process_time()
{what}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
import resource
import botocore
assert botocore.__file__.startswith({path!r}[0]), botocore.__file__
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({{"wall_ms": wall * 1e3, "cpu_ms": cpu * 1e3, "memory_mb": peak}}))
"""

START: Final = """
import app
app.assemble()
"""

BARE: Final = """
import boto3
import botocore.session
import botocore.auth
import msgspec
import urllib3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics
"""

CLIENTS: Final = """
from evenkeel.adapters.aws.clients import CONFIG
import boto3
boto3.client("ec2", region_name="eu-central-1", config=CONFIG)
boto3.client("sqs", region_name="eu-central-1", config=CONFIG)
"""


class Sample(msgspec.Struct, frozen=True):
    """One process's figures."""

    wall_ms: float
    cpu_ms: float
    memory_mb: float


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Median and worst of all processes."""

    runs: int
    median_ms: float
    worst_ms: float
    median_cpu_ms: float
    worst_memory_mb: float


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What RESULT holds. ``ratio`` is each function's median by that of the bare imports."""

    conditions: conditions.Conditions
    layer_mb: float
    functions: Mapping[str, Figures]
    bare_imports: Figures
    first_clients: Figures
    ratio: Mapping[str, float]
    ratio_cpu: Mapping[str, float]
    wanted_ms: float = LIMIT_MS
    wanted_ratio: float = LIMIT_RATIO

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        slow = [
            f"{name} takes {each.median_ms:.0f} ms"
            for name, each in self.functions.items()
            if each.median_ms >= LIMIT_MS
        ]
        heavy = [
            f"{name} takes {ratio:.2f} x the bare imports"
            for name, ratio in self.ratio.items()
            if ratio > LIMIT_RATIO
        ]
        return [*slow, *heavy]


def main(arguments: Sequence[str]) -> int:
    """Measure, print, store. Exit code 1 if a start takes longer than wanted."""
    parser = argparse.ArgumentParser(prog="bench.cold_start")
    parser.add_argument("layer", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args(arguments)
    result = measure(options.layer.resolve(), options.runs)
    print(told(result))
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_bytes(msgspec.json.format(msgspec.json.encode(result)) + b"\n")
    for miss in result.missed:
        print(f"not as wanted: {miss}", file=sys.stderr)
    return 1 if result.missed else 0


def measure(layer: Path, runs: int) -> Result:
    """Start everything in turns, ``runs`` times; the first turn, from a cold disk, not counted."""
    what = {name: (START, ROOT / "functions" / name) for name in FUNCTIONS}
    what |= {"bare": (BARE, layer), "clients": (CLIENTS, layer)}
    samples: dict[str, list[Sample]] = {name: [] for name in what}
    for turn in range(runs + 1):
        for name, (code, folder) in what.items():
            sample = start(layer, folder, code)
            if turn:
                samples[name].append(sample)
    figures = {name: summary(each) for name, each in samples.items()}
    bare = figures["bare"]
    functions = {name: figures[name] for name in FUNCTIONS}
    return Result(
        conditions=conditions.look(simulated=True),
        layer_mb=round(sum(file.stat().st_size for file in layer.rglob("*")) / 1e6, 1),
        functions=functions,
        bare_imports=bare,
        first_clients=figures["clients"],
        ratio={n: round(f.median_ms / bare.median_ms, 2) for n, f in functions.items()},
        ratio_cpu={n: round(f.median_cpu_ms / bare.median_cpu_ms, 2) for n, f in functions.items()},
    )


def start(layer: Path, folder: Path, code: str) -> Sample:
    """One process. Raises CalledProcessError if the layer does not do."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", program(layer, folder, code)],
        env=environment(),
        cwd="/",
        stdout=subprocess.PIPE,
        timeout=TIMEOUT,
        check=True,
    )
    return msgspec.convert(json.loads(done.stdout.splitlines()[-1]), Sample)


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
        settings.shared.WAKE_UP_QUEUE_URL: f"{queue}/wake-ups",
        settings.connection.REGION: "eu-central-1",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
    }


def summary(samples: Sequence[Sample]) -> Figures:
    """The figures of one kind of start."""
    return Figures(
        runs=len(samples),
        median_ms=round(median(each.wall_ms for each in samples), 1),
        worst_ms=round(max(each.wall_ms for each in samples), 1),
        median_cpu_ms=round(median(each.cpu_ms for each in samples), 1),
        worst_memory_mb=round(max(each.memory_mb for each in samples), 1),
    )


def told(result: Result) -> str:
    """The result for people."""
    rows = [(name, each) for name, each in result.functions.items()]
    rows += [("bare imports", result.bare_imports), ("first clients", result.first_clients)]
    lines = [
        str(result.conditions),
        f"layer: {result.layer_mb:.1f} MB; {result.bare_imports.runs} processes of each kind",
        "",
        f"{'':<14}{'median':>10}{'worst':>10}{'CPU':>10}{'memory':>10}{'x bare':>9}{'CPU':>7}",
    ]
    for name, each in rows:
        line = (
            f"{name:<14}{each.median_ms:>7.0f} ms{each.worst_ms:>7.0f} ms"
            f"{each.median_cpu_ms:>7.0f} ms{each.worst_memory_mb:>7.0f} MB"
        )
        if name in result.ratio:
            line += f"{result.ratio[name]:>9.2f}{result.ratio_cpu[name]:>7.2f}"
        lines.append(line)
    return "\n".join([*lines, "", f"wanted: under {LIMIT_MS} ms, at most {LIMIT_RATIO} x bare"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
