"""Long runs at full speed: resident memory must be flat."""

import sys
from concurrent.futures import ThreadPoolExecutor

from .contenders import plimsoll_http, script
from .flatness import judge
from .grpc import GrpcServer, plimsoll_grpc
from .servers import FixedServer
from .tables import megabytes, table
from .websocket import EchoServer, plimsoll_websocket

USERS = 100
# Seconds between two samples of the memory.
EVERY = 0.5


def _runs():
    """A run: protocol and connections, the generator, its server."""
    url = script("plimsoll run", "plimsoll", "simple.js")
    return [
        ("one URL", plimsoll_http(), FixedServer),
        ("one URL", url, FixedServer),
        ("a URL for each request", script("plimsoll run", "plimsoll", "distinct.js"), FixedServer),
        ("a new connection for each request", plimsoll_http(flags=["--no-keepalive"]), FixedServer),
        (
            "new connections for each iteration",
            script("plimsoll run", "plimsoll", "simple.js", ["--no-vu-connection-reuse"]),
            FixedServer,
        ),
        ("gRPC", plimsoll_grpc("plimsoll grpc", []), GrpcServer),
        ("gRPC, a new connection for each call", plimsoll_grpc("plimsoll grpc", ["--no-keepalive"]), GrpcServer),
        ("WebSocket echo", plimsoll_websocket("websocket.js"), EchoServer),
        ("WebSocket, a new connection for each 10 messages", plimsoll_websocket("websocket-new.js"), EchoServer),
    ]


def soak(seconds, modes, at_once=1):
    """Runs each over each kernel interface; returns the table, and how many runs are not flat."""
    runs = [(what, contender, server, io) for what, contender, server in _runs() for io in modes]
    with ThreadPoolExecutor(at_once) as together:
        rows = list(together.map(lambda run: _soak(*run, seconds), runs))
    headings = ["generator", "what it does", "`--io`", "requests", "highest of the first third, MB", "of the last third, MB", "memory"]
    title = f"### Memory over {seconds / 60:g} minutes at full speed, {USERS} users, {at_once} at a time"
    return f"{title}\n\n{table(headings, rows)}\n", sum(row[-1] != "flat" for row in rows)


def _soak(what, contender, server, io, seconds):
    with server() as running:
        requests, cost = contender.run(
            running.url, USERS, seconds, {"PLIMSOLL_IO": io}, sample_every=EVERY
        )
    try:
        *sizes, flat = judge(cost.resident_bytes, EVERY)
    except ValueError as error:
        sizes, flat = [0, 0], False
        print(error, file=sys.stderr)
    if not requests:
        print(cost.stderr[-2000:], file=sys.stderr)
    memory = "no requests" if not requests else "flat" if flat else "**grows**"
    row = (contender.name, what, io, f"{requests:,}", *map(megabytes, sizes), memory)
    print(" · ".join(row), file=sys.stderr, flush=True)
    return row
