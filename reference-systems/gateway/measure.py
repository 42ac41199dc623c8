#!/usr/bin/env python3
"""Measures proxies side by side, and `payload` next to nginx.

    cargo build --release --manifest-path reference-systems/Cargo.toml
    reference-systems/gateway/measure.py                       # all products, all four pairs
    reference-systems/gateway/measure.py --products gateway,nginx --pairs h1-h1 --runs 5
    reference-systems/gateway/measure.py --payload             # a 4 KiB response

The measured server has core 0 to itself. The load (wrk for HTTP/1.1, h2load for
HTTP/2) and the upstream `orders` share core 1. On a machine with two cores, these two
are often the bottleneck. Therefore the table also has the responses per second
of the server's own processor time, which is the rate that its core could reach. The runs of the
products alternate, so that other work on the machine affects all of them equally. The median of the
runs counts. A run fails if a single response is not 200 or uses another protocol than intended.
"""

import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent
SERVER_CORE, LOAD_CORE = "0", "1"
PAIRS = ["h1-h1", "h1+tls-h1", "h2+tls-h1", "h2+tls-h2"]
PLACES = ["port.h1", "port.h1-tls", "port.h2-tls", "port.h2-h2"]
ORDER = {
    "currency_pair": "BTC_USDT", "type": "limit", "account": "unified", "side": "buy",
    "amount": "0.001", "price": "65000", "time_in_force": "gtc", "iceberg": "0",
    "text": "t-現貨訂單",
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def processor_seconds(pid):
    """The processor time of a process and its children, running or reaped."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(stat.parent.name) == pid or int(fields[1]) == pid:
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, command, core, ports):
        self.process = subprocess.Popen(
            ["taskset", "-c", core, *map(str, command)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "GOMAXPROCS": "1", "HOME": tempfile.gettempdir()},
        )
        for port in ports:
            deadline = time.time() + 20
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if time.time() > deadline or self.process.poll() is not None:
                        raise SystemExit(f"{command[0]} does not listen on {port}")
                    time.sleep(0.02)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def command_of(product, file, folder, serve):
    if product.startswith("nginx"):
        user = "user root; " if os.getuid() == 0 else ""
        return ["nginx", "-p", folder, "-c", file, "-e", "stderr",
                "-g", f"{user}daemon off; pid {folder}/pid;"]
    return {
        "gateway": [serve, "gateway", "--threads", 1, "--listen", "127.0.0.1:0", "--config", file],
        "haproxy": ["haproxy", "-db", "-f", file],
        "caddy": ["caddy", "run", "--adapter", "caddyfile", "--config", file],
    }[product]


FILES = {
    "gateway": "gateway.yaml", "nginx": "nginx-plain.conf", "nginx+lua": "nginx.conf",
    "haproxy": "haproxy.cfg", "caddy": "Caddyfile",
}


def start(product, folder, serve, orders, certs):
    ports = [free_port() for _ in PLACES]
    own = folder / product
    own.mkdir()
    text = (HERE / "configs" / FILES[product]).read_text()
    for place, value in [("orders.address.plain", f"127.0.0.1:{orders}"),
                         ("certificates.directory", certs), ("directory", own),
                         *zip(PLACES, ports)]:
        text = text.replace("{" + place + "}", str(value))
    file = own / FILES[product]
    file.write_text(text)
    count = 3 if product.startswith("nginx") else 4
    server = Server(command_of(product, file, own, serve), SERVER_CORE, ports[:count])
    return server, ports


def load(url, h2, seconds, users, body):
    """Loads a server; returns the number of responses and the duration."""
    pin = ["taskset", "-c", LOAD_CORE]
    if not h2:
        script = Path(tempfile.gettempdir()) / f"measure-{os.getpid()}.lua"
        script.write_text("" if body is None else (
            'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
            f"wrk.body = [[{body}]]\n"))
        output = run([*pin, "wrk", "-t1", f"-c{users}", f"-d{seconds}s", "-s", script, url])
        script.unlink()
        if re.search(r"Non-2xx|Socket errors", output):
            raise SystemExit(f"{url}: {output}")
        count, took = re.search(r"(\d+) requests in ([\d.]+)s", output).groups()
        return int(count), float(took)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as data:
        data.write(body or "")
        data.flush()
        more = ["-d", data.name, "-H", "content-type: application/json"] if body else []
        output = run([*pin, "h2load", "-t1", f"-c{users}", "-m1", f"-D{seconds}", *more, url])
    if "Application protocol: h2" not in output:
        raise SystemExit(f"{url}: not HTTP/2: {output}")
    took = float(re.search(r"finished in ([\d.]+)s", output)[1])
    good, third, fourth, fifth = map(int, re.search(
        r"status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", output).groups())
    if third or fourth or fifth or not good or " 0 errored" not in output:
        raise SystemExit(f"{url}: {output}")
    return good, took


def run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}{done.stdout}")
    return done.stdout


def measure(server, url, h2, options, body):
    before = processor_seconds(server.process.pid)
    count, took = load(url, h2, options.seconds, options.users, body)
    used = processor_seconds(server.process.pid) - before
    return count / took, count / used, used / took


def table(rows, first):
    names = list(dict.fromkeys(name for name, _ in rows))
    print(f"| pair | product | responses/s | core used | responses per processor second | ratio to {first} |")
    print("|---|---|---|---|---|---|")
    for pair in dict.fromkeys(pair for _, pair in rows):
        base = None
        for name in names:
            if (name, pair) not in rows:
                continue
            rate, each, share = (statistics.median(run) for run in zip(*rows[name, pair]))
            base = base or each
            print(f"| {pair} | {name} | {rate:,.0f} | {share:.0%} | {each:,.0f} | {each / base:.2f} |")


def proxies(options, folder, certs):
    orders = free_port()
    upstream = Server(
        [options.serve, "orders", "--threads", 1, "--listen", f"127.0.0.1:{orders}"],
        LOAD_CORE, [orders])
    body = json.dumps(ORDER, ensure_ascii=False)
    rows = {}
    running = {}
    try:
        for product in options.products:
            running[product] = start(product, folder, options.serve, orders, certs)
        for turn in range(options.runs + 1):
            for pair in options.pairs:
                for product, (server, ports) in running.items():
                    if pair == "h2+tls-h2" and product.startswith("nginx"):
                        continue
                    port = ports[PAIRS.index(pair)]
                    scheme = "http" if pair == "h1-h1" else "https"
                    url = f"{scheme}://127.0.0.1:{port}/spot/orders"
                    result = measure(server, url, pair.startswith("h2"), options, body)
                    # The first turn is a warm-up.
                    if turn:
                        rows.setdefault((product, pair), []).append(result)
                        print(f"{product} {pair} {result[0]:.0f} {result[1]:.0f}", file=sys.stderr)
    finally:
        for server, _ in running.values():
            server.stop()
        upstream.stop()
    table(rows, options.products[0])


def payload(options, folder, certs):
    plain, tls, other, other_tls = (free_port() for _ in range(4))
    ours = Server(
        [options.serve, "payload", "--threads", 1, "--plain-port", plain, "--tls-port", tls,
         "--mutual-tls-port", "off", "--grpc-port", "off", "--certs", certs],
        SERVER_CORE, [plain, tls])
    own = folder / "files"
    own.mkdir()
    own.chmod(0o755)
    (own / "index.html").write_text("x" * 4096)
    (own / "conf").write_text(
        f"worker_processes 1; events {{ worker_connections 16384; }} http {{ access_log off; "
        f"client_body_temp_path {own}/b; proxy_temp_path {own}/p; fastcgi_temp_path {own}/f; "
        f"uwsgi_temp_path {own}/u; scgi_temp_path {own}/s; sendfile on; tcp_nopush on; "
        f"open_file_cache max=10; keepalive_requests 1000000000; "
        f"server {{ listen 127.0.0.1:{other} backlog=4096; "
        f"listen 127.0.0.1:{other_tls} ssl http2 backlog=4096; "
        f"ssl_certificate {certs}/server.pem; ssl_certificate_key {certs}/server.key; "
        f"root {own}; }} }}")
    nginx = Server(command_of("nginx", own / "conf", own, options.serve), SERVER_CORE, [other])
    rows = {}
    try:
        for turn in range(options.runs + 1):
            for pair, scheme, h2, places in [
                ("HTTP/1.1", "http", False, (other, plain)),
                ("HTTP/1.1, TLS", "https", False, (other_tls, tls)),
                ("HTTP/2, TLS", "https", True, (other_tls, tls)),
            ]:
                for name, server, port in zip(["nginx", "payload"], [nginx, ours], places):
                    result = measure(server, f"{scheme}://127.0.0.1:{port}/", h2, options, None)
                    if turn:
                        rows.setdefault((name, pair), []).append(result)
    finally:
        ours.stop()
        nginx.stop()
    table(rows, "nginx")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--products", type=lambda text: text.split(","),
                        default=["nginx", "nginx+lua", "haproxy", "caddy", "gateway"])
    parser.add_argument("--pairs", type=lambda text: text.split(","), default=PAIRS)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--payload", action="store_true")
    parser.add_argument("--serve", default=TREE / "target/release/plimsoll-serve")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="plimsoll-measure-"))
    folder.chmod(0o755)
    certs = folder / "certs"
    run([options.serve, "certs", certs])
    (certs / "both.pem").write_text(
        (certs / "server.pem").read_text() + (certs / "server.key").read_text())
    try:
        (payload if options.payload else proxies)(options, folder, certs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
