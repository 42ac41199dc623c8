"""gRPC unary calls: calls per second of the generator's own CPU time."""

import json
import re
import signal
import subprocess
from pathlib import Path

from . import rivals
from .contenders import SCRIPTS, Contender
from .measure import SERVER_CPU
from .throughput import compare

METHOD = "helloworld.Greeter/SayHello"
PROTO = SCRIPTS / "hello.proto"
DATA = '{"name":"world"}'


class GrpcServer:
    """The fixed-response gRPC server."""

    def __enter__(self):
        program = rivals.find("grpc-fixed")
        if not program:
            raise SystemExit("grpc-fixed is not built: cargo build --release -p plimsoll-bench")
        self.process = subprocess.Popen(
            [program, "--cpu", str(SERVER_CPU)], stdout=subprocess.PIPE, text=True
        )
        self.port = port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self.url = f"127.0.0.1:{port}"
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


def plimsoll_grpc(name, flags):
    return Contender(
        name,
        "plimsoll",
        lambda address, users, seconds, _: [
            *("grpc", "--plaintext", "--proto", PROTO, "--data", DATA, "-u", users, *flags),
            *("-d", f"{seconds}s", "--json", address, METHOD),
        ],
        lambda cost, _: json.loads(cost.stdout)["status_codes"]["OK"],
    )


def _ghz(name, connections):
    return Contender(
        name,
        "ghz",
        lambda address, users, seconds, _: [
            *("--insecure", "--proto", PROTO, "--call", METHOD, "-d", DATA, "-c", users),
            *("--connections", connections, "-z", f"{seconds}s", "-O", "summary", address),
        ],
        lambda cost, _: int(re.search(r"\[OK\]\s+(\d+) responses", cost.stdout).group(1)),
    )


def _script(name, program):
    def calls(_, scratch):
        metrics = json.loads((Path(scratch) / "summary.json").read_text())["metrics"]
        return metrics["checks"]["passes"]

    return Contender(
        name,
        program,
        lambda address, users, seconds, scratch: [
            *("run", "--quiet", "--summary-export", "summary.json"),
            *("--vus", users, "--duration", f"{seconds}s"),
            *("-e", f"ADDRESS={address}", "-e", f"PROTO={SCRIPTS}", SCRIPTS / "grpc.js"),
        ],
        calls,
    )


def grpc(settings):
    """100 concurrent calls, over a connection each and over one for all."""
    rows = [
        plimsoll_grpc("plimsoll grpc, 100 connections", []),
        plimsoll_grpc("plimsoll grpc, one connection", ["--connections", 1]),
        _ghz("ghz, 100 connections", 100),
        _ghz("ghz, one connection", 1),
        _script("plimsoll run, invoke + check", "plimsoll"),
        _script("k6, invoke + check", "k6"),
    ]
    goals = [
        ("plimsoll grpc, 100 connections", "ghz, 100 connections", 3),
        ("plimsoll grpc, one connection", "ghz, one connection", 2),
        ("plimsoll grpc, 100 connections", "k6, invoke + check", 6),
        ("plimsoll run, invoke + check", "k6, invoke + check", 6),
    ]
    title = "gRPC unary, closed loop, 100 concurrent calls"
    return compare(title, GrpcServer, rows, "ghz, 100 connections", goals, settings)
