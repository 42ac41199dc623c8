#!/usr/bin/env python3
"""Measures `plimsoll serve statuslist` and `plimsoll serve timezone` with wrk.

    reference-systems/serve/bench/measure.py [statuslist] [timezone] [--seconds N]
        [--stores embedded,sqlite,redis,postgres] [--parts updates,references]

The server has one thread, pinned to core 0. wrk is pinned to core 1. The database may use both cores, because it would
normally run on another machine. The table has the responses per second of wall-clock time and of the server's processor
time. Needs wrk, redis-server, PostgreSQL 15 with PostGIS, and the program, built with
`cargo build --release --manifest-path reference-systems/Cargo.toml`. Databases are private and on the disk
of TMPDIR (/var/tmp unless set), because the time to flush to a disk is part of the measurement.
"""

import argparse
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
POSTGRES = Path("/usr/lib/postgresql/15/bin")
KEY = "plimsoll"
SERVER_CORE, OTHER_CORE = "0", "1"

UPDATE = """
local uri, hot = %r, %s
math.randomseed(7)
wrk.method = "PATCH"
wrk.path = "/status-lists/update"
wrk.headers["X-Api-Key"] = "plimsoll"
wrk.headers["Content-Type"] = "application/json"
function request()
  local index = hot and 4711 or math.random(0, 49999)
  local body = string.format('{"uri":"%%s","index":%%d,"value":%%d}', uri, index, math.random(0, 1))
  return wrk.format(nil, nil, nil, body)
end
"""

REFERENCE = """
wrk.method = "POST"
wrk.path = "/pools/%s/new-references?amount=%d"
wrk.headers["X-Api-Key"] = "plimsoll"
"""

# Cities and places in the countryside, requested one after another.
PLACES = [
    (48.8566, 2.3522), (52.52, 13.405), (51.5074, -0.1278), (40.4168, -3.7038),
    (41.9028, 12.4964), (59.3293, 18.0686), (55.7558, 37.6173), (41.0082, 28.9784),
    (30.0444, 31.2357), (6.5244, 3.3792), (-1.2921, 36.8219), (-33.9249, 18.4241),
    (28.6139, 77.209), (27.7172, 85.324), (13.7563, 100.5018), (1.3521, 103.8198),
    (39.9042, 116.4074), (35.6895, 139.6917), (37.5665, 126.978), (-33.8688, 151.2093),
    (-36.8485, 174.7633), (21.3069, -157.8583), (61.2181, -149.9003), (37.7749, -122.4194),
    (39.7392, -104.9903), (41.8781, -87.6298), (40.7128, -74.006), (45.5017, -73.5673),
    (19.4326, -99.1332), (-12.0464, -77.0428), (-23.5505, -46.6333), (-54.8019, -68.303),
]

LOOKUP = """
local places = {%s}
local turn = 0
function request()
  turn = turn %% #places + 1
  return wrk.format("GET", places[turn])
end
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def process(command, **more):
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL, **more)
    try:
        yield child
    finally:
        child.terminate()
        child.wait()


def wait_until(answers, seconds=30):
    until = time.monotonic() + seconds
    while not answers():
        if time.monotonic() > until:
            raise SystemExit("a database did not start")
        time.sleep(0.05)


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def postgres(directory):
    """PostgreSQL with its default settings, as an ordinary user because it refuses to run as root."""
    as_user = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(directory, user.pw_uid, user.pw_gid)
        as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    subprocess.run(
        [POSTGRES / "initdb", "-D", f"{directory}/data", "--auth=trust", "-U", "plimsoll"],
        check=True, stdout=subprocess.DEVNULL, cwd=directory, **as_user,
    )
    port = free_port()
    command = [POSTGRES / "postgres", "-D", f"{directory}/data", "-p", str(port)]
    command += ["-c", "listen_addresses=127.0.0.1"]
    command += ["-c", f"unix_socket_directories={directory}"]
    with process(command, cwd=directory, stdout=subprocess.DEVNULL, **as_user):
        ask = [POSTGRES / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
        wait_until(lambda: subprocess.run(ask).returncode == 0)
        yield f"postgres://plimsoll@127.0.0.1:{port}/postgres"


@contextmanager
def redis(directory):
    port = free_port()
    command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port)]
    command += ["--dir", directory, "--save", ""]
    command += ["--appendonly", "yes", "--appendfsync", "always"]
    with process(command, stdout=subprocess.DEVNULL):
        wait_until(lambda: listens(port))
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def store(name):
    directory = tempfile.mkdtemp(prefix="measure-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    try:
        if name == "sqlite":
            yield f"sqlite:{directory}/lists.db"
        elif name == "redis":
            with redis(directory) as url:
                yield url
        elif name == "postgres":
            with postgres(directory) as url:
                yield url
        else:
            yield name
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def served(program, system, url):
    command = ["taskset", "-c", SERVER_CORE, program, system, "--threads=1"]
    command += ["--listen=127.0.0.1:0", f"--api-key={KEY}", f"--store={url}"]
    with process(command, stdout=subprocess.PIPE, text=True) as child:
        line = child.stdout.readline()
        if not line:
            raise SystemExit(f"{system} did not start; run it by hand to see why")
        yield child.pid, json.loads(line)["url"]


def processor_time(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wrk(pid, url, script, connections, seconds):
    """Responses per second of wall-clock time and of the server's processor time; p50 and p99."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        command = ["taskset", "-c", OTHER_CORE, "wrk", "-t1", f"-c{connections}"]
        command += [f"-d{seconds}s", "--latency", "-s", file.name, url]
        before = processor_time(pid)
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        spent = processor_time(pid) - before
    requests = int(re.search(r"(\d+) requests in", output)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    failed = int(failed[1]) if failed else 0
    broken = re.search(r"Socket errors: (.*)", output)
    if broken:
        raise SystemExit(f"wrk: {broken[0]}")
    median, last = (re.search(rf"^\s+{at}%\s+(\S+)$", output, re.M)[1] for at in ("50", "99"))
    return rate, requests / max(spent, 0.01), median, last, failed


def row(name, connections, measured, unit=1):
    rate, allowed, median, last, failed = measured
    wrong = f", {failed} failed" if failed else ""
    print(
        f"| {name} | {connections} | {rate * unit:,.0f} | {allowed * unit:,.0f} "
        f"| {median} | {last}{wrong} |",
        flush=True,
    )


def head(title):
    print(f"\n{title}\n")
    print("| what | connections | per second | per second of processor time | p50 | p99 |")
    print("|---|---|---|---|---|---|", flush=True)


def post(url, path):
    request = urllib.request.Request(url + path, method="POST", headers={"X-Api-Key": KEY})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["references"]


def patch(url, body):
    request = urllib.request.Request(
        url + "/status-lists/update", method="PATCH",
        data=json.dumps(body).encode(), headers={"X-Api-Key": KEY},
    )
    urllib.request.urlopen(request).close()


def statuslist(program, seconds, stores, parts):
    for name in (name for name in ("sqlite", "redis", "postgres") if name in stores):
        with store(name) as url, served(program, "statuslist", url) as (pid, base):
            references = post(base, "/pools/tests/new-references?amount=200")
            uri = references[0]["uri"]
            # One in 250 is revoked: a list whose compressed form is of a usual size.
            for reference in references:
                patch(base, {**reference, "value": 1})
            size = len(urllib.request.urlopen(uri).read())
            head(f"statuslist on {name}; a list is {size:,} bytes")
            fetch = f'wrk.path = "/{uri.rsplit("/", 1)[1]}"'
            if name == "sqlite":
                row("fetch a list", 100, wrk(pid, base, fetch, 100, seconds))
            if "updates" not in parts:
                continue
            rates = {}
            for hot in (True, False):
                script = UPDATE % (uri, "true" if hot else "false")
                for connections in (10, 100):
                    what = "one hot index" if hot else "spread indices"
                    measured = wrk(pid, base, script, connections, seconds)
                    rates[hot, connections] = measured[0]
                    row(f"update, {what}", connections, measured)
            for connections in (10, 100):
                ratio = rates[False, connections] / rates[True, connections]
                print(f"\nspread ÷ hot at {connections} connections: {ratio:.1f}")
            if "references" not in parts:
                continue
            head(f"statuslist on {name}, references")
            for pool in ("tests", "tests-fail"):
                measured = wrk(pid, base, REFERENCE % (pool, 1), 100, seconds)
                row(f"one reference, {pool}", 100, measured)
            measured = wrk(pid, base, REFERENCE % ("tests", 25), 10, seconds)
            row("25 references (counted individually)", 10, measured, unit=25)


def timezone(program, seconds, stores, _parts):
    paths = [f'"/time_zone?lat={lat}&lng={lng}&api_key={KEY}"' for lat, lng in PLACES]
    script = LOOKUP % ", ".join(paths)
    for name in (name for name in ("embedded", "postgres") if name in stores):
        with store(name) as url, served(program, "timezone", url) as (pid, base):
            head(f"timezone, {name}")
            row("look-up, 32 places", 100, wrk(pid, base, script, 100, seconds))


def main():
    parser = argparse.ArgumentParser(description="Measures statuslist and timezone with wrk.")
    parser.add_argument("systems", nargs="*", default=["statuslist", "timezone"])
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--program", default=ROOT / "target/release/plimsoll-serve")
    parser.add_argument("--stores", default="embedded,sqlite,redis,postgres")
    parser.add_argument("--parts", default="updates,references")
    given = parser.parse_args()
    stores, parts = given.stores.split(","), given.parts.split(",")
    for system in given.systems:
        {"statuslist": statuslist, "timezone": timezone}[system](given.program, given.seconds, stores, parts)


# A signal also stops the databases.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
main()
