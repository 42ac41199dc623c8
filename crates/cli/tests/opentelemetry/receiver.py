"""Receives OpenTelemetry metrics over gRPC and HTTP, with the classes that OpenTelemetry generates for Python."""

import concurrent.futures
import http.server
import json
import os
import sys
import threading

import grpc
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as service
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as stub

lock = threading.Lock()
received = open("received.jsonl", "w")


def keep(request, headers):
    with lock:
        line = {"headers": headers, "request": MessageToDict(request)}
        received.write(json.dumps(line) + "\n")
        received.flush()


class Calls(stub.MetricsServiceServicer):
    def Export(self, request, context):
        keep(request, dict(context.invocation_metadata()))
        return service.ExportMetricsServiceResponse()


class Posts(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        keep(service.ExportMetricsServiceRequest.FromString(body), headers | {":path": self.path})
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


calls = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
stub.add_MetricsServiceServicer_to_server(Calls(), calls)
grpc_port = calls.add_insecure_port("127.0.0.1:0")
calls.start()
posts = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Posts)
threading.Thread(target=posts.serve_forever, daemon=True).start()
with open("ports.new", "w") as ports:
    print(grpc_port, posts.server_port, file=ports)
os.rename("ports.new", "ports")
sys.stdin.read()
