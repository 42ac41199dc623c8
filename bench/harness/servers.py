"""The servers that generators are measured against, each pinned to its own CPU."""

import json
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from . import rivals
from .measure import SERVER_CPU

BODY = '{"id":1,"name":"' + "x" * 48 + '"}'


class FixedServer:
    """The fixed-response server; after it has stopped, `report` contains its own figures."""

    def __init__(self, delay=None, mark=None, capacity=None):
        self.arguments = ["--cpu", str(SERVER_CPU)]
        if delay:
            self.arguments += ["--delay", delay]
        if capacity:
            self.arguments += ["--capacity", capacity]
        if mark:
            self.arguments += ["--mark", str(mark)]
        self.report = {}

    def __enter__(self):
        program = rivals.find("fixed-server")
        if not program:
            raise SystemExit("fixed-server is not built: cargo build --release -p plimsoll-bench")
        self.process = subprocess.Popen(
            [program, *self.arguments], stdout=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self.url = f"http://127.0.0.1:{self.port}/"
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        said, _ = self.process.communicate(timeout=30)
        self.report = json.loads(said)


class Nginx:
    """nginx with one worker, a constant response, and TLS 1.3 or cleartext HTTP/2."""

    def __init__(self, *, tls, http2):
        self.tls = tls
        self.http2 = http2

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="bench-nginx-"))
        self.port = free_port()
        security = ""
        if self.tls:
            certificate(self.folder)
            security = (
                f"ssl_certificate {self.folder}/cert.pem; "
                f"ssl_certificate_key {self.folder}/key.pem; ssl_protocols TLSv1.3;"
            )
        how = " ".join(word for word, on in (("ssl", self.tls), ("http2", self.http2)) if on)
        (self.folder / "nginx.conf").write_text(
            f"""
            daemon off; pid {self.folder}/pid; error_log stderr crit;
            worker_processes 1;
            events {{ worker_connections 30000; multi_accept on; }}
            http {{
              access_log off; server_tokens off; default_type application/json;
              keepalive_requests 1000000000; keepalive_timeout 600s;
              client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/proxy;
              fastcgi_temp_path {self.folder}/f; uwsgi_temp_path {self.folder}/u;
              scgi_temp_path {self.folder}/s;
              server {{ listen 127.0.0.1:{self.port} {how} backlog=16384; {security}
                location / {{ return 200 '{BODY}'; }} }}
            }}"""
        )
        program = rivals.find("nginx")
        self.process = subprocess.Popen(
            ["taskset", "-c", str(SERVER_CPU), program, "-p", self.folder]
            + ["-c", self.folder / "nginx.conf"]
        )
        wait_for(self.port, self.process)
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        + ["-nodes", "-days", "30", "-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        + ["-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True,
        capture_output=True,
    )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    for _ in range(200):
        if process.poll() is not None:
            raise SystemExit(f"the server stopped immediately with status {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"nothing listens on port {port}")
