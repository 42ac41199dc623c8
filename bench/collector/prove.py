#!/usr/bin/env python3
"""Sends runs to a real OpenTelemetry collector, over gRPC and HTTP, and compares the received figures with the printed ones.

    bench/collector/prove.py [PLIMSOLL]

Building the collector needs Go 1.25 or newer and takes a few minutes. To use an existing one, set COLLECTOR to its path.
The tests use a smaller receiver.
"""

import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from harness.go_programs import build  # noqa: E402
from harness.servers import free_port  # noqa: E402

ITERATIONS = 2000
SCRIPT = """
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter, Rate, Trend } from 'k6/metrics';
const size = new Trend('size'), half = new Counter('half'), quarter = new Rate('quarter');
export const options = { vus: 4, iterations: %d, summaryTrendStats: ['count', 'avg', 'min', 'max', 'p(95)'] };
export default function () {
  http.get(__ENV.SERVER);
  size.add(exec.scenario.iterationInTest + 1); half.add(0.5); quarter.add(exec.scenario.iterationInTest %% 4 === 0);
}
""" % ITERATIONS


class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # The trace context of each request.
    contexts = []

    def do_GET(self):
        self.contexts.append(self.headers["traceparent"])
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *arguments):
        pass


def last_points(file):
    """The points of each metric in the last request that has it."""
    metrics = {}
    for line in file.read_text().splitlines():
        for resource in json.loads(line)["resourceMetrics"]:
            for metric in resource["scopeMetrics"][0]["metrics"]:
                data = metric.get("sum") or metric.get("exponentialHistogram") or metric.get("gauge")
                metrics[metric["name"]] = data["dataPoints"]
    return metrics


def spans(file):
    """The trace context of each span."""
    found = []
    for line in file.read_text().splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            found += [f"00-{span['traceId']}-{span['spanId']}-01" for span in resource["scopeSpans"][0]["spans"]]
    return found


def prove(plimsoll, collector, folder, server, protocol):
    ports = {"grpc": free_port(), "http": free_port()}
    settings = {
        "receivers": {"otlp": {"protocols": {name: {"endpoint": f"127.0.0.1:{port}"} for name, port in ports.items()}}},
        "exporters": {"jsonfile": {}},
        "service": {
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {name: {"receivers": ["otlp"], "exporters": ["jsonfile"]} for name in ("metrics", "traces")},
        },
    }
    (folder / "settings.yaml").write_text(json.dumps(settings))
    (folder / "script.js").write_text(SCRIPT)
    received, traces = folder / f"metrics-{protocol}", folder / f"traces-{protocol}"
    Hello.contexts.clear()
    process = subprocess.Popen(
        [collector, "--config", f"file:{folder}/settings.yaml"],
        env=os.environ | {"METRICS": str(received), "TRACES": str(traces)},
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.time() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", ports[protocol])).close()
                break
            except OSError:
                if time.time() > deadline:
                    raise
                time.sleep(0.1)
        address = f"127.0.0.1:{ports['grpc']}"
        if protocol == "http":
            address = f"http://127.0.0.1:{ports['http']}/v1/metrics"
        command = [plimsoll, "run", "--quiet", "--out", f"opentelemetry={address}", "--summary-export", "summary.json"]
        command += ["--traces-output", f"otel=127.0.0.1:{ports[protocol]},proto={protocol}"]
        command += ["-e", f"SERVER={server}", "script.js"]
        environment = os.environ | {"K6_OTEL_GRPC_EXPORTER_INSECURE": "true", "K6_OTEL_EXPORT_INTERVAL": "200ms"}
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
    printed = json.loads((folder / "summary.json").read_text())["metrics"]
    points = last_points(received)
    rows = [("http_reqs", points["http_reqs"][0]["asDouble"], ITERATIONS)]
    rows.append(("half", points["half"][0]["asDouble"], ITERATIONS / 2))
    conditions = {point["attributes"][-1]["value"]["stringValue"]: int(point["asInt"]) for point in points["quarter.total"]}
    rows.append(("quarter, nonzero", conditions["nonzero"], ITERATIONS / 4))
    rows.append(("quarter, zero", conditions["zero"], ITERATIONS * 3 / 4))
    for name in ("http_req_duration", "size"):
        point = points[name][0]
        rows.append((f"{name}, count", int(point["count"]), printed[name]["count"]))
        rows.append((f"{name}, mean", point["sum"] / int(point["count"]), printed[name]["avg"]))
        rows.append((f"{name}, max", point["max"], printed[name]["max"]))
        rank, seen, place = 0.95 * int(point["count"]), 0, -1
        counts = [int(count) for count in point["positive"]["bucketCounts"]]
        while seen < rank:
            place += 1
            seen += counts[place]
        bound = 2 ** ((point["positive"].get("offset", 0) + place + 1) / 2 ** point["scale"])
        rows.append((f"{name}, p(95), bucket", bound, printed[name]["p(95)"]))
    contexts = spans(traces)
    rows.append(("spans", len(contexts), ITERATIONS))
    rows.append(("spans whose context the server got", len(set(contexts) & set(Hello.contexts)), ITERATIONS))
    failed = 0
    for name, got, expected in rows:
        tolerance = 0.0906 if "bucket" in name else 1e-9
        good = abs(got - expected) <= tolerance * abs(expected)
        failed += not good
        print(f"{protocol}: {name}: received {got:.9g}, printed {expected:.9g}: {'equal' if good else 'DIFFERENT'}")
    return failed


def main():
    plimsoll = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/plimsoll").resolve())
    hello = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=hello.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        collector = build(HERE, folder, "collector")
        server = f"http://127.0.0.1:{hello.server_port}/"
        failed = sum(prove(plimsoll, collector, folder, server, protocol) for protocol in ("grpc", "http"))
    sys.exit(1 if failed else 0)


main()
