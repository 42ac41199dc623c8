"""Receives OpenTelemetry metrics and traces over gRPC and HTTP, with the classes that OpenTelemetry generates for Python.

It also serves a few pages, and keeps the trace context of each request for them.
"""

import base64
import concurrent.futures
import http.server
import json
import os
import sys
import threading

import grpc
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as metrics_stub
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as traces_stub

lock = threading.Lock()
received = open("received.jsonl", "w")
served = open("served.jsonl", "w")


def keep(file, line):
    with lock:
        file.write(json.dumps(line) + "\n")
        file.flush()


def keep_received(headers, request):
    request = MessageToDict(request)
    for resource in request.get("resourceSpans", []):
        for span in resource["scopeSpans"][0]["spans"]:
            # In the digits of the header, not in base64.
            for name in {"traceId", "spanId", "parentSpanId"} & span.keys():
                span[name] = base64.b64decode(span[name]).hex()
    keep(received, {"headers": headers, "request": request})


class MetricsCalls(metrics_stub.MetricsServiceServicer):
    def Export(self, request, context):
        keep_received(dict(context.invocation_metadata()), request)
        return metrics.ExportMetricsServiceResponse()


class TracesCalls(traces_stub.TraceServiceServicer):
    def Export(self, request, context):
        keep_received(dict(context.invocation_metadata()), request)
        return traces.ExportTraceServiceResponse()


class Requests(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        kind = traces.ExportTraceServiceRequest if "traces" in self.path else metrics.ExportMetricsServiceRequest
        keep_received(headers | {":path": self.path}, kind.FromString(body))
        self.respond(200)

    def do_GET(self):
        keep(served, {"path": self.path, "traceparent": self.headers.get_all("traceparent")})
        if self.path == "/moved":
            self.respond(302, ("Location", "/page"))
        else:
            self.respond(404 if self.path == "/missing" else 200)

    def respond(self, status, *headers):
        self.send_response(status)
        self.send_header("Content-Type", "application/x-protobuf")
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Shop(grpc.GenericRpcHandler):
    """shop.Shop/Buy responds with the request's bytes; shop.Shop/Fail fails."""

    def service(self, details):
        context = [value for name, value in details.invocation_metadata if name == "traceparent"]
        keep(served, {"path": details.method, "traceparent": context or None})

        def respond(request, context):
            if details.method.endswith("Fail"):
                context.abort(grpc.StatusCode.NOT_FOUND, "sold out")
            return request

        return grpc.unary_unary_rpc_method_handler(respond)


calls = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
metrics_stub.add_MetricsServiceServicer_to_server(MetricsCalls(), calls)
traces_stub.add_TraceServiceServicer_to_server(TracesCalls(), calls)
calls.add_generic_rpc_handlers((Shop(),))
grpc_port = calls.add_insecure_port("127.0.0.1:0")
calls.start()
requests = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Requests)
threading.Thread(target=requests.serve_forever, daemon=True).start()
with open("ports.new", "w") as ports:
    print(grpc_port, requests.server_port, file=ports)
os.rename("ports.new", "ports")
sys.stdin.read()
