"""The cells of the churn soak: a server, a load command, and the memory of the generator."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from . import rivals
from .flatness import judge
from .grpc import GrpcServer
from .servers import Nginx, certificate, free_port, wait_for
from .websocket import EchoServer

PROTOCOLS = ["http1", "h2c", "h2", "http3", "grpc", "websocket"]
CONNECTIONS = ["persistent", "new", "refused", "reset", "unread"]
MODES = ["epoll", "uring"]
USERS = 4
HERE = Path(__file__).resolve().parent
SCRIPTS = HERE.parent / "scripts"
VERSION_FLAGS = {"http1": ["--h1"], "h2c": ["--h2c"], "h2": ["--h2"], "http3": ["--h3"]}


@dataclass
class Cell:
    """The memory and the result of one run."""

    name: str
    requests: int
    failed: int
    early: int
    late: int
    is_flat: bool
    problem: str = ""

    def row(self):
        memory = self.problem or ("flat" if self.is_flat else "**grows**")
        sizes = (f"{size / 1e6:.1f}" for size in (self.early, self.late))
        return (self.name, f"{self.requests:,}", f"{self.failed:,}", *sizes, memory)


def run(protocol, connection, io, seconds, warm_up):
    """Runs one cell."""
    name = f"{protocol}, {connection}, {io}"
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        address = stack.enter_context(_server(protocol, connection, folder))
        program = rivals.find("plimsoll")
        if not program:
            raise SystemExit("plimsoll is not built; leave --no-build out")
        command, env = _command(protocol, connection, address, seconds, folder)
        env = {**os.environ, **env, "PLIMSOLL_IO": io, "NO_COLOR": "1"}
        with open(folder / "out", "w+") as out, open(folder / "err", "w+") as err:
            process = subprocess.Popen(
                [program, *map(str, command)], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env
            )
            samples = _watch(process, seconds)
        requests, failed = _counts(command[0], folder)
        problem = ""
        if process.returncode not in (0, 1):
            problem = f"exit status {process.returncode}"
            print((folder / "err").read_text()[-2000:], file=sys.stderr)
        elif requests == 0:
            problem = "no requests"
        try:
            early, late, flat = judge(samples, 1, warm_up)
        except ValueError as error:
            early, late, flat, problem = 0, 0, False, problem or str(error)
        return Cell(name, requests, failed, early, late, flat and not problem, problem)


def _watch(process, seconds):
    """The resident memory of a process every second, until it ends."""
    samples, status = [], Path(f"/proc/{process.pid}/status")
    deadline = time.monotonic() + seconds + 60
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            break
        with contextlib.suppress(OSError, StopIteration):
            lines = status.read_text().splitlines()
            resident = next(line for line in lines if line.startswith("VmRSS:"))
            # In the last seconds of a run, its summary is created.
            if len(samples) < seconds:
                samples.append(int(resident.split()[1]) * 1024)
        time.sleep(1)
    return samples


def _counts(kind, folder):
    """Requests and failed ones; for scripts, iterations or messages received, and failed checks."""
    try:
        if kind == "run":
            metrics = json.loads((folder / "summary.json").read_text())["metrics"]
            checks = metrics.get("checks", {})
            messages = metrics.get("ws_msgs_received", {}).get("count", 0)
            return max(metrics["iterations"]["count"], messages), checks.get("fails", 0)
        result = json.loads((folder / "out").read_text())
        return result["requests"], result["failed"]
    except (OSError, ValueError, KeyError):
        return 0, 0


def _command(protocol, connection, address, seconds, folder):
    """The load command for a cell, and its environment."""
    if protocol == "websocket" or (protocol == "grpc" and connection in ("new", "unread")):
        run = ["run", "-q", "--vus", USERS, "--duration", f"{seconds}s"]
        run += ["--summary-export", folder / "summary.json"]
        env = {"CONNECTION": connection, "SECONDS": str(seconds)}
        env |= {"URL": f"ws://{address}/", "ADDRESS": address, "PROTO": str(SCRIPTS)}
        return [*run, SCRIPTS / f"churn_{protocol}.js"], env
    if protocol == "grpc":
        load = ["grpc", "-q", "--json", "--plaintext", "--proto", SCRIPTS / "hello.proto"]
        load += ["-c", USERS, "-d", f"{seconds}s", "--timeout", "1s"]
        fresh = [] if connection == "persistent" else ["--no-keepalive"]
        return [*load, *fresh, address, "helloworld.Greeter/SayHello"], {}
    # An endless response ends with its time limit; so does a QUIC handshake without a response.
    limit = "100ms" if protocol == "http3" and connection in ("refused", "unread") else "1s"
    load = ["http", "-q", "--json", "-c", USERS, "-d", f"{seconds}s", "--timeout", limit]
    load += VERSION_FLAGS[protocol]
    if connection != "persistent":
        load.append("--no-keepalive")
    scheme = "http"
    if protocol in ("h2", "http3"):
        scheme = "https"
        load.append("--insecure")
    path = "/big" if protocol == "http3" and connection == "unread" else "/"
    return [*load, f"{scheme}://{address}{path}"], {}


@contextlib.contextmanager
def _server(protocol, connection, folder):
    """The server of a cell; gives its HOST:PORT."""
    if connection == "refused":
        # Bound without listening: nothing else can take the port in the meantime.
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            yield f"127.0.0.1:{taken.getsockname()[1]}"
    elif connection in ("persistent", "new") or (protocol, connection) == ("http3", "unread"):
        with _well_behaved(protocol, folder) as address:
            yield address
    else:
        certificate(folder)
        command = [sys.executable, HERE / "odd_peers.py", connection, protocol, folder]
        with _started([*command], stdout=subprocess.PIPE, text=True) as process:
            yield process.stdout.readline().split()[-1]


@contextlib.contextmanager
def _well_behaved(protocol, folder):
    if protocol == "http3":
        with _caddy(folder) as address:
            yield address
        return
    server = {
        "http1": lambda: Nginx(tls=False, http2=False),
        "h2c": lambda: Nginx(tls=False, http2=True),
        "h2": lambda: Nginx(tls=True, http2=True),
        "grpc": GrpcServer,
        "websocket": EchoServer,
    }[protocol]
    with server() as running:
        yield f"127.0.0.1:{running.port}"


@contextlib.contextmanager
def _caddy(folder):
    """Caddy over HTTP/3, with a short response and an endless one."""
    certificate(folder)
    port = free_port()
    with open(folder / "big", "wb") as big:
        big.truncate(1 << 32)
    (folder / "Caddyfile").write_text(
        f"{{\n admin off\n auto_https off\n}}\nhttps://localhost:{port} {{\n bind 127.0.0.1\n"
        f" tls {folder}/cert.pem {folder}/key.pem\n root * {folder}\n file_server /big\n"
        " respond / hello\n}\n"
    )
    program = shutil.which("caddy")
    if not program:
        raise SystemExit("caddy is not installed; on Debian: apt-get install caddy")
    env = {**os.environ, "HOME": str(folder)}
    command = [program, "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]
    with _started(command, env=env, stderr=subprocess.DEVNULL) as process:
        wait_for(port, process)
        yield f"localhost:{port}"


@contextlib.contextmanager
def _started(command, **how):
    process = subprocess.Popen(list(map(str, command)), **how)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
