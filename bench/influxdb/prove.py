#!/usr/bin/env python3
"""Sends runs to a real InfluxDB with the write APIs of versions 1 and 2, and compares the stored figures with the printed ones.

    bench/influxdb/prove.py [PLIMSOLL]

Building InfluxDB 1.8 needs Go 1.25 or newer and takes a few minutes. To use an existing one, set INFLUXD to its path. The
server requires credentials, and wrong ones must fail.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from harness.go_programs import build  # noqa: E402
from harness.servers import free_port  # noqa: E402

ITERATIONS = 2000
SCRIPT = """
import { check } from 'k6';
import { Counter, Trend } from 'k6/metrics';
const size = new Trend('size'), half = new Counter('half');
export const options = { vus: 4, iterations: %d, summaryTrendStats: ['count', 'avg', 'min', 'max'] };
export default function () {
  size.add(Math.random(), { name: 'a b,c=d"e' }); half.add(0.5); check(1, { 'ok, "q" = é': () => true });
}
""" % ITERATIONS
SETTINGS = """
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
dir = "{folder}/meta"
[data]
dir = "{folder}/data"
wal-dir = "{folder}/wal"
[http]
bind-address = "127.0.0.1:{http}"
auth-enabled = true
"""


def query(server, text, database=""):
    data = urllib.parse.urlencode({"q": text, "db": database}).encode()
    credentials = base64.b64encode(b"me:pw").decode()
    request = urllib.request.Request(f"{server}/query", data, {"Authorization": f"Basic {credentials}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)["results"][0]


def started(server):
    deadline = time.time() + 60
    while True:
        try:
            # The first user can be created without credentials.
            return query(server, "CREATE USER me WITH PASSWORD 'pw' WITH ALL PRIVILEGES")
        except urllib.error.URLError:
            if time.time() > deadline:
                raise
            time.sleep(0.1)


def compare(server, folder, version):
    """Compares the server's figures with those that the run printed, and returns the number of differences."""
    database = "two" if version == 2 else "one"
    printed = json.loads((folder / "summary.json").read_text())["metrics"]
    expected = {
        "size": [printed["size"][name] for name in ("count", "min", "max")],
        "half": [ITERATIONS, 0.5, 0.5],
        "checks": [ITERATIONS, 1, 1],
    }
    failed = 0
    for name, figures in expected.items():
        found = query(server, f"SELECT count(value), min(value), max(value) FROM {name}", database)
        got = found["series"][0]["values"][0][1:]
        failed += got != figures
        print(f"version {version}: {name}: received {got}, printed {figures}: {'equal' if got == figures else 'DIFFERENT'}")
    for name, tag, value in (("size", "name", 'a b,c=d"e'), ("checks", "check", 'ok, "q" = é')):
        found = query(server, f'SHOW TAG VALUES FROM {name} WITH KEY = "{tag}"', database)
        got = [row[1] for row in found["series"][0]["values"]]
        failed += got != [value]
        print(f"version {version}: tag of {name}: received {got}, sent {[value]}: {'equal' if got == [value] else 'DIFFERENT'}")
    return failed


def prove(plimsoll, server, folder, version, password):
    """Runs the script, and returns the number of faults."""
    host = server.removeprefix("http://")
    url, variables = f"http://me:{password}@{host}/one", {}
    if version == 2:
        url = server
        variables = {"K6_INFLUXDB_ORGANIZATION": "any", "K6_INFLUXDB_BUCKET": "two/autogen"}
        variables["K6_INFLUXDB_TOKEN"] = f"me:{password}"
    command = [plimsoll, "run", "--quiet", "--out", f"influxdb={url}", "--summary-export", "summary.json", "script.js"]
    ended = subprocess.run(command, cwd=folder, env=os.environ | variables, stdout=subprocess.DEVNULL, check=False)
    expected = 0 if password == "pw" else 255
    print(f"version {version}: the password {password}: exit status {ended.returncode}, expected {expected}")
    return ended.returncode != expected


def main():
    plimsoll = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/plimsoll").resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        influxd = build(HERE, folder, "influxd")
        ports = {"rpc": free_port(), "http": free_port()}
        (folder / "script.js").write_text(SCRIPT)
        (folder / "influxd.conf").write_text(SETTINGS.format(folder=folder, **ports))
        server = f"http://127.0.0.1:{ports['http']}"
        process = subprocess.Popen([influxd, "-config", str(folder / "influxd.conf")], stderr=subprocess.DEVNULL)
        try:
            started(server)
            # Plimsoll creates the database of version 1.
            query(server, "CREATE DATABASE two")
            failed = 0
            for version in (1, 2):
                failed += prove(plimsoll, server, folder, version, "pw")
                failed += compare(server, folder, version)
                failed += prove(plimsoll, server, folder, version, "wrong")
        finally:
            process.terminate()
            process.wait()
    sys.exit(1 if failed else 0)


main()
