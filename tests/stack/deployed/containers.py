"""A container engine that `sam local invoke` takes for Docker: a container is a process beside it.

It runs what SAM asks for: the emulator of Lambda's runtime interface that SAM brings along, with
Lambda's runtime for Python, the function's folder and the built layer. Of Docker's API it knows
what SAM asks: https://docs.docker.com/reference/api/engine/
"""

import json
import os
import struct
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

from tests.kit.control_plane import ROOT
from tests.kit.processes import ended
from tests.stack.deployed.ministack import BUILT, RUNTIME
from tests.stack.deployed.process import free_port

RAPID: Final = ROOT / ".venv-sam/lib/python3.13/site-packages/samcli/local/rapid"
EMULATOR: Final = (
    RAPID / f"aws-lambda-rie-{'arm64' if os.uname().machine == 'aarch64' else 'x86_64'}"
)
LAYER: Final = BUILT.parent / "Layer" / "python"
STDERR: Final = 2


@dataclass(slots=True)
class Container:
    """What SAM has asked for, variables that it has ``besides``, and the process that it became."""

    asked: Mapping[str, Any]
    besides: Mapping[str, str]
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Run it where SAM looks for its port."""
        ((binding,),) = (
            ports for ports in self.asked["HostConfig"]["PortBindings"].values() if ports
        )
        (folder,) = (
            bind.rsplit(":", 2)[0]
            for bind in self.asked["HostConfig"]["Binds"]
            if bind.rsplit(":", 2)[1] == "/var/task"
        )
        its = dict(each.split("=", 1) for each in self.asked["Env"])
        self.process = subprocess.Popen(
            [
                EMULATOR,
                "--runtime-interface-emulator-address",
                f"127.0.0.1:{binding['HostPort']}",
                "--runtime-api-address",
                f"127.0.0.1:{free_port()}",
                *(RUNTIME, "-m", "awslambdaric", its["AWS_LAMBDA_FUNCTION_HANDLER"]),
            ],
            env={
                **its,
                **self.besides,
                "LAMBDA_TASK_ROOT": folder,
                "PATH": os.defpath,
                "PYTHONPATH": str(LAYER),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    @property
    def status(self) -> str:
        """The word that Docker has for it."""
        return "created" if self.process is None else "running"

    def lines(self) -> Iterator[bytes]:
        """What it prints, until it ends."""
        assert self.process is not None
        assert self.process.stdout is not None
        with suppress(ValueError):  # it was ended meanwhile
            yield from self.process.stdout

    def end(self) -> None:
        """End it, if it runs."""
        if self.process is not None:
            ended(self.process)
            if self.process.stdout is not None:
                self.process.stdout.close()


class Engine(ThreadingHTTPServer):
    """The engine. ``url`` is its DOCKER_HOST; containers have the variables ``besides``."""

    daemon_threads = True

    def __init__(self, besides: Mapping[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), _Api)
        self.besides = besides
        self.url = f"tcp://127.0.0.1:{self.server_port}"
        self.containers: dict[str, Container] = {}


class _Api(BaseHTTPRequestHandler):
    """Answers requests."""

    protocol_version = "HTTP/1.1"
    server: Engine

    def do_GET(self) -> None:
        """Of the engine, of images, each of which is there, and of containers."""
        match self._path():
            case ["_ping"]:
                self._answer(200, text="OK")
            case ["version"]:
                self._answer(200, {"ApiVersion": "1.44", "MinAPIVersion": "1.24"})
            case ["images", "json"]:
                self._answer(200, [])
            case ["images", *_]:
                self._answer(200, {"Id": "sha256:0", "RepoTags": [], "Config": {}})
            case ["containers", name, "json"] if name in self.server.containers:
                state = {"Status": self.server.containers[name].status}
                self._answer(200, {"Id": name, "Config": {"Tty": False}, "State": state})
            case _:
                self._answer(404, {"message": f"nothing is at {self.path}"})

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        """Images are taken for built; containers are made, started, attached to and stopped."""
        asked = self._body()
        match self._path():
            case ["build"]:
                self._answer(200, text='{"stream":"Successfully built 0"}\n')
            case ["images", "create"]:
                self._answer(200, text='{"status":"there"}\n')
            case ["containers", "create"]:
                name = f"container-{len(self.server.containers)}"
                self.server.containers[name] = Container(json.loads(asked), self.server.besides)
                self._answer(201, {"Id": name, "Warnings": []})
            case ["containers", name, "start"]:
                self.server.containers[name].start()
                self._answer(204)
            case ["containers", name, "attach"]:
                self._attach(self.server.containers[name])
            case ["containers", name, _]:
                self.server.containers[name].end()
                self._answer(204)
            case _:
                self._answer(404, {"message": f"nothing is at {self.path}"})

    def do_DELETE(self) -> None:
        """A container ends."""
        _, name, *_ = self._path()
        self.server.containers[name].end()
        self._answer(204)

    def handle(self) -> None:
        """SAM ends without a word to those that it is connected to."""
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def _path(self) -> list[str]:
        """The parts of the path behind the version."""
        parts = self.path.partition("?")[0].strip("/").split("/")
        return parts[1:] if parts[0].startswith("v1.") else parts

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        whole = b""
        while size := int(self.rfile.readline(), 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _answer(self, status: int, body: object = None, *, text: str = "") -> None:
        data = (text if body is None else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if body is None else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _attach(self, container: Container) -> None:
        """What it prints, each line in a frame of its own, as a stream that begins here."""
        self.close_connection = True
        self.send_response(101, "UPGRADED")
        self.send_header("Content-Type", "application/vnd.docker.raw-stream")
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", "tcp")
        self.end_headers()
        for line in container.lines():
            self.wfile.write(struct.pack(">BxxxL", STDERR, len(line)) + line)
            self.wfile.flush()


@contextmanager
def engine(besides: Mapping[str, str]) -> Iterator[Engine]:
    """An engine, whose containers end with it."""
    with Engine(besides) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            for each in server.containers.values():
                each.end()
