#!/usr/bin/env python3
"""Compares how late iterations start at 20,000/s without outputs and with three of them, and with the live page.

    bench/outputs.py                       12 rounds of three runs of 10 s; takes about eight minutes
    bench/outputs.py --page                the three outputs, and the live page with 20 viewers, one of which stalls
    bench/outputs.py --page --out ''       the page alone
    bench/outputs.py --rounds 2 --seconds 3
    bench/outputs.py --out json=/dev/null  another output instead of the three
    bench/outputs.py --cpus 0,1            the generator may use both CPUs, for its outputs, and has one worker thread

Build the programs first: cargo build --release --package plimsoll --package plimsoll-bench

The script requests a fixed response over HTTP. The outputs are Prometheus (Debian's), OpenTelemetry over HTTP and StatsD; the
receivers of the latter two discard the data. The server, the receivers and the viewers share CPU 0; the generator has CPU 1.
The verdicts of the runs and the outputs' warnings follow the table.

A round has two runs without outputs and one with them, in a different order each time. Keep the machine otherwise idle. Prints
a Markdown table: medians of the rounds, with the smallest and the largest value, and the ratios to the first run without outputs
of the same round. The two runs without outputs differ only by noise. So a difference is within noise if the median ratio with
outputs is within the range of their ratios.
"""

import argparse
import collections
import http.server
import itertools
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import measure, rivals  # noqa: E402
from harness.measure import GENERATOR_CPU, SERVER_CPU  # noqa: E402
from harness.servers import FixedServer, free_port  # noqa: E402
from harness.tables import table  # noqa: E402

SCRIPT = """
import http from 'k6/http';
export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['med', 'p(99)', 'p(99.9)', 'max'],
  scenarios: { open: { executor: 'constant-arrival-rate', rate: %d, duration: '%ds', preAllocatedVUs: 500 } },
};
export default function () { http.get(__ENV.URL); }
"""
FIGURES = ("med", "p(99)", "p(99.9)", "max")
KINDS = ("without", "again", "with")


class Discard(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Receivers:
    """Prometheus, and receivers that discard their input, on the server's CPU."""

    def __enter__(self):
        program = shutil.which("prometheus") or sys.exit("install Prometheus: apt-get install prometheus")
        self.folder = tempfile.TemporaryDirectory()
        (Path(self.folder.name) / "prometheus.yml").write_text("global: {}\n")
        port = free_port()
        self.prometheus = subprocess.Popen(
            ["taskset", "-c", str(SERVER_CPU), program]
            + [f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver"]
            + ["--enable-feature=native-histograms"],
            cwd=self.folder.name,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ready = f"http://127.0.0.1:{port}/-/ready"
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(ready).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    sys.exit("Prometheus did not start")
                time.sleep(0.1)
        os.sched_setaffinity(0, {SERVER_CPU})
        self.posts = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Discard)
        threading.Thread(target=self.posts.serve_forever, daemon=True).start()
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", 0))
        threading.Thread(target=self.drop_datagrams, daemon=True).start()
        self.outputs = [
            f"experimental-prometheus-rw=http://127.0.0.1:{port}/api/v1/write",
            f"opentelemetry=http://127.0.0.1:{self.posts.server_port}/v1/metrics",
            f"statsd=127.0.0.1:{self.datagrams.getsockname()[1]}",
        ]
        return self

    def drop_datagrams(self):
        while True:
            self.datagrams.recv(65536)

    def __exit__(self, *_):
        self.posts.shutdown()
        self.prometheus.terminate()
        self.prometheus.wait()
        self.folder.cleanup()


class Viewers:
    """Viewers of the live page of one run. All read it to its end, except the last one, which stalls."""

    def __init__(self, count):
        self.port = free_port()
        self.count = count
        self.received = [0] * count
        self.over = threading.Event()

    def __enter__(self):
        self.threads = [threading.Thread(target=self.watch, args=(number,), daemon=True) for number in range(self.count)]
        for thread in self.threads:
            thread.start()
        return self

    def watch(self, number):
        stalls = number == self.count - 1
        connection = None
        while connection is None and not self.over.is_set():
            connection = socket.socket()
            connection.settimeout(30)
            if stalls:
                # Otherwise the kernel would receive the whole run for it.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            try:
                connection.connect(("127.0.0.1", self.port))
            except OSError:
                connection.close()
                connection = None
                time.sleep(0.02)
        if connection is None:
            return
        with connection:
            connection.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            if stalls:
                self.received[number] = len(connection.recv(1))
                self.over.wait()
                return
            try:
                while chunk := connection.recv(65536):
                    self.received[number] += len(chunk)
            except OSError as error:
                print(f"viewer {number}: {error}", file=sys.stderr)

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()
        blind = self.received.count(0)
        if blind:
            sys.exit(f"{blind} of {self.count} viewers received nothing")
        print(f"{self.count} viewers received {sum(self.received) / 1e6:.1f} MB", file=sys.stderr)


def run(program, script, url, outputs, viewers, cpus):
    command = [program, "run", "--json", "--threads", "1", "-e", f"URL={url}"]
    for output in outputs:
        command += ["--out", output]
    if viewers == 0:
        return read(measured([*command, script], cpus))
    with Viewers(viewers) as watching:
        return read(measured([*command, f"--web={watching.port}", script], cpus))


def measured(command, cpus):
    return measure.run(command, cpu=cpus, env={"K6_PROMETHEUS_RW_PUSH_INTERVAL": "1s", "K6_OTEL_EXPORT_INTERVAL": "1s"})


def read(cost):
    try:
        result = json.loads(cost.stdout)
    except ValueError:
        sys.exit(f"the run failed: {cost.stderr[-500:]}")
    lag = result["plimsoll"]["metrics"]["iteration_send_lag"]["values"]
    figures = {name: lag[name] for name in FIGURES}
    figures["iterations/s"] = result["metrics"]["iterations"]["values"]["rate"]
    figures["CPUs used"] = cost.cpu_seconds / cost.wall_seconds
    figures["MB"] = cost.peak_rss_bytes / 1e6
    lost = [line for line in cost.stderr.splitlines() if "output " in line]
    return figures, result["plimsoll"]["verdict"]["level"], lost


def spread(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def rows(found):
    """The figures for each kind of run, and whether the difference is within noise."""
    lines = []
    for name in found["without"][0]:
        values = {kind: [figures[name] for figures in runs] for kind, runs in found.items()}
        ratios = {
            kind: [value / max(base, 1e-9) for value, base in zip(values[kind], values["without"], strict=True)]
            for kind in ("again", "with")
        }
        low, high = min(ratios["again"]), max(ratios["again"])
        is_noise = low <= statistics.median(ratios["with"]) <= high
        lines.append([name, *(spread(values[kind]) for kind in KINDS), *(spread(ratios[kind]) for kind in ratios), "yes" if is_noise else "no"])
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12, help="rounds (default 12)")
    parser.add_argument("--seconds", type=int, default=10, help="length of a round (default 10)")
    parser.add_argument("--rate", type=int, default=20000, help="iterations per second (default 20000)")
    parser.add_argument("--out", action="append", help="an output instead of the three; may be repeated")
    parser.add_argument("--page", action="store_true", help="serve the live page, too")
    parser.add_argument("--viewers", type=int, default=20, help="viewers of the page, one of which stalls (default 20)")
    parser.add_argument("--profile", default="release", help="Cargo profile of the program (default release)")
    parser.add_argument("--cpus", default=str(GENERATOR_CPU), help="CPUs of the generator (default 1)")
    args = parser.parse_args()
    rivals.use_profile(args.profile)
    program = rivals.find("plimsoll") or sys.exit(f"build plimsoll first: cargo build --profile {args.profile}")
    found = {kind: [] for kind in KINDS}
    verdicts = {kind: collections.Counter() for kind in KINDS}
    lost = []
    with Receivers() as receivers, FixedServer() as server, tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.js"
        script.write_text(SCRIPT % (args.rate, args.seconds))
        outputs = receivers.outputs if args.out is None else [output for output in args.out if output]
        orders = list(itertools.permutations(KINDS))
        for number in range(args.rounds):
            for kind in orders[number % len(orders)]:
                is_with = kind == "with"
                viewers = args.viewers if is_with and args.page else 0
                figures, verdict, complaints = run(program, script, server.url, outputs if is_with else [], viewers, args.cpus)
                found[kind].append(figures)
                verdicts[kind][verdict] += 1
                lost += complaints
                print(kind, verdict, figures, *complaints, file=sys.stderr)
    second = f"with outputs and a page with {args.viewers} viewers" if args.page else "with outputs"
    print(table(["", "without", "without, again", second, "ratio without, again", "ratio with", "within noise"], rows(found)))
    print()
    for kind in KINDS:
        print(f"Verdicts {kind}: " + ", ".join(f"{level} {count}" for level, count in sorted(verdicts[kind].items())))
    # Without a line here, the outputs sent everything.
    print("\n".join(lost))


if __name__ == "__main__":
    main()
