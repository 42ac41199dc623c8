"""WebSocket echo: round trips per second of the generator's own CPU time."""

import json
import signal
import subprocess
from pathlib import Path

from . import rivals
from .contenders import SCRIPTS, Contender, bare
from .measure import SERVER_CPU
from .throughput import compare


class EchoServer:
    """The WebSocket echo server."""

    def __enter__(self):
        program = rivals.find("websocket-echo")
        if not program:
            raise SystemExit("websocket-echo is not built: cargo build --release -p plimsoll-bench")
        self.process = subprocess.Popen(
            [program, "--cpu", str(SERVER_CPU)], stdout=subprocess.PIPE, text=True
        )
        self.port = port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self.url = f"ws://127.0.0.1:{port}/"
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


def _messages(_, scratch):
    metrics = json.loads((Path(scratch) / "summary.json").read_text())["metrics"]
    return metrics["ws_msgs_received"]["count"]


def plimsoll_websocket(file):
    """One message in flight per user."""
    return _echo("plimsoll run", "plimsoll", 1, file)


def _echo(name, program, in_flight, file="websocket.js"):
    return Contender(
        name,
        program,
        lambda url, connections, seconds, scratch: [
            *("run", "--quiet", "--summary-export", "summary.json"),
            # With --iterations, --duration limits the time that they may take (10 minutes by default).
            *("--vus", connections, "--iterations", connections, "--duration", f"{seconds + 60}s"),
            *("-e", f"URL={url}", "-e", f"SECONDS={seconds}", "-e", f"IN_FLIGHT={in_flight}"),
            SCRIPTS / file,
        ],
        _messages,
    )


def websocket(settings):
    """The same script for both: 100 users echo messages of 100 bytes."""
    return "\n\n".join(_messages_in_flight(count, settings) for count in (1, 10))


def _messages_in_flight(count, settings):
    rows = [
        bare("--websocket", 100, "--in-flight", count),
        _echo("plimsoll run", "plimsoll", count),
        _echo("k6", "k6", count),
    ]
    at_a_time = "one message" if count == 1 else f"{count} messages"
    title = f"WebSocket echo, 100 connections, {at_a_time} of 100 bytes in flight on each (`k6/ws`)"
    goals = [("plimsoll run", "k6", 5)]
    return compare(title, EchoServer, rows, "k6", goals, settings)
